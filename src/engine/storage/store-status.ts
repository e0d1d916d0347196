/** A service that has a store in use. */
export interface StoreUser {
  readonly id: string;
  readonly role: string;
  readonly host?: string;
  /** The version of Sluice. */
  readonly version?: string;
  /** Milliseconds since the epoch. */
  readonly startedAt?: number;
  /** How long its lease lasts; less than nothing where it has ended. */
  readonly leaseLeftMs?: number;
  /** Whether it takes the turns of the main session. */
  readonly isLeader?: boolean;
}

/** What a database says of itself that matters for the promises of a store. */
export interface ServerFacts {
  readonly version: string;
  /** Whether a pooler stands between: it may give every transaction another connection. */
  readonly isPooled: boolean;
  readonly synchronousCommit: string;
  readonly fsync: string;
  /** Whether a commit waits for a standby. */
  readonly hasSynchronousStandby: boolean;
}

/** What becomes of accepted work when the primary is lost; for people. */
export function failoverPromise({ synchronousCommit, hasSynchronousStandby }: ServerFacts): string {
  if (hasSynchronousStandby) return 'a commit waits for a standby: accepted work outlives the primary';
  return synchronousCommit === 'local'
    ? 'synchronous_commit is local, so no commit waits for a standby: accepted work may be lost with the primary'
    : 'synchronous_standby_names is empty: accepted work may be lost with the primary';
}

/** A connection to the database that waits for another one's lock. */
export interface LockWait {
  readonly waits: DatabaseClient;
  readonly waitedMs: number;
  readonly holds: DatabaseClient;
  /** How long the transaction that holds it has lasted, and whether it does nothing meanwhile. */
  readonly heldMs: number;
  readonly isIdle: boolean;
}

/** One connection, as the database knows it. */
export interface DatabaseClient {
  readonly pid: number;
  /** What the program calls itself; `sluice` for ours. */
  readonly program: string;
  /** Absent for a socket of the same machine. */
  readonly address?: string;
}

/** What can be said of a store without using it. */
export interface StoreStatus {
  readonly engine: 'sqlite' | 'postgres';
  /** The file, or the database without its password. */
  readonly place: string;
  /** The version of the schema; 0 where there is no store yet. */
  readonly version: number;
  /** The newest that this Sluice knows. */
  readonly newest: number;
  readonly services: readonly StoreUser[];
  /** The store that is copied into this one, where that has not ended. */
  readonly copyOf?: string;
  readonly server?: ServerFacts;
  /** Who waits in this database just now; absent for a file. */
  readonly waiting?: readonly LockWait[];
}
