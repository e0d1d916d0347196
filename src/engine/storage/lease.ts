/** What this process has asked of a database, since it started. */
export interface DatabaseUse {
  readonly roundTrips: number;
  readonly roundTripMs: number;
  /** Of transactions that waited at least a millisecond for the lock of all who claim and end. */
  readonly lockWaits: number;
  readonly lockWaitMs: number;
}

/**
 * The time for which this process may perform, by the clock of the database. It is renewed again and again. Where that
 * fails, `isHeld` is false well before the lease ends there: whoever performs has to stop, since another process
 * may take its work over after that.
 */
export interface Lease {
  /** The name of this process among those that share the store. */
  readonly id: string;
  readonly isHeld: boolean;
  /** How often others are looked at that may be gone. */
  readonly lookEveryMs: number;
  /** Calls back whenever `isHeld` changes. */
  onChange(listener: (isHeld: boolean) => void): void;
  /** Calls back when another process has left. */
  onOtherLeft(listener: () => void): void;
}
