import type { DatabaseSync } from 'node:sqlite';

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

export interface CounterRow {
  /** Changed in place by the operations of a transaction. */
  readonly counters: Counters;
  /** Reads what is stored: at the start of a transaction, since another process may have written. */
  load(): void;
  /** Writes what changed since `load`; nothing where nothing did. */
  save(): void;
  /** Copy for a savepoint; `restore` takes it back. */
  copy(): Counters;
  restore(copy: Counters): void;
}

export function openCounters(database: DatabaseSync): CounterRow {
  const select = database.prepare(
    `SELECT ${FIELDS.map((field) => `${COLUMNS[field]} AS ${field}`).join(', ')} FROM counters`,
  );
  const update = database.prepare(
    `UPDATE counters SET ${FIELDS.map((field) => `${COLUMNS[field]} = ?`).join(', ')}`,
  );
  const counters = {} as Counters;
  let stored = {} as Counters;
  return {
    counters,
    load() {
      stored = select.get() as unknown as Counters;
      Object.assign(counters, stored);
    },
    save() {
      if (FIELDS.some((field) => counters[field] !== stored[field])) {
        update.run(...FIELDS.map((field) => counters[field]));
      }
    },
    copy: () => ({ ...counters }),
    restore(copy) {
      Object.assign(counters, copy);
    },
  };
}
