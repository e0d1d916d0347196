import { randomUUID } from 'node:crypto';
import type { DeliveryTarget } from '../../action.ts';
import type { NewCallback, NewDelivery } from '../records.ts';
import { OUTBOX } from './states.ts';
import type { Store } from './store.ts';

const INSERT = `INSERT INTO outbox (id, kind, run_id, mapping_id, session_key, state, created_at, due_at, body)
  VALUES (?, ?, ?, ?, ?, ${OUTBOX.queued}, ?, ?, ?)`;
const SAVE_LAST = `INSERT INTO last_target (one, target, saved_at) VALUES (1, ?, ?)
  ON CONFLICT (one) DO UPDATE SET target = excluded.target, saved_at = excluded.saved_at`;

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

export function writeLastTarget({ sql }: Store, target: DeliveryTarget, nowMs: number): void {
  sql.post(SAVE_LAST, JSON.stringify(target), Math.round(nowMs));
}
