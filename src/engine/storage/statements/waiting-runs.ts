import type {
  Gathering,
  NewRun,
  PreparedAction,
  PreparedAgent,
  PreparedQuestion,
} from '../prepared-request.ts';
import type { Approval, ApprovalAnswer, ApprovalResult } from '../records.ts';
import { insertDelivery } from './outbox-rows.ts';
import { ASKING, RUN, RUN_FIELDS, type RunHead, type RunRow } from './rows.ts';
import { findRunHead } from './run-rows.ts';
import { insertRun } from './session-queue.ts';
import { both, by, type Statements } from './statements.ts';
import type { Store } from './store.ts';

/** Events that one run reads at most, and bytes they take at most: the next event then begins another run. */
const MAX_EVENTS = 200;
const MAX_BYTES = 1_048_576;

const FIND = both`SELECT seq, id, bytes, gathered, due_at AS "dueAt", gather_until AS until FROM runs ${by('runs_gathering')}
  WHERE state = ${RUN.waiting} AND mapping_id = ? AND gather_key = ? AND due_at > ? ORDER BY seq DESC LIMIT 1`;
const JOIN = 'INSERT INTO run_events (run_seq, position, action) VALUES (?, ?, ?)';
const EXTEND = 'UPDATE runs SET bytes = bytes + ?, due_at = ?, gathered = gathered + 1 WHERE seq = ?';
const CLOSE = 'UPDATE runs SET due_at = ?, gather_key = NULL WHERE seq = ?';
const FORGET = 'DELETE FROM run_events WHERE run_seq = ?';
const EVENTS = 'SELECT action FROM run_events WHERE run_seq = ? ORDER BY position';

interface GatheringRun {
  readonly seq: number;
  readonly id: string;
  readonly bytes: number;
  readonly gathered: number;
  readonly dueAt: number;
  readonly until: number;
}

/** Lets an event join the run that waits for its key, or begins one. Returns the id of the run that will read it. */
export function gather(store: Store, event: NewRun, gathering: Gathering): string {
  const { sql, counters } = store;
  const open = sql.find<GatheringRun>(FIND, event.mappingId, gathering.key, event.acceptedAt);
  if (open !== undefined && (gathering.isLatest || hasSpace(open, event))) {
    const dueAt = Math.max(open.dueAt, Math.min(gathering.dueAt, open.until));
    const bytes = event.bytes - (gathering.isLatest ? forgetEvents(sql, open.seq) : 0);
    sql.post(JOIN, open.seq, open.gathered, event.action);
    sql.post(EXTEND, bytes, dueAt, open.seq);
    counters.runBytes += bytes;
    return open.id;
  }
  if (open !== undefined) sql.post(CLOSE, event.acceptedAt, open.seq);
  insertRun(store, event, gathering);
  return event.id;
}

/** Takes the events away that joined a run. Returns how many bytes they took. */
function forgetEvents(sql: Statements, seq: number): number {
  const events = sql.all<{ action: string }>(EVENTS, seq);
  sql.post(FORGET, seq);
  return events.reduce((bytes, { action }) => bytes + action.length, 0);
}

function hasSpace({ gathered, bytes }: GatheringRun, event: NewRun): boolean {
  return gathered + 2 <= MAX_EVENTS && bytes + event.bytes <= MAX_BYTES;
}

/** The rows with the events that joined their runs. */
export function withEvents(sql: Statements, rows: readonly RunRow[]): RunRow[] {
  const gathered = rows.filter((row) => row.gathered > 0);
  if (gathered.length === 0) return [...rows];
  const answers = sql.allOf<{ action: string }>(gathered.map(({ seq }) => [EVENTS, seq]));
  const events = new Map(gathered.map((row, index) => [row, answers[index]?.map(({ action }) => action)]));
  return rows.map((row) => {
    const joined = events.get(row);
    return joined === undefined ? row : { ...row, events: joined };
  });
}

/*
 * Runs that somebody is asked about. Until then one waits as a run that gathers events does, under a key that no event
 * has. Approved, it loses the key and steps into its queue. Denied, or when the time for an answer is over, it is due and
 * keeps it: no claim takes it, and it is given up without waiting for limits, pauses or its conversation.
 */

/** Runs of one request, as no other has the nonce. */
const ASKED = both`SELECT ${RUN_FIELDS} FROM runs ${by('runs_waiting')}
  JOIN run_actions ON run_actions.seq = runs.seq
  WHERE state = ${RUN.waiting} AND gather_key = '${ASKING}' AND due_at = ? AND approval = ? ORDER BY runs.seq`;
const SET = 'UPDATE runs SET approval = ? WHERE id = ?';
const FIND_APPROVAL = 'SELECT approval FROM runs WHERE seq = ?';
const HURRY_RUN = 'UPDATE runs SET due_at = ? WHERE id = ?';
const BEGIN_RUN = 'UPDATE runs SET due_at = ?, gather_key = NULL, gather_until = NULL WHERE id = ?';

/** Stores a run that somebody is asked about. */
export function insertAsking(store: Store, run: NewRun, { expiresAt, nonce }: PreparedQuestion): void {
  insertRun(store, run, { key: ASKING, dueAt: expiresAt, until: expiresAt, isLatest: false });
  setApproval(store, run.id, { expiresAt, nonce });
}

/** Stores the message that asks about the runs of a request, the first of which is given. */
function insertQuestion(
  store: Store,
  run: Pick<NewRun, 'id' | 'mappingId' | 'sessionKey' | 'acceptedAt'>,
  { delivery }: Pick<PreparedQuestion, 'delivery'>,
): void {
  const { id: runId, mappingId, sessionKey, acceptedAt: nowMs } = run;
  insertDelivery(store, delivery, { runId, mappingId, sessionKey, nowMs });
}

function setApproval({ sql }: Store, runId: string, approval: Approval): void {
  sql.post(SET, JSON.stringify(approval), runId);
}

export function findApproval({ sql }: Store, { seq }: RunHead): Approval | undefined {
  const text = sql.find<{ approval: string | null }>(FIND_APPROVAL, seq)?.approval;
  return text === null || text === undefined ? undefined : (JSON.parse(text) as Approval);
}

/** The runs of one request about which somebody is asked, as long as nobody has answered. */
export const findAsked = ({ sql }: Store, { expiresAt, nonce }: Approval): RunRow[] =>
  sql.all(ASKED, expiresAt, JSON.stringify({ expiresAt, nonce }));

/**
 * Says whether the runs of a request begin, one of which is named (`approve` of its mapping): the first answer in time
 * counts, and a later one changes nothing. Returns what holds then; null where nobody is asked about such a run.
 */
export function decideApproval(
  store: Store,
  runId: string,
  { nowMs, ...answer }: ApprovalAnswer,
): ApprovalResult | null {
  const run = findRunHead(store, runId);
  const asked = run && findApproval(store, run);
  if (run === undefined || asked === undefined) return null;
  const isOpen = asked.decision === undefined && run.state === RUN.waiting && nowMs < asked.expiresAt;
  if (!isOpen) return { approval: asked, isFirst: false, runs: 0 };
  const approval: Approval = { ...asked, ...answer, at: Math.round(nowMs) };
  const runs = findAsked(store, asked);
  for (const { id } of runs) {
    setApproval(store, id, approval);
    store.sql.post(answer.decision === 'approved' ? BEGIN_RUN : HURRY_RUN, Math.round(nowMs), id);
  }
  return { approval, isFirst: true, runs: runs.length };
}

type AskingAction = Extract<PreparedAction, PreparedAgent> & { readonly ask: PreparedQuestion };

export function isAsking(action: PreparedAction): action is AskingAction {
  return action.kind === 'agent' && action.ask !== undefined && action.checked === undefined;
}

/** Asks about the runs of a request, which are stored: once for all of them. */
export function placeQuestion(store: Store, actions: readonly PreparedAction[]): void {
  const asking = actions.find(isAsking);
  if (asking !== undefined) insertQuestion(store, asking.row, asking.ask);
}

const HOUR_MS = 3_600_000;
/** Questions to people for one mapping within an hour. */
const MAX_QUESTIONS = 5;
/** Questions to people are counted as runs that begin are, under a name that no mapping has, and the account as the line. */
const QUESTIONS = `SELECT count(*) AS "all", coalesce(sum(CASE WHEN line = ? THEN 1 ELSE 0 END), 0) AS same
  FROM run_starts WHERE mapping_id = ? AND started_at > ?`;
const NOTE = `INSERT INTO run_starts (run_seq, mapping_id, line, started_at) VALUES (?, ?, ?, ?)
  ON CONFLICT (run_seq, started_at) DO NOTHING`;

/** Whether somebody is asked about a refused account now, which is noted then. */
export function mayAsk(store: Store, { seq, mappingId }: RunHead, account: string, nowMs: number): boolean {
  const name = `?${mappingId}`;
  const line = account.toLowerCase();
  const asked = store.sql.find<{ all: number; same: number }>(QUESTIONS, line, name, nowMs - HOUR_MS);
  if (asked === undefined || asked.same > 0 || asked.all >= MAX_QUESTIONS) return false;
  store.sql.post(NOTE, seq, name, line, nowMs);
  return true;
}
