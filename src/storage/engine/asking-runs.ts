import type { Asking, NewRun } from '../prepared-request.ts';
import type { Approval } from '../records.ts';
import { insertDelivery } from './outbox-rows.ts';
import { insertRun } from './session-queue.ts';
import type { RunHead } from './rows.ts';
import type { Store } from './store.ts';

/*
 * Runs that somebody is asked about. Until then one waits as a run that gathers events does, under a key that no event
 * has; it is due when the time for an answer is over, and whoever claims it looks at what was answered.
 */

/** Keys of events begin with `=` or `#`. */
const ASKING = 'approval';
/** Which waiting runs nobody is asked about. */
export const IS_NOT_ASKING = `(gather_key IS NULL OR gather_key <> '${ASKING}')`;
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
