import type { Question, Statements } from './statements.ts';

/** What is counted, so that limits and `backlog()` cost the same with a thousand rows and with a million. */
export interface Counters {
  queuedRuns: number;
  activeRuns: number;
  deadRuns: number;
  /** Completed and dead. */
  endedRuns: number;
  /** Of queued and active runs. */
  runBytes: number;
  queuedOutbox: number;
  deadOutbox: number;
  endedOutbox: number;
  pendingWakes: number;
  /** Pending and claimed. */
  pendingEvents: number;
  deadEvents: number;
  endedEvents: number;
  sessions: number;
  /** When a requested heartbeat is due. */
  heartbeatAt: number | null;
}

const COLUMNS: Readonly<Record<keyof Counters, string>> = {
  queuedRuns: 'queued_runs',
  activeRuns: 'active_runs',
  deadRuns: 'dead_runs',
  endedRuns: 'ended_runs',
  runBytes: 'run_bytes',
  queuedOutbox: 'queued_outbox',
  deadOutbox: 'dead_outbox',
  endedOutbox: 'ended_outbox',
  pendingWakes: 'pending_wakes',
  pendingEvents: 'pending_events',
  deadEvents: 'dead_events',
  endedEvents: 'ended_events',
  sessions: 'sessions',
  heartbeatAt: 'heartbeat_at',
};
const FIELDS = Object.keys(COLUMNS) as (keyof Counters)[];
const SELECT = `SELECT ${FIELDS.map((field) => `${COLUMNS[field]} AS "${field}"`).join(', ')} FROM`;
/** By differences, as a part of the totals may be counted elsewhere. */
const change = (field: keyof Counters): string =>
  field === 'heartbeatAt' ? `${COLUMNS[field]} = ?` : `${COLUMNS[field]} = ${COLUMNS[field]} + ?`;
const UPDATE = `UPDATE counters SET ${FIELDS.map(change).join(', ')}`;
/** Of a transaction that does not know what is stored: an earlier wish for a heartbeat stands. */
const UPDATE_UNKNOWN = UPDATE.replace('heartbeat_at = ?', 'heartbeat_at = least(heartbeat_at, ?)');
const NOTHING = Object.fromEntries(FIELDS.map((field) => [field, 0])) as unknown as Counters;

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
  #update = UPDATE;

  constructor(sql: Statements) {
    this.#sql = sql;
    this.#select = `${SELECT} ${sql.totals}`;
  }

  /** Begins a transaction with what is stored, since another process may have written. */
  begin(ahead?: () => readonly Question[]): void {
    this.#stored = this.#sql.begin(this.#select, ahead) as Counters;
    this.#update = UPDATE;
    Object.assign(this.counters, this.#stored);
  }

  /** Begins one that reads nothing, so that only differences mean anything. */
  presume(): void {
    this.#stored = { ...NOTHING, heartbeatAt: null };
    this.#update = UPDATE_UNKNOWN;
    Object.assign(this.counters, this.#stored);
  }

  /** Commits with what changed; without it where nothing did. */
  commit(): void {
    const isSame = FIELDS.every((field) => this.counters[field] === this.#stored[field]);
    this.#sql.commit(isSame ? [] : [this.#update, ...FIELDS.map((field) => this.#changeOf(field))]);
  }

  #changeOf(field: keyof Counters): number | null {
    if (field === 'heartbeatAt') return this.counters.heartbeatAt;
    return this.counters[field] - this.#stored[field];
  }
}
