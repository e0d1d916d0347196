/** A service that has a store in use. */
export interface StoreUser {
  readonly id: string;
  readonly role: string;
  readonly host?: string;
  /** Of Sluice. */
  readonly version?: string;
  /** Milliseconds since the epoch. */
  readonly startedAt?: number;
  /** How long its lease lasts; less than nothing where it has ended. */
  readonly leaseLeftMs?: number;
  /** Whether it takes the turns of the main session. */
  readonly isLeader?: boolean;
}

/** What can be said of a store without using it. */
export interface StoreStatus {
  readonly engine: 'sqlite' | 'postgres';
  /** The file, or the database without its password. */
  readonly place: string;
  /** Of the schema; 0 where there is no store yet. */
  readonly version: number;
  /** The newest that this Sluice knows. */
  readonly newest: number;
  readonly services: readonly StoreUser[];
  /** The store that is copied into this one, where that has not ended. */
  readonly copyOf?: string;
  /** What the database says of its promises. */
  readonly server?: {
    readonly version: string;
    readonly isPooled: boolean;
    readonly synchronousCommit: string;
    readonly fsync: string;
    readonly hasSynchronousStandby: boolean;
  };
}
