import type { Counters } from './counters.ts';
import type { AcceptLimits, Statements } from './statements.ts';

/** What stands behind a key, of a header or of an action. */
export interface Reserved {
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
  readonly reserved: Map<string, Reserved | undefined>;
}
