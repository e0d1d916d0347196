import type { Asking, NewRun } from '../prepared-request.ts';
import type { Approval } from '../records.ts';
import { insertDelivery } from './outbox-rows.ts';
import { insertRun } from './session-queue.ts';
import { both, by } from './dialects.ts';
import { RUN_FIELDS, type RunHead, type RunRow } from './rows.ts';
import { ASKING, RUN } from './states.ts';
import type { Store } from './store.ts';

/*
 * Runs that somebody is asked about. Until then one waits as a run that gathers events does, under a key that no event
 * has. Approved, it loses the key and steps into its queue. Denied, or when the time for an answer is over, it is due and
 * keeps it: no claim takes it, and it is given up without waiting for limits, pauses or its conversation.
 */

/** The rest follows with the next look. */
const MAX_AT_ONCE = 100;
const UNAPPROVED = both`SELECT ${RUN_FIELDS} FROM runs ${by('runs_waiting')}
  JOIN run_actions ON run_actions.seq = runs.seq
  WHERE state = ${RUN.waiting} AND gather_key = '${ASKING}' AND due_at <= ?
  ORDER BY due_at, runs.seq LIMIT ${MAX_AT_ONCE}`;
const SET = 'UPDATE runs SET approval = ? WHERE id = ?';
const FIND = 'SELECT approval FROM runs WHERE seq = ?';

/** Stores a run with the message that asks. */
export function insertAsking(store: Store, run: NewRun, { expiresAt, nonce, delivery }: Asking): void {
  insertRun(store, run, { key: ASKING, dueAt: expiresAt, until: expiresAt, isLatest: false });
  setApproval(store, run.id, { expiresAt, nonce });
  const { id: runId, mappingId, sessionKey, acceptedAt: nowMs } = run;
  insertDelivery(store, delivery, { runId, mappingId, sessionKey, nowMs });
}

export function setApproval({ sql }: Store, runId: string, approval: Approval): void {
  sql.post(SET, JSON.stringify(approval), runId);
}

export function findApproval({ sql }: Store, { seq }: RunHead): Approval | undefined {
  const text = sql.find<{ approval: string | null }>(FIND, seq)?.approval;
  return text === null || text === undefined ? undefined : (JSON.parse(text) as Approval);
}

/** Runs that will not begin, as nobody has approved them. */
export const findUnapproved = ({ sql }: Store, nowMs: number): RunRow[] =>
  sql.all(UNAPPROVED, Math.round(nowMs));
