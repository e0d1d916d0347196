/** What tools read of stores: records as JSON, what a store says of itself, copies. */
export { ALL_MAPPINGS, NO_ACTIVITY, pauseOfRunner } from './records.ts';
export {
  decisionToJson,
  eventToJson,
  isoTime,
  isoTimes,
  outboxToJson,
  kindOf,
  runToJson,
  type DecisionJson,
  type EventJson,
  type OutboxJson,
  type RunJson,
} from './record-json.ts';
export type { CopyReport } from './copy/copy-store.ts';
export { findStoredRequest, type StoredRequest, type StoredRun } from './stored-request.ts';
export type { OpenWork, RestoreReport } from './sqlite/restore-store.ts';
export {
  failoverPromise,
  type LockWait,
  type ServerFacts,
  type StoreStatus,
  type StoreUser,
} from './store-status.ts';
