import type { Conversation, PruneResult, RetentionLimits } from '../records.ts';
import { removeSession } from './session-rows.ts';
import { EVENT, OUTBOX, RUN } from './states.ts';
import type { Store } from './store.ts';

/** Time one slice takes at most; accepts wait no longer than this behind one (one step is always finished). */
const SLICE_MS = 0.5;
/** Rows that one step removes: a statement for each costs more than what it does. */
const STEP_ROWS = 16;

const SEQS = 'seq IN (SELECT value FROM json_each(?))';
const REMOVE_GATHERED = 'DELETE FROM run_events WHERE run_seq = ?';
const NEXT_SUMMARIES = `SELECT seq, created_at AS createdAt FROM events INDEXED BY events_pending
  WHERE state = ${EVENT.pending} AND kind = 'summary' AND seq > ? ORDER BY seq LIMIT ${STEP_ROWS}`;
const REMOVE_EVENTS = `DELETE FROM events WHERE ${SEQS}`;
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
  const steppers = [
    ...ENDED.map((kind) => () => pruneEnded(store, slice, kind)),
    ...[pruneSummaries, pruneKey, pruneSession].map((step) => () => step(store, slice)),
  ];
  const isDone = steppers.every((step) => repeat(step, slice));
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
  /** Events of a run that are stored apart from it. */
  readonly gathered: number;
}

/** A table whose rows end. */
interface Kind {
  readonly table: 'runs' | 'outbox' | 'events';
  readonly dead: number;
  readonly counters: {
    readonly ended: 'endedRuns' | 'endedOutbox' | 'endedEvents';
    readonly dead: 'deadRuns' | 'deadOutbox' | 'deadEvents';
  };
  /** The longest ended ones first. */
  readonly oldest: string;
  readonly remove: readonly string[];
}

const oldest = (table: Kind['table'], firstEnded: number, gathered = '0'): string =>
  `SELECT seq, state, ended_at AS endedAt, ${gathered} AS gathered FROM ${table} INDEXED BY ${table}_ended
  WHERE state >= ${firstEnded} ORDER BY ended_at, seq LIMIT ${STEP_ROWS}`;

const ENDED: readonly Kind[] = [
  {
    table: 'runs',
    dead: RUN.dead,
    counters: { ended: 'endedRuns', dead: 'deadRuns' },
    oldest: oldest('runs', RUN.completed, 'gathered'),
    remove: [`DELETE FROM runs WHERE ${SEQS}`, `DELETE FROM run_actions WHERE ${SEQS}`],
  },
  {
    table: 'outbox',
    dead: OUTBOX.dead,
    counters: { ended: 'endedOutbox', dead: 'deadOutbox' },
    oldest: oldest('outbox', OUTBOX.completed),
    remove: [`DELETE FROM outbox WHERE ${SEQS}`],
  },
  {
    table: 'events',
    dead: EVENT.dead,
    counters: { ended: 'endedEvents', dead: 'deadEvents' },
    oldest: oldest('events', EVENT.consumed),
    remove: [REMOVE_EVENTS],
  },
];

/** Removes the longest ended rows of a table, where they have to go. */
function pruneEnded({ sql, counters }: Store, slice: Slice, kind: Kind): boolean {
  const { ended, dead } = kind.counters;
  const rows = sql
    .all<Ended>(kind.oldest)
    .filter(({ endedAt }, index) => endedAt < slice.before || counters[ended] - index > slice.maxRows);
  if (rows.length === 0) return false;
  const seqs = seqsOf(rows);
  for (const text of kind.remove) sql.post(text, seqs);
  for (const { seq, gathered } of rows) if (gathered > 0) sql.post(REMOVE_GATHERED, seq);
  counters[ended] -= rows.length;
  counters[dead] -= rows.filter(({ state }) => state === kind.dead).length;
  slice.removed[kind.table] += rows.length;
  return true;
}

function seqsOf(rows: readonly { readonly seq: number }[]): string {
  return JSON.stringify(rows.map(({ seq }) => seq));
}

/** Nobody reads summaries where no heartbeat ever comes. Wakes that wait have a limit of their own. */
function pruneSummaries({ sql, counters }: Store, slice: Slice): boolean {
  const found = sql.all<{ seq: number; createdAt: number }>(NEXT_SUMMARIES, slice.passedSeq);
  const summaries = counters.pendingEvents - counters.pendingWakes;
  const rows = found.filter(
    ({ createdAt }, index) => createdAt < slice.before || summaries - index > slice.maxRows,
  );
  if (rows.length === 0) return false;
  sql.post(REMOVE_EVENTS, seqsOf(rows));
  slice.passedSeq = found.at(-1)?.seq ?? slice.passedSeq;
  counters.pendingEvents -= rows.length;
  slice.removed.events += rows.length;
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
