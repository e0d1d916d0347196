import type { AttemptFailure, ClaimEventsOptions, HeartbeatResult } from '../records.ts';
import { both, by } from './statements.ts';
import { askForHeartbeat, countEvent } from './event-rows.ts';
import { insertDelivery } from './outbox-rows.ts';
import { EVENT, EVENT_COLUMNS, type EventRow } from './rows.ts';
import { addTurns, FIND_SESSION, insertHeartbeat, saveSessions } from './run-rows.ts';
import type { Store } from './store.ts';

/** Failed turns after which an event is parked. */
const MAX_FAILURES = 5;

const CLAIMED = both`SELECT ${EVENT_COLUMNS} ${by('events_claimed')} WHERE state = ${EVENT.claimed} ORDER BY seq`;
const PENDING = both`SELECT ${EVENT_COLUMNS} ${by('events_pending')} WHERE state = ${EVENT.pending}
  ORDER BY seq LIMIT ?`;
const CLAIM = `UPDATE events SET state = ${EVENT.claimed}, turn_id = ?, holder = ? WHERE seq = ?`;
const HOLDER = both`SELECT holder FROM events ${by('events_claimed')} WHERE state = ${EVENT.claimed} ORDER BY seq LIMIT 1`;
const TAKE = both`UPDATE events ${by('events_claimed')} SET holder = ? WHERE state = ${EVENT.claimed} AND turn_id = ?`;
const HELD = both`SELECT ${EVENT_COLUMNS} ${by('events_claimed')}
  WHERE state = ${EVENT.claimed} AND turn_id = ? AND holder = ? ORDER BY seq`;
const CONSUME = both`UPDATE events ${by('events_claimed')} SET state = ${EVENT.consumed}, ended_at = ?
  WHERE state = ${EVENT.claimed} AND turn_id = ?`;
const FREE = `UPDATE events SET state = ?, attempts = ?, turn_id = NULL, ended_at = ?, error_code = ?,
  error_message = ? WHERE seq = ?`;

export function claimEvents(store: Store, options: ClaimEventsOptions): ClaimedEvents | undefined {
  const { sql, holder } = store;
  const left = sql.all<EventRow>(CLAIMED);
  const before = left[0]?.turnId;
  if (typeof before !== 'string') return claimPending(store, options);
  // A request that came in meanwhile stays: it is for the events behind these.
  const other = sql.find<{ holder: string | null }>(HOLDER)?.holder ?? holder;
  if (other !== holder) return undefined;
  sql.post(TAKE, holder, before);
  return { turnId: before, events: left.filter((event) => event.turnId === before) };
}

export interface ClaimedEvents {
  readonly turnId: string;
  readonly events: EventRow[];
}

function claimPending(
  { sql, counters, holder }: Store,
  { turnId, maxEvents, maxBytes }: ClaimEventsOptions,
): ClaimedEvents | undefined {
  counters.heartbeatAt = null;
  sql.forgetWishes?.();
  const events: EventRow[] = [];
  let bytes = 0;
  for (const row of sql.all<EventRow>(PENDING, maxEvents)) {
    bytes += Buffer.byteLength(row.text);
    if (events.length > 0 && bytes > maxBytes) break;
    sql.post(CLAIM, turnId, holder, row.seq);
    events.push({ ...row, state: EVENT.claimed, turnId });
  }
  return events.length === 0 ? undefined : { turnId, events };
}

/** Consumes a claim and stores the turn as a run of kind heartbeat; false where the turn holds no claim. */
export function consumeEvents(store: Store, turnId: string, result: HeartbeatResult): boolean {
  const { sql } = store;
  const { run, runner, history, delivery, nowMs } = result;
  const events = claimedBy(store, turnId);
  if (events.length === 0) return false;
  sql.post(CONSUME, Math.round(nowMs), turnId);
  for (const event of events) countEvent(store, event, EVENT.consumed);
  if (run === undefined) return true;
  insertHeartbeat(store, run, runner);
  if (history !== undefined) {
    const { owner, key } = history.conversation;
    const isNew = sql.find(FIND_SESSION, owner, key) === undefined;
    const added = [{ ...history, nowMs, isNew }];
    addTurns(store, added);
    saveSessions(store, added);
  }
  const parent = { runId: run.id, mappingId: '', sessionKey: run.action.sessionKey };
  if (delivery !== undefined) insertDelivery(store, delivery, { ...parent, nowMs });
  return true;
}

/**
 * Frees a claim after a failed turn and asks for a heartbeat at `retryAt`; events that failed five times become
 * `dead`. False where the turn holds no claim.
 */
export function freeEvents(store: Store, turnId: string, failure: AttemptFailure): boolean {
  const events = claimedBy(store, turnId);
  for (const event of events) freeEvent(store, event, failure);
  if (events.length > 0 && store.counters.pendingEvents > 0) askForHeartbeat(store, failure.retryAt);
  return events.length > 0;
}

function freeEvent(store: Store, event: EventRow, failure: AttemptFailure): void {
  const failures = failure.isDelayed === true ? event.attempts : event.attempts + 1;
  const isDead = failures >= MAX_FAILURES;
  const endedAt = isDead ? Math.round(failure.nowMs) : null;
  const state = isDead ? EVENT.dead : EVENT.pending;
  store.sql.post(FREE, state, failures, endedAt, failure.code, failure.message, event.seq);
  countEvent(store, event, state);
}

function claimedBy({ sql, holder }: Store, turnId: string): EventRow[] {
  return sql.all<EventRow>(HELD, turnId, holder);
}
