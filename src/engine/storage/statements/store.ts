import type { Counters } from './counters.ts';
import type { Conversation } from '../records.ts';
import type { RunHead } from './rows.ts';
import type { SerializedError } from '../storage-error.ts';
import type { AcceptLimits, Statements } from './statements.ts';

/** What stands behind a key, of a header or of an action. */
export interface Reserved {
  readonly bodySha256: string;
  readonly result: string;
  readonly expiresAt: number;
}

/** What was claimed at once, and what its end would ask. */
export interface Known {
  readonly head: RunHead;
  readonly conversation: Conversation;
  /** Whether there is a transcript of it. */
  readonly hasSession: boolean;
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
  /** Runs that were claimed at once, by their ids. */
  readonly known: Map<string, Known>;
  /** Ids of runs whose end was sent and not answered: where one has ended in the hands of this process, it was that. */
  readonly unanswered: Set<string>;
  explain(error: unknown): SerializedError;
}
