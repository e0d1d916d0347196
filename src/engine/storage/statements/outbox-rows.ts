import { randomUUID } from 'node:crypto';
import type { DeliveryTarget } from '../../../base/action.ts';
import { type NewCallback, type NewDelivery, type OutboxResult, recipientOf } from '../records.ts';
import { OUTBOX } from './rows.ts';
import { both, by, type SqlQuestion } from './statements.ts';
import type { Store } from './store.ts';

/** Entries to a recipient that have not ended. */
const OPEN = both`FROM outbox ${by('outbox_of_recipient')} WHERE recipient = ?1 AND state <= ${OUTBOX.active}`;
/** In the order of arrival, the first that has not ended stands behind none; those that stand behind none are few. */
const IS_BEHIND = both`EXISTS (SELECT 1 ${OPEN} AND behind = 0 AND seq < ?2)`;
const INSERT = both`INSERT INTO outbox (recipient, id, kind, run_id, mapping_id, session_key, state, created_at, due_at, body,
    last_set, behind)
  VALUES (?1, ?2, ?3, ?4, ?5, ?6, ${OUTBOX.queued}, ?7, ?7, ?8, coalesce((SELECT times_set FROM last_target), 0),
    CASE WHEN EXISTS (SELECT 1 ${OPEN}) THEN 1 ELSE 0 END)`;
const STEP_IN = both`UPDATE outbox SET recipient = ?1, behind = CASE WHEN ${IS_BEHIND} THEN 1 ELSE 0 END WHERE seq = ?2`;
const STEP_BACK = both`UPDATE outbox SET behind = 1 WHERE seq IN (
  SELECT seq ${OPEN} AND behind = 0 AND state = ${OUTBOX.queued} AND seq > (SELECT min(seq) ${OPEN} AND behind = 0))`;
const STEP_UP = both`UPDATE outbox SET behind = 0 WHERE seq = (SELECT min(seq) ${OPEN} AND behind = 1)
  AND NOT EXISTS (SELECT 1 ${OPEN} AND behind = 0)`;
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
  insert(
    store,
    { kind: 'delivery', body: JSON.stringify(delivery), recipient: recipientOf(delivery) },
    parent,
  );
}

export function insertCallback(store: Store, callback: NewCallback, parent: Parent): void {
  insert(store, { kind: 'callback', body: JSON.stringify(callback), recipient: null }, parent);
}

interface OutboxBody {
  readonly kind: 'delivery' | 'callback';
  readonly body: string;
  readonly recipient: string | null;
}

function insert(
  { sql, counters }: Store,
  { kind, body, recipient }: OutboxBody,
  { runId, mappingId, sessionKey, nowMs }: Parent,
): void {
  const now = Math.round(nowMs);
  sql.post(INSERT, recipient, randomUUID(), kind, runId, mappingId, sessionKey, now, body);
  counters.queuedOutbox += 1;
}

/** Puts an entry that has not ended to its place among those to its recipient. */
export function stepIn({ sql }: Store, { seq, recipient }: OutboxPosition): void {
  if (recipient === null) return;
  sql.post(STEP_IN, recipient, seq);
  sql.post(STEP_BACK, recipient);
}

/** Lets the next one to a recipient go where none stands before it. */
export function stepUp({ sql }: Store, { recipient }: OutboxPosition): void {
  if (recipient !== null) sql.post(STEP_UP, recipient);
}

export interface OutboxPosition {
  readonly seq: number;
  readonly recipient: string | null;
}

/** Where the main session delivered; nothing where somebody set another place after the delivery had come up. */
function moveLastTarget(
  { sql }: Store,
  target: DeliveryTarget,
  { lastSet, nowMs }: { readonly lastSet: number; readonly nowMs: number },
): void {
  sql.post(MOVE_LAST, JSON.stringify(target), Math.round(nowMs), lastSet);
}

/** Where somebody wants the main session to deliver: until a delivery of it is sent that came up after this. */
export function saveLastTarget({ sql }: Store, target: DeliveryTarget, nowMs: number): void {
  sql.post(SET_LAST, JSON.stringify(target), Math.round(nowMs));
}

/** An `ActiveEntry` that this process holds. */
export const FIND_ACTIVE = `SELECT seq, run_id AS "runId", mapping_id AS "mappingId", session_key AS "sessionKey",
  last_set AS "lastSet", recipient FROM outbox WHERE id = ? AND state = ${OUTBOX.active} AND holder = ?`;
export const END_ENTRY = `UPDATE outbox SET state = ?, error_code = ?, error_message = ?, target = ?, ended_at = ? WHERE seq = ?`;

export interface ActiveEntry extends OutboxPosition {
  readonly runId: string;
  readonly mappingId: string;
  readonly sessionKey: string;
  /** How often somebody had set where `last` leads when it came up. */
  readonly lastSet: number;
}

type EntryEnd = readonly [outboxId: string, result: OutboxResult];

/** What `completeEntries` asks. */
export function entryQuestions(ends: readonly EntryEnd[], holder: string): readonly SqlQuestion[] {
  return ends.map(([outboxId]) => [FIND_ACTIVE, outboxId, holder]);
}

/** Ends deliveries and callbacks; says of each whether this process had claimed it. All are asked for at once. */
export function completeEntries(store: Store, ends: readonly EntryEnd[]): boolean[] {
  const { sql, holder } = store;
  const answers = sql.allOf<ActiveEntry>(entryQuestions(ends, holder));
  const ended = new Set<string>();
  return ends.map(([outboxId, result], index) => {
    const entry = answers[index]?.[0];
    if (entry === undefined || ended.has(outboxId)) return false;
    ended.add(outboxId);
    complete(store, entry, result);
    return true;
  });
}

function complete(store: Store, entry: ActiveEntry, result: OutboxResult): void {
  const { note, target, lastTarget, nowMs } = result;
  const state = result.state === 'completed' ? OUTBOX.completed : OUTBOX.skipped;
  const where = target === undefined ? null : JSON.stringify(target);
  const [code, message] = [note?.code ?? null, note?.message ?? null];
  store.sql.post(END_ENTRY, state, code, message, where, Math.round(nowMs), entry.seq);
  store.counters.endedOutbox += 1;
  stepUp(store, entry);
  if (lastTarget !== undefined) moveLastTarget(store, lastTarget, { lastSet: entry.lastSet, nowMs });
}
