import { randomUUID } from 'node:crypto';
import type { DeliveryTarget } from '../../action.ts';
import type { NewCallback, NewDelivery } from '../records.ts';
import { OUTBOX } from './states.ts';
import type { Store } from './store.ts';

const INSERT = `INSERT INTO outbox (id, kind, run_id, mapping_id, session_key, state, created_at, due_at, body, last_set)
  VALUES (?, ?, ?, ?, ?, ${OUTBOX.queued}, ?, ?, ?, coalesce((SELECT times_set FROM last_target), 0))`;
const MOVE_LAST = `INSERT INTO last_target (one, target, saved_at) VALUES (1, ?, ?)
  ON CONFLICT (one) DO UPDATE SET target = excluded.target, saved_at = excluded.saved_at WHERE last_target.times_set = ?`;
const SET_LAST = `INSERT INTO last_target (one, target, saved_at, times_set) VALUES (1, ?, ?, 1)
  ON CONFLICT (one) DO UPDATE SET target = excluded.target, saved_at = excluded.saved_at,
  times_set = last_target.times_set + 1`;

/** The run that a delivery or callback belongs to, and when it came up. */
interface Parent {
  readonly runId: string;
  readonly mappingId: string;
  readonly sessionKey: string;
  readonly nowMs: number;
}

export function insertDelivery(store: Store, delivery: NewDelivery, parent: Parent): void {
  insert(store, { kind: 'delivery', body: JSON.stringify(delivery) }, parent);
}

export function insertCallback(store: Store, callback: NewCallback, parent: Parent): void {
  insert(store, { kind: 'callback', body: JSON.stringify(callback) }, parent);
}

function insert(
  { sql, counters }: Store,
  { kind, body }: { readonly kind: 'delivery' | 'callback'; readonly body: string },
  { runId, mappingId, sessionKey, nowMs }: Parent,
): void {
  const now = Math.round(nowMs);
  sql.post(INSERT, randomUUID(), kind, runId, mappingId, sessionKey, now, now, body);
  counters.queuedOutbox += 1;
}

/** Where the main session delivered; nothing where somebody set another place after the delivery had come up. */
export function moveLastTarget(
  { sql }: Store,
  target: DeliveryTarget,
  { lastSet, nowMs }: { readonly lastSet: number; readonly nowMs: number },
): void {
  sql.post(MOVE_LAST, JSON.stringify(target), Math.round(nowMs), lastSet);
}

/** Where somebody wants the main session to deliver from now on. */
export function saveLastTarget({ sql }: Store, target: DeliveryTarget, nowMs: number): void {
  sql.post(SET_LAST, JSON.stringify(target), Math.round(nowMs));
}
