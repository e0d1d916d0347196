import { EVENT, OUTBOX, RUN } from './rows.ts';
import type { AcceptLimits, SqlQuestion, Statements } from './statements.ts';

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
const FIELDS = [...Object.keys(COUNTED), 'runBytes', 'heartbeatAt'] as (keyof Counters)[];
const SELECT = `SELECT ${FIELDS.map((field) => `${columnOf(field)} AS "${field}"`).join(', ')} FROM`;
/** By differences, as a part of the totals may be counted elsewhere. */
const change = (field: keyof Counters): string =>
  field === 'heartbeatAt' ? 'heartbeat_at = ?' : `${columnOf(field)} = ${columnOf(field)} + ?`;
const UPDATE = `UPDATE counters SET ${FIELDS.map(change).join(', ')}`;

/** What is stored, for reading alone. */
export function readCounters(sql: Statements): Counters {
  return sql.find<Counters>(`${SELECT} ${sql.totals}`) as Counters;
}

/** The counters of the transaction under way. */
export class CounterRow {
  /** Changed in place by the operations of the transaction. */
  readonly counters = {} as Counters;
  readonly #sql: Statements;
  /** Made once: a text is looked up by its letters. */
  readonly #select: string;
  #stored = {} as Counters;

  constructor(sql: Statements) {
    this.#sql = sql;
    this.#select = `${SELECT} ${sql.totals}`;
  }

  /** Begins a transaction with what is stored, since another process may have written. */
  begin(ahead?: () => readonly SqlQuestion[]): void {
    this.#stored = this.#sql.begin(this.#select, ahead) as Counters;
    Object.assign(this.counters, this.#stored);
  }

  /** Commits with what changed; without it where nothing did. */
  commit(): void {
    const isSame = FIELDS.every((field) => this.counters[field] === this.#stored[field]);
    this.#sql.commit(isSame ? [] : [UPDATE, ...FIELDS.map((field) => this.#changeOf(field))]);
  }

  #changeOf(field: keyof Counters): number | null {
    if (field === 'heartbeatAt') return this.counters.heartbeatAt;
    return this.counters[field] - this.#stored[field];
  }
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
