import type { Counters } from './counters.ts';
import type { AcceptLimits, Statements } from './statements.ts';

/** What every operation works on, handed to it as its first argument. */
export interface Store {
  readonly sql: Statements;
  readonly counters: Counters;
  readonly limits: AcceptLimits;
  /** Who claims: the id of this process among those that perform from the store. */
  readonly holder: string;
}
