import type {
  AgentRun,
  AttemptFailure,
  EarlierEnding,
  RunCompletion,
  RunOutcome,
  RunPosts,
} from '../records.ts';
import type { NewRun } from '../prepared-request.ts';
import { endConversation } from './conversation-rows.ts';
import { insertSummary, withdrawSummary } from './event-rows.ts';
import { addCost } from './hourly-capacity.ts';
import { insertCallback, insertDelivery } from './outbox-rows.ts';
import { RUN, type RunHead } from './rows.ts';
import { advance, postAction } from './session-queue.ts';
import { both, type Dialects, type SqlQuestion } from './statements.ts';
import { countMove, type Store } from './store.ts';

/** The columns of a `RunHead`. */
export const HEAD_FIELDS = `seq, id, state, session_key AS "sessionKey", line AS queue, mapping_id AS "mappingId", bytes,
  holder, worker_attempt AS "workerAttempt", worker_until AS "workerUntil"`;
const FIND_HEAD = `SELECT ${HEAD_FIELDS} FROM runs WHERE id = ?`;
const END: Dialects = {
  sqlite: `UPDATE runs SET state = ?, outcome = ?, reply = ?, error_code = ?, error_message = ?, usage = ?, ended_at = ?,
  pgid = NULL, start_ticks = NULL WHERE seq = ?`,
  postgres: `UPDATE runs SET state = given.state, outcome = given.outcome, reply = given.reply, error_code = given.code,
    error_message = given.message, usage = given.used, ended_at = given.at, pgid = NULL, start_ticks = NULL
  FROM unnest(?::integer[], ?::text[], ?::text[], ?::text[], ?::text[], ?::text[], ?::bigint[], ?::bigint[])
    AS given (state, outcome, reply, code, message, used, at, run) WHERE seq = run AND seq = ANY (?8)`,
};
const INSERT_HEARTBEAT = `INSERT INTO runs (id, kind, state, session_key, owner, mapping_id, runner, bytes, attempts,
    accepted_at, due_at, started_at, ended_at, outcome, reply, error_code, error_message, usage)
  VALUES (?, 'heartbeat', ${RUN.completed}, ?, ?, ?, ?, 0, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (id) DO NOTHING`;
/** Stores a run that has ended as it begins: no agent takes a turn. */
const INSERT_ENDED = `INSERT INTO runs (id, kind, state, session_key, owner, mapping_id, runner, bytes, accepted_at, due_at,
    ended_at, outcome)
  VALUES (?, 'hook', ${RUN.completed}, ?, ?, ?, ?, ?, ?, ?, ?, 'ok')`;

export function findRunHead({ sql }: Store, runId: string): RunHead | undefined {
  return sql.find<RunHead>(FIND_HEAD, runId);
}

/**
 * A run that is active in the hands of this process; another one may have taken it over. With the attempt of a worker: that
 * attempt has not ended, and no other one has begun, however late it is.
 */
export function isHeld({ holder }: Store, run: RunHead | undefined, attempt?: string): run is RunHead {
  if (run === undefined) return false;
  if (attempt !== undefined)
    return run.workerAttempt === attempt && run.workerUntil !== 0 && run.state !== RUN.completed;
  return run.state === RUN.active && run.holder === holder && run.workerUntil === null;
}

const END_ATTEMPT = 'UPDATE runs SET worker_until = 0, worker_end = NULL WHERE seq = ?';

/** The worker has handed over how its attempt ended: the same end again changes nothing. */
export function endAttempt({ sql }: Store, { seq }: RunHead, attempt: string | undefined): void {
  if (attempt !== undefined) sql.post(END_ATTEMPT, seq);
}

interface RunEnd extends Pick<RunCompletion, 'error' | 'usage' | 'runner'>, RunPosts {
  readonly state: number;
  readonly outcome: string | null;
  readonly reply?: string;
  readonly nowMs: number;
}

/** The one place where runs end: with the end itself, their queues go on, and what they bring about is stored. */
export function endRuns(store: Store, ends: readonly (readonly [RunHead, RunEnd])[]): void {
  store.sql.postEach(
    END,
    ends.map(([{ seq }, { state, outcome, reply = null, error, usage, nowMs }]) => [
      state,
      outcome,
      reply,
      error?.code ?? null,
      error?.message ?? null,
      usage === undefined ? null : JSON.stringify(usage),
      Math.round(nowMs),
      seq,
    ]),
  );
  advance(store, ...ends.map(([{ queue }]) => queue));
  for (const [run, end] of ends) {
    const { state, usage, runner, nowMs } = end;
    countRun(store, run, state);
    addCost(store, { mappingId: run.mappingId, runner, usage, nowMs });
    insertPosts(store, run, end);
  }
}

function insertPosts(
  store: Store,
  { id: runId, mappingId, sessionKey }: RunHead,
  { summary, delivery, reaction, callback, ends, nowMs }: RunEnd,
): void {
  const parent = { runId, mappingId, sessionKey, nowMs };
  if (summary !== undefined) insertSummary(store, summary, parent);
  if (delivery !== undefined) insertDelivery(store, delivery, parent);
  if (reaction !== undefined) insertDelivery(store, reaction, parent);
  if (callback !== undefined) insertCallback(store, callback, parent);
  if (ends !== undefined) endConversation(store, ends, 'after');
}

/** Moves a run from its state to another in the counters; without one, the run goes. */
export function countRun(store: Store, { state: from, bytes }: RunHead, to?: number): void {
  countMove(store, 'runs', { from, to });
  const isOpen = (state: number = RUN.dead): number => Number(state <= RUN.active);
  store.counters.runBytes += bytes * (isOpen(to) - isOpen(from));
}

/** Stores what needs no turn of an agent. */
export function insertEnded({ sql, counters }: Store, run: NewRun): void {
  const { id, sessionKey, owner, mappingId, runner, action, bytes, acceptedAt } = run;
  const times = [acceptedAt, acceptedAt, acceptedAt] as const;
  sql.post(INSERT_ENDED, id, sessionKey, owner, mappingId, runner, bytes, ...times);
  postAction(sql, action);
  counters.endedRuns += 1;
}

/** Stores a turn of the main session that has ended; nothing where it is stored already. */
export function insertHeartbeat(store: Store, run: AgentRun, runner?: string): void {
  const { sql, counters } = store;
  const { action, lastError, usage } = run;
  const stored = sql.run(
    INSERT_HEARTBEAT,
    run.id,
    action.sessionKey,
    action.owner,
    action.origin.mappingId ?? '',
    action.runner ?? '',
    run.attempts,
    Math.round(run.acceptedAt),
    Math.round(run.dueAt),
    run.startedAt === undefined ? null : Math.round(run.startedAt),
    Math.round(run.endedAt ?? run.acceptedAt),
    run.outcome ?? 'ok',
    run.reply ?? null,
    lastError?.code ?? null,
    lastError?.message ?? null,
    usage === undefined ? null : JSON.stringify(usage),
  );
  if (stored === 0) return;
  postAction(sql, JSON.stringify(action));
  counters.endedRuns += 1;
  addCost(store, { mappingId: '', runner, usage, nowMs: run.endedAt ?? run.acceptedAt });
}

/**
 * Ends runs that this process holds, each with what it posts. Says of each whether it was done: another process may
 * have taken it over. All that has to be known is asked at once, so that any number of ends is one question.
 */
export function completeRuns(store: Store, completions: readonly RunCompletion[]): boolean[] {
  const histories = historiesOf(completions);
  const answers = store.sql.allOf<object>(endQuestions(completions));
  const known = new Set(
    histories.filter((_, index) => answers[completions.length + index]?.length !== 0).map(nameOf),
  );
  const ended = new Map<string, EndedRun>();
  const isDone = completions.map((completion, index) => {
    const [run] = answers[index] as readonly RunHead[];
    if (!isHeld(store, run, completion.attempt) || ended.has(run.id)) return false;
    ended.set(run.id, { run, completion });
    return true;
  });
  complete(store, [...ended.values()], known);
  return isDone;
}

interface EndedRun {
  readonly run: RunHead;
  readonly completion: RunCompletion;
}

export function endQuestions(completions: readonly RunCompletion[]): readonly SqlQuestion[] {
  return [
    ...completions.map(({ runId }) => [FIND_HEAD, runId] as const),
    ...historiesOf(completions).map(
      ({ conversation: { owner, key } }) => [FIND_SESSION, owner, key] as const,
    ),
  ];
}

function historiesOf(completions: readonly RunCompletion[]): readonly NewTurns[] {
  return completions.flatMap(({ history }) => history ?? []);
}

/** `known` names the conversations that have a transcript. */
function complete(store: Store, ended: readonly EndedRun[], known: ReadonlySet<string>): void {
  const added = ended.flatMap(({ completion: { history, nowMs } }) =>
    history === undefined ? [] : [{ ...history, nowMs, isNew: !known.has(nameOf(history)) }],
  );
  addTurns(store, added);
  for (const { run, completion } of ended) takeLateEnd(store, run, completion);
  endRuns(
    store,
    ended.map(({ run, completion }) => [run, { ...completion, state: RUN.completed }]),
  );
  saveSessions(store, added);
}

/** An attempt whose run was given up meanwhile has an end after all; an unread summary of the first would be one too many. */
function takeLateEnd(store: Store, run: RunHead, { attempt }: RunCompletion): void {
  endAttempt(store, run, attempt);
  if (run.state !== RUN.dead) return;
  withdrawSummary(store, run.id);
  store.sql.post(KEEP, earlierOf(store, run) ?? null, run.seq);
}

function nameOf({ conversation: { owner, key } }: Pick<NewTurns, 'conversation'>): string {
  return JSON.stringify([owner, key]);
}

/** How a run ended before it was begun anew, by an operator or because its mapping says `retry`. */

const FIND_ENDING = `SELECT attempts, outcome, reply, error_code AS code, error_message AS message, ended_at AS "endedAt", earlier
  FROM runs WHERE seq = ? AND kind = 'hook' AND (outcome IS NULL OR outcome IN ('error', 'timeout'))`;
/** Who let it begin in spite of the limits let it begin once. */
const KEEP = 'UPDATE runs SET earlier = ?, exempt = 0 WHERE seq = ?';
/** Ends of a run that are kept beside the last one. */
const MAX_EARLIER = 10;

interface EndingColumns {
  readonly attempts: number;
  readonly outcome: RunOutcome | null;
  readonly reply: string | null;
  readonly code: string | null;
  readonly message: string | null;
  readonly endedAt: number;
  readonly earlier: string | null;
}

/** How a run ended until now, its last end with it, as JSON; undefined where that was no failure. */
export function earlierOf({ sql }: Store, { seq }: RunHead): string | undefined {
  const ending = sql.find<EndingColumns>(FIND_ENDING, seq);
  return ending && withLast(ending);
}

/** Keeps the end of a turn that is taken again. */
export function keepEnding(
  { sql }: Store,
  { seq }: RunHead,
  { ended, code, message, nowMs }: AttemptFailure,
): void {
  const run = ended && sql.find<EndingColumns>(FIND_ENDING, seq);
  if (run === undefined) return;
  sql.post(KEEP, withLast({ ...run, ...ended, code, message, endedAt: Math.round(nowMs) }), seq);
}

function withLast({ earlier, endedAt, attempts, outcome, code, message, reply }: EndingColumns): string {
  const last: EarlierEnding = {
    endedAt,
    attempts,
    ...(outcome === null ? {} : { outcome }),
    ...(code === null ? {} : { error: { code, message: message ?? '' } }),
    ...(reply === null || reply === '' ? {} : { reply }),
  };
  const before = earlier === null ? [] : (JSON.parse(earlier) as readonly EarlierEnding[]);
  return JSON.stringify([...before, last].slice(-MAX_EARLIER));
}

/** Transcripts: the last turns of every conversation that goes on. */

const INSERT_TURN = `INSERT INTO session_turns (owner, session_key, role, at, bytes, text)
  VALUES (?, ?, ?, ?, ?, ?)`;
/** Conversations with a number each, as a table. */
const GIVEN = 'unnest(?::text[], ?::text[], ?::bigint[]) AS given (owner, key, number)';
const OF_CONVERSATION = 'turns.owner = given.owner AND turns.session_key = given.key';
const ITS = 'owner = ?1 AND session_key = ?2';
const TRIM: Dialects = {
  sqlite: `DELETE FROM session_turns INDEXED BY session_turns_of_session WHERE ${ITS} AND seq <= (
    SELECT seq FROM session_turns INDEXED BY session_turns_of_session WHERE ${ITS} ORDER BY seq DESC LIMIT 1 OFFSET ?3)`,
  postgres: `DELETE FROM session_turns WHERE seq = ANY (ARRAY(SELECT unnest(ARRAY(
    SELECT seq FROM session_turns AS turns WHERE ${OF_CONVERSATION} ORDER BY seq DESC OFFSET number)) FROM ${GIVEN}))`,
};
const SAVE = both`INSERT INTO sessions (owner, key, turns, bytes, created_at, last_used_at) ${{
  sqlite: `SELECT ?1, ?2, count(*), coalesce(sum(bytes), 0), ?3, ?3 FROM session_turns WHERE ${ITS}`,
  postgres: `SELECT owner, key, many, size, number, number FROM ${GIVEN}, LATERAL (
    SELECT count(*) AS many, coalesce(sum(bytes), 0) AS size FROM session_turns AS turns WHERE ${OF_CONVERSATION}) AS kept`,
}} ON CONFLICT (owner, key) DO UPDATE SET turns = excluded.turns, bytes = excluded.bytes,
    last_used_at = excluded.last_used_at`;
export const FIND_SESSION = 'SELECT 1 FROM sessions WHERE owner = ? AND key = ?';
const REMOVE_TURNS = 'DELETE FROM session_turns WHERE owner = ? AND session_key = ?';
const REMOVE = 'DELETE FROM sessions WHERE owner = ? AND key = ?';

/** Without its row's number: what is counted, the caller counts. */
export const REMOVE_SESSION = [REMOVE_TURNS, REMOVE] as const;

export type NewTurns = NonNullable<RunCompletion['history']>;

interface TurnAddition extends NewTurns {
  readonly nowMs: number;
  /** True for the first turns of a conversation. */
  readonly isNew: boolean;
}

/** Adds turns to transcripts, each of another conversation: that meets nobody. `saveSessions` belongs to it. */
export function addTurns({ sql }: Store, added: readonly TurnAddition[]): void {
  const rows = added.flatMap(({ conversation: { owner, key }, turns }) =>
    turns.map(
      ({ role, text, at }) => [owner, key, role, Math.round(at), Buffer.byteLength(text), text] as const,
    ),
  );
  sql.postRows(INSERT_TURN, rows);
}

/** Forgets turns that are too many, and counts the rest. */
export function saveSessions({ sql, counters }: Store, added: readonly TurnAddition[]): void {
  const each = (numberOf: (one: TurnAddition) => number) =>
    added.map((one) => [one.conversation.owner, one.conversation.key, numberOf(one)] as const);
  const [kept, used] = [
    each(({ maxTurns }) => Math.max(0, maxTurns)),
    each(({ nowMs }) => Math.round(nowMs)),
  ];
  sql.postEach(TRIM, kept);
  sql.postEach(SAVE, used);
  for (const { conversation, isNew, isOnDisk = false } of added) {
    if (isNew) counters.sessions += 1;
    if (isOnDisk) sql.keepHere?.(conversation.owner, conversation.key);
  }
}
