import type { PruneResult, RetentionLimits } from '../records.ts';
import { both, listed, type Sql } from './dialects.ts';
import {
  type EndedRow,
  type Found,
  type IdleSession,
  type Key,
  pruneQuestions,
  type Slice,
  SLICE_ROWS,
  sliceOf,
  type SummaryRow,
} from './prunable-rows.ts';
import { REMOVE_SESSION } from './session-rows.ts';
import { EVENT, OUTBOX, RUN } from './rows.ts';
import type { Store } from './store.ts';

const SEQS = both`seq IN ${listed('?', 'bigint')}`;
const REMOVE_GATHERED = 'DELETE FROM run_events WHERE run_seq = ?';
const REMOVE_EVENTS = both`DELETE FROM events WHERE ${SEQS}`;
const REMOVE_AUDIT = both`DELETE FROM audit WHERE ${SEQS}`;
const REMOVE_COSTS = 'DELETE FROM costs WHERE day = ?';
const REMOVE_KEY = 'DELETE FROM idempotency WHERE scope = ? AND key = ?';

export interface PruneSlice {
  readonly removed: PruneResult;
  readonly more: boolean;
}

/**
 * One slice of retention: the first rows of each table go, where they have to. It is bounded in rows and not in time,
 * as one answer of a distant database takes longer than all the work. Called again until nothing more is left.
 */
export function pruneSlice(store: Store, limits: RetentionLimits, nowMs: number): PruneSlice {
  const slice = sliceOf(limits, nowMs);
  const answers = store.sql.allOf<object>(pruneQuestions(limits, nowMs));
  const [summaries, keys, sessions, audit, days, ...ended] = answers as Found;
  const [runs = 0, outbox = 0, events = 0] = ENDED.map((kind, index) =>
    pruneEnded(store, slice, { kind, oldest: ended[index] ?? [] }),
  );
  const counts = [
    pruneSummaries(store, slice, summaries),
    pruneKeys(store, keys),
    pruneSessions(store, slice, sessions),
  ] as const;
  if (audit.length > 0) store.sql.post(REMOVE_AUDIT, seqsOf(audit));
  for (const { day } of days) store.sql.post(REMOVE_COSTS, day);
  return {
    removed: { runs, outbox, events: events + counts[0], keys: counts[1], sessions: counts[2] },
    more: [runs, outbox, events, audit.length, ...counts].includes(SLICE_ROWS),
  };
}

/** A table whose rows end. */
interface Kind {
  readonly table: 'runs' | 'outbox' | 'events';
  readonly dead: number;
  readonly counters: {
    readonly ended: 'endedRuns' | 'endedOutbox' | 'endedEvents';
    readonly dead: 'deadRuns' | 'deadOutbox' | 'deadEvents';
  };
  readonly remove: readonly Sql[];
}

const ENDED: readonly Kind[] = [
  {
    table: 'runs',
    dead: RUN.dead,
    counters: { ended: 'endedRuns', dead: 'deadRuns' },
    remove: [both`DELETE FROM runs WHERE ${SEQS}`, both`DELETE FROM run_actions WHERE ${SEQS}`],
  },
  {
    table: 'outbox',
    dead: OUTBOX.dead,
    counters: { ended: 'endedOutbox', dead: 'deadOutbox' },
    remove: [both`DELETE FROM outbox WHERE ${SEQS}`],
  },
  {
    table: 'events',
    dead: EVENT.dead,
    counters: { ended: 'endedEvents', dead: 'deadEvents' },
    remove: [REMOVE_EVENTS],
  },
];

/** Removes the longest ended rows of a table, where they have to go. */
function pruneEnded(
  { sql, counters }: Store,
  slice: Slice,
  { kind, oldest }: { readonly kind: Kind; readonly oldest: readonly EndedRow[] },
): number {
  const { ended, dead } = kind.counters;
  const rows = oldest.filter(
    ({ endedAt }, index) => endedAt < slice.before || counters[ended] - index > slice.maxRows,
  );
  if (rows.length === 0) return 0;
  const seqs = seqsOf(rows);
  for (const text of kind.remove) sql.post(text, seqs);
  for (const { seq, gathered } of rows) if (gathered > 0) sql.post(REMOVE_GATHERED, seq);
  counters[ended] -= rows.length;
  counters[dead] -= rows.filter(({ state }) => state === kind.dead).length;
  return rows.length;
}

function seqsOf(rows: readonly { readonly seq: number }[]): string {
  return JSON.stringify(rows.map(({ seq }) => seq));
}

/** Nobody reads summaries where no heartbeat ever comes. Wakes that wait have a limit of their own. */
function pruneSummaries({ sql, counters }: Store, slice: Slice, found: readonly SummaryRow[]): number {
  const summaries = counters.pendingEvents - counters.pendingWakes;
  const rows = found.filter(
    ({ createdAt }, index) => createdAt < slice.before || summaries - index > slice.maxRows,
  );
  if (rows.length > 0) sql.post(REMOVE_EVENTS, seqsOf(rows));
  counters.pendingEvents -= rows.length;
  return rows.length;
}

function pruneKeys({ sql }: Store, keys: readonly Key[]): number {
  for (const { scope, key } of keys) sql.post(REMOVE_KEY, scope, key);
  return keys.length;
}

function pruneSessions({ sql, counters }: Store, slice: Slice, found: readonly IdleSession[]): number {
  const rows = found.filter(
    ({ lastUsedAt }, index) => lastUsedAt < slice.before || counters.sessions - index > slice.maxRows,
  );
  for (const { owner, key } of rows) for (const text of REMOVE_SESSION) sql.post(text, owner, key);
  counters.sessions -= rows.length;
  return rows.length;
}
