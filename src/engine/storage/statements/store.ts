import { EVENT, OUTBOX, RUN } from './rows.ts';
import type { AcceptLimits, Statements } from './statements.ts';

/** The rows that each counter counts, so that limits and `backlog()` cost the same with a thousand rows and with a million. */
export const COUNTED = {
  sessions: ['sessions', 'true'],
  queuedRuns: ['runs', `state <= ${RUN.waiting}`],
  activeRuns: ['runs', `state = ${RUN.active}`],
  deadRuns: ['runs', `state = ${RUN.dead}`],
  endedRuns: ['runs', `state >= ${RUN.completed}`],
  queuedOutbox: ['outbox', `state = ${OUTBOX.queued}`],
  deadOutbox: ['outbox', `state = ${OUTBOX.dead}`],
  endedOutbox: ['outbox', `state >= ${OUTBOX.completed}`],
  pendingEvents: ['events', `state <= ${EVENT.claimed}`],
  pendingWakes: ['events', `state <= ${EVENT.claimed} AND kind = 'wake'`],
  deadEvents: ['events', `state = ${EVENT.dead}`],
  endedEvents: ['events', `state >= ${EVENT.consumed}`],
} as const;

/** `runBytes` are those of queued and active runs; `heartbeatAt` is when a requested heartbeat is due. */
export type Counters = Record<keyof typeof COUNTED | 'runBytes', number> & { heartbeatAt: number | null };

export const columnOf = (field: string): string =>
  field.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
export const COUNTER_FIELDS = [...Object.keys(COUNTED), 'runBytes', 'heartbeatAt'] as (keyof Counters)[];
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
