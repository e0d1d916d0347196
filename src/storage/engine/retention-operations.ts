import type { Conversation, PruneResult, RetentionLimits } from '../records.ts';
import { removeSession } from './session-rows.ts';
import { EVENT, OUTBOX, RUN } from './states.ts';
import type { Store } from './store.ts';

/** Time one slice takes at most; accepts wait no longer than this behind one (one row is always finished). */
const SLICE_MS = 2;

const OLDEST_RUN = `SELECT seq, state, ended_at AS endedAt FROM runs INDEXED BY runs_ended
  WHERE state >= ${RUN.completed} ORDER BY ended_at, seq LIMIT 1`;
const REMOVE_RUN = 'DELETE FROM runs WHERE seq = ?';
const REMOVE_ACTION = 'DELETE FROM run_actions WHERE seq = ?';
const REMOVE_GATHERED = 'DELETE FROM run_events WHERE run_seq = ?';
const OLDEST_ENTRY = `SELECT seq, state, ended_at AS endedAt FROM outbox INDEXED BY outbox_ended
  WHERE state >= ${OUTBOX.completed} ORDER BY ended_at, seq LIMIT 1`;
const REMOVE_ENTRY = 'DELETE FROM outbox WHERE seq = ?';
const OLDEST_EVENT = `SELECT seq, state, ended_at AS endedAt FROM events INDEXED BY events_ended
  WHERE state >= ${EVENT.consumed} ORDER BY ended_at, seq LIMIT 1`;
const REMOVE_EVENT = 'DELETE FROM events WHERE seq = ?';
const NEXT_SUMMARY = `SELECT seq, created_at AS createdAt FROM events INDEXED BY events_pending
  WHERE state = ${EVENT.pending} AND kind = 'summary' AND seq > ? ORDER BY seq LIMIT 1`;
const EXPIRED_KEY = `SELECT scope, key FROM idempotency INDEXED BY idempotency_expiry WHERE expires_at <= ?
  ORDER BY expires_at LIMIT 1`;
const REMOVE_KEY = 'DELETE FROM idempotency WHERE scope = ? AND key = ?';
const IDLE_SESSION = `SELECT owner, key FROM sessions INDEXED BY sessions_used
  WHERE last_used_at < ?
    AND NOT EXISTS (SELECT 1 FROM runs INDEXED BY runs_in_line WHERE line = owner || char(10) || key AND state <= ${RUN.active})
  ORDER BY last_used_at LIMIT 1`;

export interface PruneSlice {
  readonly removed: PruneResult;
  readonly more: boolean;
}

/** One slice under way. */
interface Slice {
  readonly removed: { -readonly [Table in keyof PruneResult]: number };
  readonly maxRows: number;
  /** What ended earlier goes. */
  readonly before: number;
  readonly nowMs: number;
  /** Pending events up to here have been looked at: none of them is a summary any more. */
  passedSeq: number;
  /** True for at least one step. */
  isTimeLeft(): boolean;
}

/** One slice of retention: the longest ended go first. Called again until nothing more is left. */
export function pruneSlice(store: Store, { maxAgeMs, maxRows }: RetentionLimits, nowMs: number): PruneSlice {
  const stopAt = performance.now() + SLICE_MS;
  let steps = 0;
  const slice: Slice = {
    removed: { runs: 0, events: 0, outbox: 0, keys: 0, sessions: 0 },
    maxRows,
    before: nowMs - maxAgeMs,
    nowMs,
    passedSeq: 0,
    isTimeLeft: () => steps++ === 0 || performance.now() < stopAt,
  };
  const steppers = [pruneRun, pruneEntry, pruneEvent, pruneSummary, pruneKey, pruneSession];
  const isDone = steppers.every((step) => repeat(() => step(store, slice), slice));
  return { removed: slice.removed, more: !isDone };
}

/** Takes steps until one finds nothing to remove (true) or the slice is over (false). */
function repeat(step: () => boolean, slice: Slice): boolean {
  while (slice.isTimeLeft()) if (!step()) return true;
  return false;
}

interface Ended {
  readonly seq: number;
  readonly state: number;
  readonly endedAt: number;
}

/** The longest ended row of a table, where it has to go. */
function findBeyond(
  { sql }: Store,
  { before, maxRows }: Slice,
  { oldest, ended }: { readonly oldest: string; readonly ended: number },
): Ended | undefined {
  const row = sql.find<Ended>(oldest);
  return row !== undefined && (row.endedAt < before || ended > maxRows) ? row : undefined;
}

function pruneRun(store: Store, slice: Slice): boolean {
  const { sql, counters } = store;
  const row = findBeyond(store, slice, { oldest: OLDEST_RUN, ended: counters.endedRuns });
  if (row === undefined) return false;
  sql.post(REMOVE_RUN, row.seq);
  sql.post(REMOVE_ACTION, row.seq);
  sql.post(REMOVE_GATHERED, row.seq);
  counters.endedRuns -= 1;
  if (row.state === RUN.dead) counters.deadRuns -= 1;
  slice.removed.runs += 1;
  return true;
}

function pruneEntry(store: Store, slice: Slice): boolean {
  const { sql, counters } = store;
  const row = findBeyond(store, slice, { oldest: OLDEST_ENTRY, ended: counters.endedOutbox });
  if (row === undefined) return false;
  sql.post(REMOVE_ENTRY, row.seq);
  counters.endedOutbox -= 1;
  if (row.state === OUTBOX.dead) counters.deadOutbox -= 1;
  slice.removed.outbox += 1;
  return true;
}

function pruneEvent(store: Store, slice: Slice): boolean {
  const { sql, counters } = store;
  const row = findBeyond(store, slice, { oldest: OLDEST_EVENT, ended: counters.endedEvents });
  if (row === undefined) return false;
  sql.post(REMOVE_EVENT, row.seq);
  counters.endedEvents -= 1;
  if (row.state === EVENT.dead) counters.deadEvents -= 1;
  slice.removed.events += 1;
  return true;
}

/** Nobody reads summaries where no heartbeat ever comes. Wakes that wait have a limit of their own. */
function pruneSummary({ sql, counters }: Store, slice: Slice): boolean {
  const row = sql.find<{ seq: number; createdAt: number }>(NEXT_SUMMARY, slice.passedSeq);
  const isBeyond = counters.pendingEvents - counters.pendingWakes > slice.maxRows;
  if (row === undefined || (row.createdAt >= slice.before && !isBeyond)) return false;
  sql.post(REMOVE_EVENT, row.seq);
  slice.passedSeq = row.seq;
  counters.pendingEvents -= 1;
  slice.removed.events += 1;
  return true;
}

function pruneKey({ sql }: Store, { removed, nowMs }: Slice): boolean {
  const row = sql.find<{ scope: string; key: string }>(EXPIRED_KEY, nowMs);
  if (row === undefined) return false;
  sql.post(REMOVE_KEY, row.scope, row.key);
  removed.keys += 1;
  return true;
}

function pruneSession(store: Store, { removed, before, maxRows }: Slice): boolean {
  const limit = store.counters.sessions > maxRows ? Number.MAX_SAFE_INTEGER : before;
  const row = store.sql.find<Conversation>(IDLE_SESSION, limit);
  if (row === undefined) return false;
  removeSession(store, row);
  removed.sessions += 1;
  return true;
}
