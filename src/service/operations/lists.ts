/** The lists of every front end: how each is read from the store, and the one JSON shape of its rows. */
import {
  decisionToJson,
  type EventJson,
  eventToJson,
  isoTimes,
  type OutboxJson,
  outboxToJson,
  type RunJson,
  runToJson,
} from '../../engine/storage/facts.ts';
import type {
  CostRecord,
  EventRecord,
  ListQuery,
  OutboxRecord,
  RunRecord,
  SetAsideMail,
  Storage,
} from '../../engine/storage/storage.ts';

export interface List<Row, Json extends object = object> {
  readonly read: (storage: Storage, query: ListQuery) => Promise<readonly Row[]>;
  /** With `text` the JSON has texts that come from payloads. */
  readonly toJson: (row: Row, text: boolean) => Json;
  /** Keys of its rows, in the order of a table; one that no row has is left out there. */
  readonly columns: string;
}

const list = <Row, Json extends object>(
  columns: string,
  read: List<Row, Json>['read'],
  toJson: List<Row, Json>['toJson'],
): List<Row, Json> => ({ read, toJson, columns });

/** Each list has the newest first, except refused mail. */
export const RECORDS = {
  runs: list(
    'id kind name state why outcome mapping runner acceptedAt attempts ran message reply usage sessionKey lastError',
    (storage, query) => storage.listRuns(query),
    runToJson,
  ),
  events: list(
    'id kind mapping mode state text createdAt lastError',
    (storage, query) => storage.listEvents(query),
    eventToJson,
  ),
  deliveries: list(
    'runId state kind channel to lastError attempts createdAt',
    (storage, query) => storage.listOutbox(query),
    outboxToJson,
  ),
  requests: list(
    'id path status outcome mapping bodyBytes tookMs receivedAt notes',
    (storage, query) => storage.listDecisions(query),
    decisionToJson,
  ),
  costs: list(
    'day mappingId runner turns inputTokens outputTokens usd costUnknown',
    (storage, query) => storage.listCosts(query),
    (cost: CostRecord) => cost,
  ),
  changes: list(
    'at who source what changed about',
    (storage, { limit }) => storage.listAudit(limit),
    (change) => isoTimes(change, 'at'),
  ),
  conversations: list(
    'key owner turns bytes createdAt lastUsedAt keys',
    (storage, query) => storage.listSessions(query),
    ({ keys, ...session }, text) => ({
      ...isoTimes(session, 'createdAt', 'lastUsedAt'),
      keys: text ? keys.map((known) => isoTimes(known, 'until')) : [],
    }),
  ),
  refusedMail: list(
    'id mailbox state receivedAt sizeBytes reason from subject',
    (storage, { limit }) => storage.listSetAsideMail({ limit }),
    ({ from, subject, ...rest }: SetAsideMail, text) => ({
      ...isoTimes(rest, 'receivedAt', 'setAsideAt'),
      ...(text ? { from, subject } : {}),
    }),
  ),
  queue: list('id kind mapping state attempts age nextTry lastError', readQueue, entryToJson),
};

/** Work that is or was in the queue. */
export type QueueEntry = RunRecord | OutboxRecord | EventRecord;
type EntryJson = RunJson | OutboxJson | EventJson;

const isRun = (entry: QueueEntry): entry is RunRecord => 'action' in entry;
const isEvent = (entry: QueueEntry): entry is EventRecord => 'origin' in entry;
const storedAt = (entry: QueueEntry): number => (isRun(entry) ? entry.acceptedAt : entry.createdAt);

function entryToJson(entry: QueueEntry, text: boolean): EntryJson {
  if (isRun(entry)) return runToJson(entry, text);
  return isEvent(entry) ? eventToJson(entry, text) : outboxToJson(entry, text);
}

/** Reads the work that waits, is under way or was given up: runs, what they send, and parked system events. */
async function readQueue(storage: Storage, query: ListQuery): Promise<readonly QueueEntry[]> {
  const states = query.state === undefined ? ['active', 'queued', 'dead'] : [query.state];
  const lists = await Promise.all(
    states.flatMap((state): Promise<readonly QueueEntry[]>[] => [
      storage.listRuns({ ...query, state }),
      storage.listOutbox({ ...query, state }),
      // An event belongs to the main session, whatever the session of its hook.
      ...(state === 'dead' && query.sessionKey === undefined
        ? [storage.listEvents({ ...query, state })]
        : []),
    ]),
  );
  return lists
    .flat()
    .sort((a, b) => storedAt(b) - storedAt(a))
    .slice(0, query.limit);
}

export async function findEntries(storage: Storage, ids: readonly string[]): Promise<readonly QueueEntry[]> {
  return (await Promise.all(ids.map((id) => findEntry(storage, id)))).flatMap((entry) => entry ?? []);
}

async function findEntry(storage: Storage, id: string): Promise<QueueEntry | undefined> {
  const run = await storage.findRun(id);
  if (run !== undefined) return run;
  const [sent] = await storage.listOutbox({ limit: 1, id });
  return sent ?? (await storage.listEvents({ limit: 1, id }))[0];
}

/** Finds one run with everything that belongs to it, or one delivery, callback or system event. */
export async function findWork(
  storage: Storage,
  id: string,
  text: boolean,
): Promise<
  | { readonly run: RunJson; readonly outbox: readonly OutboxJson[] }
  | { readonly entry: OutboxJson | EventJson }
  | undefined
> {
  const entry = await findEntry(storage, id);
  if (entry === undefined) return undefined;
  if (!isRun(entry)) return { entry: isEvent(entry) ? eventToJson(entry, text) : outboxToJson(entry, text) };
  const outbox = await storage.listOutbox({ limit: 1000, runId: id });
  return { run: runToJson(entry, text), outbox: outbox.map((sent) => outboxToJson(sent, text)) };
}
