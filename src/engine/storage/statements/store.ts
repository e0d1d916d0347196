import { EVENT, OUTBOX, RUN, type Table } from './rows.ts';
import type { AcceptLimits, Statements } from './statements.ts';

/**
 * The rows of a table from one state to another that each counter counts, so that limits and `backlog()` cost the same
 * with a thousand rows and with a million.
 */
const COUNTED = [
  ['queuedRuns', 'runs', RUN.blocked, RUN.waiting],
  ['activeRuns', 'runs', RUN.active, RUN.active],
  ['endedRuns', 'runs', RUN.completed, RUN.dead],
  ['deadRuns', 'runs', RUN.dead, RUN.dead],
  ['queuedOutbox', 'outbox', OUTBOX.queued, OUTBOX.queued],
  ['endedOutbox', 'outbox', OUTBOX.completed, OUTBOX.dead],
  ['deadOutbox', 'outbox', OUTBOX.dead, OUTBOX.dead],
  ['pendingEvents', 'events', EVENT.pending, EVENT.claimed],
  ['endedEvents', 'events', EVENT.consumed, EVENT.dead],
  ['deadEvents', 'events', EVENT.dead, EVENT.dead],
] as const;

/** The same for all counters, as conditions. */
export const COUNTED_ROWS: readonly (readonly [field: keyof Counters, table: string, where: string])[] = [
  ...COUNTED.map(
    ([field, table, first, last]) => [field, table, `state BETWEEN ${first} AND ${last}`] as const,
  ),
  ['pendingWakes', 'events', `state <= ${EVENT.claimed} AND kind = 'wake'`],
  ['sessions', 'sessions', 'true'],
];

/** `runBytes` are those of queued and active runs; `heartbeatAt` is when a requested heartbeat is due. */
export type Counters = Record<
  (typeof COUNTED)[number][0] | 'pendingWakes' | 'sessions' | 'runBytes',
  number
> & { heartbeatAt: number | null };

/** Counts a row of a table that goes from one state to another; one that comes or goes has only one of them. */
export function countMove(
  { counters }: Store,
  table: Table,
  { from, to }: { readonly from?: number | undefined; readonly to?: number | undefined },
): void {
  for (const [field, of, first, last] of COUNTED) {
    if (of !== table) continue;
    if (from !== undefined && from >= first && from <= last) counters[field] -= 1;
    if (to !== undefined && to >= first && to <= last) counters[field] += 1;
  }
}

export const columnOf = (field: string): string =>
  field.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
export const COUNTER_FIELDS = [...COUNTED_ROWS.map(([field]) => field), 'runBytes', 'heartbeatAt'] as const;
const SELECT = `SELECT ${COUNTER_FIELDS.map((field) => `${columnOf(field)} AS "${field}"`).join(', ')} FROM`;
/** By differences, as a part of the totals may be counted elsewhere. */
const change = (field: keyof Counters): string =>
  field === 'heartbeatAt' ? 'heartbeat_at = ?' : `${columnOf(field)} = ${columnOf(field)} + ?`;
export const COUNTER_UPDATE = `UPDATE counters SET ${COUNTER_FIELDS.map(change).join(', ')}`;

export const selectCounters = ({ totals }: Statements): string => `${SELECT} ${totals}`;

/** What is stored, for reading alone. */
export function readCounters(sql: Statements): Counters {
  return sql.find<Counters>(selectCounters(sql)) as Counters;
}

/** What stands behind a key, of a header or of an action. */
export interface ReservedKey {
  readonly bodySha256: string;
  readonly result: string;
  readonly expiresAt: number;
}

/** What every operation works on, handed to it as its first argument. */
export interface Store {
  readonly sql: Statements;
  readonly counters: Counters;
  readonly limits: AcceptLimits;
  /** Who claims: the id of this process among those that perform from the store. */
  readonly holder: string;
  /** What the transaction under way knows of keys, each as JSON of its scope and itself. */
  readonly reserved: Map<string, ReservedKey | undefined>;
}
