import { acceptRequest } from './accept-statements.ts';
import * as activity from './activity-reads.ts';
import * as events from './event-statements.ts';
import * as journal from './journal-statements.ts';
import * as mail from './mail-statements.ts';
import * as outbox from './outbox-statements.ts';
import * as plans from './plan-reads.ts';
import * as queue from './queue-statements.ts';
import * as reads from './read-statements.ts';
import { pruneSlice } from './retention-statements.ts';
import * as runs from './run-statements.ts';
import type { Store } from './store.ts';
import * as workers from './worker-statements.ts';

/**
 * The table of operations. Every function that one of the other files exports is one: the client has a method of that
 * name, which takes the same arguments without the store. What writes runs inside a transaction.
 */
export const WRITES = {
  acceptRequest,
  pruneSlice,
  ...events,
  ...journal,
  ...mail,
  ...outbox,
  ...queue,
  ...runs,
  ...workers,
};
export const READS = { ...reads, ...plans, ...activity };

type Operations = typeof WRITES & typeof READS;
export type OperationName = keyof Operations;
export const OPERATION_NAMES = [...Object.keys(WRITES), ...Object.keys(READS)] as OperationName[];

/** One call of an operation as the client sends it. */
export type OperationCall = readonly [id: number, name: OperationName, args: readonly unknown[]];

/** Flat triples `id, failed (0 or 1), result or SerializedError`: one array for a whole batch. */
export type Replies = unknown[];

/** Any operation, for those who pass arguments and results on. */
export type AnyOperation = (store: Store, ...args: unknown[]) => unknown;

export type RemoteOperations = {
  readonly [Name in OperationName]: Operations[Name] extends (
    store: Store,
    ...args: infer Args
  ) => infer Result
    ? (...args: Args) => Promise<Result>
    : never;
};
