import { defined } from '../../base/json.ts';
import type { Storage } from './port.ts';
import type { DecisionRecord, EventRecord, KeptRequest, OutboxRecord, RunRecord } from './records.ts';

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
export type { OpenWork, RestoreReport } from './sqlite/restore-store.ts';
export {
  failoverPromise,
  type LockWait,
  type ServerFacts,
  type StoreStatus,
  type StoreUser,
} from './store-status.ts';

/** What the store knows of one request: its decision, the request itself, and the work that came of it. */
export interface StoredRequest {
  /** Absent where it is older than the decisions that are kept. */
  readonly decision?: DecisionRecord;
  readonly kept?: KeptRequest;
  readonly runs: readonly StoredRun[];
  /** Wakes of the request. */
  readonly events: readonly EventRecord[];
}

/** A run with what it sends. */
export interface StoredRun {
  readonly run: RunRecord;
  readonly outbox: readonly OutboxRecord[];
}

/** Runs and events looked up for one request at most. */
const MAX_WORK = 200;

/** Finds a request by its own id, or by the id of a run or system event that came of it; undefined where there is none. */
export async function findStoredRequest(storage: Storage, id: string): Promise<StoredRequest | undefined> {
  const decision = await storage.findDecision(id);
  if (decision !== undefined) return gather(storage, decision.requestId, decision.actionIds, decision);
  const origin = await findOrigin(storage, id);
  if (origin !== undefined) {
    const known = await storage.findDecision(origin);
    return gather(
      storage,
      origin,
      known === undefined ? [id] : [...new Set([...known.actionIds, id])],
      known,
    );
  }
  const kept = await storage.findKeptRequest(id);
  if (kept === undefined) return undefined;
  // A decision is written after its request: both may have come since the first look.
  const late = await storage.findDecision(id);
  return late === undefined ? { kept, runs: [], events: [] } : gather(storage, id, late.actionIds, late);
}

/** The request that a run or event came of. */
async function findOrigin(storage: Storage, id: string): Promise<string | undefined> {
  const run = await storage.findRun(id);
  if (run !== undefined) return run.action.origin.requestId;
  const [event] = await storage.listEvents({ limit: 1, id });
  return event?.origin.requestId;
}

async function gather(
  storage: Storage,
  requestId: string,
  ids: readonly string[],
  decision: DecisionRecord | undefined,
): Promise<StoredRequest> {
  const kept = await storage.findKeptRequest(requestId);
  // Events that joined the same run have its id.
  const unique = [...new Set(ids)].slice(0, MAX_WORK);
  const found = await Promise.all(unique.map((id) => findWork(storage, id)));
  return {
    ...defined({ decision, kept }),
    runs: found.flatMap(({ run }) => (run === undefined ? [] : [run])),
    events: found.flatMap(({ event }) => (event === undefined ? [] : [event])),
  };
}

async function findWork(
  storage: Storage,
  id: string,
): Promise<{ readonly run?: StoredRun; readonly event?: EventRecord }> {
  const run = await storage.findRun(id);
  if (run !== undefined) return { run: { run, outbox: await storage.listOutbox({ limit: 100, runId: id }) } };
  const [event] = await storage.listEvents({ limit: 1, id });
  return event === undefined ? {} : { event };
}
