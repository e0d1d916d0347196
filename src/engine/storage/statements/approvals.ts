/*
 * Runs that somebody is asked about. Until then one waits as a run that gathers events does, under a key that no event
 * has. Approved, it loses the key and steps into its queue. Denied, or when the time for an answer is over, it is due and
 * keeps it: no claim takes it, and it is given up without waiting for limits, pauses or its conversation.
 */
import type { NewRun, PreparedAction, PreparedAgent, PreparedQuestion } from '../prepared-request.ts';
import type { Approval, ApprovalAnswer, ApprovalResult } from '../records.ts';
import { insertDelivery } from './outbox-rows.ts';
import { ASKING, RUN, RUN_FIELDS, type RunHead, type RunRow } from './rows.ts';
import { findRunHead } from './run-rows.ts';
import { insertRun } from './session-queue.ts';
import { both, by } from './statements.ts';
import type { Store } from './store.ts';

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
  if (asking === undefined) return;
  const { id: runId, mappingId, sessionKey, acceptedAt: nowMs } = asking.row;
  insertDelivery(store, asking.ask.delivery, { runId, mappingId, sessionKey, nowMs });
}
