import type { NewRun } from '../prepared-request.ts';
import type { NewDelivery } from '../records.ts';
import { insertDelivery } from './outbox-rows.ts';
import { postAction } from './session-queue.ts';
import { RUN } from './states.ts';
import type { Store } from './store.ts';

/** It has ended as it begins: no agent takes a turn, and what is left to do is in the outbox. */
const INSERT = `INSERT INTO runs (id, kind, state, session_key, owner, mapping_id, runner, bytes, accepted_at, due_at,
    ended_at, outcome)
  VALUES (?, 'hook', ${RUN.completed}, ?, ?, ?, ?, ?, ?, ?, ?, 'ok')`;

/** Stores a notification and its delivery. */
export function insertNotification(store: Store, run: NewRun, delivery: NewDelivery): void {
  const { sql, counters } = store;
  const { id, sessionKey, owner, mappingId, runner, action, bytes, acceptedAt } = run;
  const times = [acceptedAt, acceptedAt, acceptedAt] as const;
  sql.post(INSERT, id, sessionKey, owner, mappingId, runner, bytes, ...times);
  postAction(sql, action);
  counters.endedRuns += 1;
  insertDelivery(store, delivery, { runId: id, mappingId, sessionKey, nowMs: acceptedAt });
}
