import { defined } from '../../base/json.ts';
import type { Storage } from './port.ts';
import {
  type Approval,
  callbackPlace,
  type DecisionRecord,
  type EarlierEnding,
  type EventRecord,
  type KeptRequest,
  type OutboxRecord,
  type RunRecord,
  type TokenUsage,
} from './records.ts';

/** What tools read of stores: records as JSON, what a store says of itself, copies. */
export { ALL_MAPPINGS, isSkipped, NO_ACTIVITY, pauseOfRunner } from './records.ts';
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

export const isoTime = (ms: number): string => new Date(ms).toISOString();

/** Prints these times, where a row has them, as ISO 8601. */
export function isoTimes<Row extends object, Key extends keyof Row>(
  row: Row,
  ...keys: readonly Key[]
): Omit<Row, Key> & { readonly [Each in keyof Pick<Row, Key>]: string } {
  const times = keys.filter((key) => row[key] !== undefined).map((key) => [key, isoTime(Number(row[key]))]);
  return Object.assign({ ...row }, Object.fromEntries(times) as { [Each in keyof Pick<Row, Key>]: string });
}

const isoTimeOrNull = (ms: number | undefined): string | null => (ms === undefined ? null : isoTime(ms));

/** An error's message can hold what an agent or a platform said: payload-derived, as the texts are. */
export type ErrorJson = { readonly code: string; readonly message?: string } | null;

const errorToJson = (error: { code: string; message: string } | undefined, text: boolean): ErrorJson =>
  error === undefined ? null : text ? error : { code: error.code };

/** What listings call a run: where it came from, or `notify` where it was none of an agent. */
function kindOf({ kind, action }: RunRecord): RunRecord['kind'] | 'notify' {
  return action.kind === 'notify' ? 'notify' : kind;
}

/** A run; times are ISO 8601, and with `--no-text` what comes from payloads is left out. */
export type RunJson = Pick<RunRecord, 'id' | 'state' | 'attempts'> & {
  readonly kind: 'hook' | 'heartbeat' | 'notify';
  readonly mapping: string | null;
  readonly path: string;
  readonly name: string;
  readonly sessionKey: string;
  readonly owner: string;
  /** By which key it came to its conversation, who added it, and until when it was known then. */
  readonly cameBy?: { readonly key: string; readonly addedBy: string; readonly until: string };
  readonly outcome: RunRecord['outcome'] | null;
  readonly message?: string;
  readonly reply?: string | null;
  /** How many events it reads, of a run that gathered several. */
  readonly events?: number;
  readonly channel: string;
  readonly to: string | null;
  readonly model: string | null;
  readonly runner: string | null;
  readonly lastError: ErrorJson;
  readonly usage: TokenUsage | null;
  /** How it ended each time before it was begun anew, the oldest first. */
  readonly earlier?: readonly EarlierJson[];
  /** Until when it waits for an approval, and what was answered. */
  readonly approval?: ApprovalJson;
  readonly acceptedAt: string;
  readonly dueAt: string;
  readonly startedAt: string | null;
  readonly endedAt: string | null;
};
interface ApprovalJson extends Omit<Approval, 'expiresAt' | 'nonce' | 'at'> {
  readonly expiresAt: string;
  readonly at: string | null;
}
interface EarlierJson extends Omit<EarlierEnding, 'error' | 'endedAt'> {
  readonly lastError: ErrorJson;
  readonly endedAt: string;
}

/** One run as `sluice runs --json` prints it; without `text` what comes from payloads is left out. */
export function runToJson(run: RunRecord, text: boolean): RunJson {
  const { action } = run;
  const by = text && action.kind === 'agent' ? action.conversation?.found?.by : undefined;
  return {
    id: run.id,
    kind: kindOf(run),
    mapping: action.origin.mappingId ?? null,
    path: action.origin.path,
    name: action.name,
    sessionKey: action.sessionKey,
    owner: action.owner,
    ...(by && { cameBy: isoTimes(by, 'until') }),
    state: run.state,
    outcome: run.outcome ?? null,
    ...(text && { message: action.message, reply: run.reply ?? null }),
    ...(run.eventCount !== undefined && { events: run.eventCount }),
    attempts: run.attempts,
    channel: action.channel,
    to: action.to ?? null,
    model: (action.kind === 'agent' && action.model) || null,
    runner: (action.kind === 'agent' && action.runner) || null,
    lastError: errorToJson(run.lastError, text),
    usage: run.usage ?? null,
    ...(run.earlier && { earlier: run.earlier.map((end) => earlierToJson(end, text)) }),
    ...(run.approval && { approval: approvalToJson(run.approval) }),
    acceptedAt: isoTime(run.acceptedAt),
    dueAt: isoTime(run.dueAt),
    startedAt: isoTimeOrNull(run.startedAt),
    endedAt: isoTimeOrNull(run.endedAt),
  };
}

function approvalToJson({ expiresAt, decision, by, at }: Approval): ApprovalJson {
  const answer = { ...(decision && { decision }), ...(by && { by }) };
  return { expiresAt: isoTime(expiresAt), ...answer, at: isoTimeOrNull(at) };
}

function earlierToJson({ reply, error, endedAt, ...end }: EarlierEnding, text: boolean): EarlierJson {
  return {
    ...end,
    lastError: errorToJson(error, text),
    ...(text && reply !== undefined && { reply }),
    endedAt: isoTime(endedAt),
  };
}

export type EventJson = Pick<EventRecord, 'id' | 'kind' | 'origin' | 'mode' | 'state' | 'attempts'> & {
  readonly text?: string;
  readonly turnId: string | null;
  readonly runId: string | null;
  readonly lastError: ErrorJson;
  readonly createdAt: string;
  readonly consumedAt: string | null;
};

/** One system event as `sluice events --json` prints it. */
export function eventToJson(event: EventRecord, text: boolean): EventJson {
  const { source, ...origin } = event.origin;
  return {
    id: event.id,
    kind: event.kind,
    ...(text && { text: event.text }),
    origin: text && source !== undefined ? event.origin : origin,
    mode: event.mode,
    state: event.state,
    attempts: event.attempts,
    turnId: event.turnId ?? null,
    runId: event.runId ?? null,
    lastError: errorToJson(event.lastError, text),
    createdAt: isoTime(event.createdAt),
    consumedAt: isoTimeOrNull(event.consumedAt),
  };
}

/** A delivery, or a callback with the origin of its address. */
export type OutboxJson = Pick<OutboxRecord, 'id' | 'kind' | 'runId' | 'state' | 'attempts' | 'chunksSent'> & {
  readonly channel: string | null;
  readonly to: string | null;
  readonly url: string | null;
  readonly text?: string | null;
  readonly lastError: ErrorJson;
  readonly createdAt: string;
  readonly dueAt: string;
  readonly endedAt: string | null;
};

/** One delivery or callback, with the origin of its address; the recipient is shown, the text only with `text`. */
export function outboxToJson(entry: OutboxRecord, text: boolean): OutboxJson {
  return {
    id: entry.id,
    kind: entry.kind,
    runId: entry.runId,
    state: entry.state,
    attempts: entry.attempts,
    channel: entry.delivery?.channel ?? null,
    to: entry.delivery?.to ?? null,
    url: entry.callback === undefined ? null : callbackPlace(entry.callback),
    ...(text && { text: entry.delivery?.text ?? entry.callback?.body ?? null }),
    chunksSent: entry.chunksSent,
    lastError: errorToJson(entry.lastError, text),
    createdAt: isoTime(entry.createdAt),
    dueAt: isoTime(entry.dueAt),
    endedAt: isoTimeOrNull(entry.endedAt),
  };
}

/** What became of a request. */
export interface DecisionJson extends Omit<DecisionRecord, 'receivedAt'> {
  readonly id: string;
  readonly mapping: string | null;
  readonly receivedAt: string;
}

/** One decision as `sluice requests --json` prints it. */
export function decisionToJson({ receivedAt, ...rest }: DecisionRecord): DecisionJson {
  return {
    // The names that runs and events have.
    id: rest.requestId,
    mapping: rest.mappingId ?? null,
    ...rest,
    receivedAt: isoTime(receivedAt),
  };
}
