import type { DeliveryTarget } from '../../../base/action.ts';
import type { Storage } from '../port.ts';
import { headerKey } from '../prepared-request.ts';
import type {
  AcceptResult,
  AgentRun,
  DecisionRecord,
  DropEnding,
  LapsedReplica,
  QueueSelection,
  RetentionLimits,
} from '../records.ts';
import { toAgentRun, toEvent, toOutbox, toRun } from '../statements/rows.ts';
import type { RemoteOperations } from '../statements/statement-table.ts';
import { AcceptQueue } from './accept-queue.ts';
import { JournalBuffer } from './journal-buffer.ts';
import type { WorkerClient } from './worker-client.ts';

/** What a store has that others share. */
interface Shared {
  /** The thread's, or what takes their place. */
  readonly operations: RemoteOperations;
  readonly accept: RemoteOperations['acceptRequest'];
  /** What was not begun beside the thread is not stored any more. */
  giveUp(): void;
  readonly lapsed: () => readonly LapsedReplica[];
}

/** The port over the thread of a store. */
export function makeStorage(
  client: WorkerClient,
  inspection: Pick<Storage, 'backup' | 'verify'>,
  { operations, accept, giveUp, lapsed }: Shared = {
    operations: client.operations,
    accept: client.operations.acceptRequest,
    giveUp: () => undefined,
    lapsed: () => [],
  },
): Storage {
  const queue = new AcceptQueue({
    place: client.place,
    acceptRequest: accept,
    flush: operations.flush,
    giveUp: (trouble) => {
      client.giveUp(trouble);
      giveUp();
    },
    resume: () => client.resume(),
  });
  const journal = new JournalBuffer(operations);
  return {
    ...operations,
    ...inspection,
    ...readRows(operations, queue),
    ...readTexts(operations, queue),
    ...readDecisions(operations, journal),
    ...readKeptRequests(operations, journal),
    ...inSteps(operations),
    accept: (work) => queue.accept(work),
    takeOver: async (held = { runs: [], outbox: [], isTurnTaken: false }) => {
      const { runs, isLeader } = await operations.takeOver(held, lapsed());
      return { runs: runs.map(toAgentRun), isLeader };
    },
    heartbeatRequested: async (nowMs = Infinity) => {
      const at = await operations.findHeartbeatAt();
      return at !== null && at <= nowMs;
    },
    recordDecision: (decision, keep) => journal.recordDecision(decision, keep),
    recordStranger: (decision, sender) => journal.recordStranger(decision, sender),
    keepRequest: (request, limits) => journal.keepRequest(request, limits),
    health: () => client.health,
    onHealthChange: (listener) => client.onHealthChange(listener),
    onOutsideChange: (listener) => client.onOutsideChange(listener),
    onFailure: (listener) => client.onFailure(listener),
    flush: () => {
      journal.write();
      return operations.flush();
    },
    close: () => {
      journal.write();
      return client.close();
    },
  };
}

/** Operations whose rows this thread makes into records: their JSON is cheaper to copy than what it holds. */
function readRows(operations: RemoteOperations, queue: AcceptQueue) {
  return {
    claimRuns: async (options) => (await operations.claimRuns(options)).map(toAgentRun),
    findUnapproved: async (nowMs) => (await operations.findUnapproved(nowMs)).map(toAgentRun),
    findAsked: async (asked) => (await queue.inTime(() => operations.findAsked(asked))).map(toAgentRun),
    findEndedRuns: async (runIds) => (await operations.findEndedRuns(runIds)).map(toRun),
    findRun: async (runId) => {
      const row = await queue.inTime(() => operations.findRun(runId));
      return row && toRun(row);
    },
    listRuns: async (query) => (await operations.listRuns(query)).map(toRun),
    oldestAmong: operations.oldestAmong,
    claimOutbox: async (options) => (await operations.claimOutbox(options)).map(toOutbox),
    listOutbox: async (query) => (await operations.listOutbox(query)).map(toOutbox),
    claimEvents: async (options) => {
      const claim = await operations.claimEvents(options);
      return claim && { turnId: claim.turnId, events: claim.events.map(toEvent) };
    },
    listEvents: async (query) => (await operations.listEvents(query)).map(toEvent),
  } satisfies Partial<Storage>;
}

/** Operations that answer with JSON text. */
function readTexts(operations: RemoteOperations, queue: AcceptQueue) {
  return {
    findIdempotent: async (scope, key, nowMs) => {
      const found = await queue.inTime(() => operations.findReservation(headerKey(scope, key), nowMs));
      return found && { bodySha256: found.bodySha256, result: JSON.parse(found.result) as AcceptResult };
    },
    findLastTarget: async () => {
      const text = await operations.findLastTarget();
      return text === undefined ? undefined : (JSON.parse(text) as DeliveryTarget);
    },
  } satisfies Partial<Storage>;
}

/** The same, of what may wait to be written. */
function readDecisions(operations: RemoteOperations, journal: JournalBuffer) {
  return {
    listDecisions: async (query) => {
      journal.write();
      return (await operations.listDecisions(query)).map((text) => JSON.parse(text) as DecisionRecord);
    },
    findDecision: async (requestId) => {
      journal.write();
      const text = await operations.findDecision(requestId);
      return text === undefined ? undefined : (JSON.parse(text) as DecisionRecord);
    },
    mappingActivity: (nowMs) => {
      journal.write();
      return operations.mappingActivity(nowMs);
    },
  } satisfies Partial<Storage>;
}

function readKeptRequests(operations: RemoteOperations, journal: JournalBuffer) {
  return {
    findKeptRequest: (requestId) => {
      journal.write();
      return operations.findKeptRequest(requestId);
    },
    noteReplay: (original, replay) => {
      journal.write();
      return operations.noteReplay(original, replay);
    },
    listKeptRequests: (limit, kind) => {
      journal.write();
      return operations.listKeptRequests(limit, kind);
    },
    readKept: (part) => {
      journal.write();
      return operations.readKept(part);
    },
  } satisfies Partial<Storage>;
}

/** Operations on any number of rows, in steps of some hundred, each a transaction, so that accepts pass between. */
function inSteps(operations: RemoteOperations) {
  return {
    retry: async (selection: QueueSelection, nowMs: number, defaultRunner = '') => {
      let total = await operations.hurryHolds(selection, { nowMs, defaultRunner });
      for (;;) {
        const changed = await operations.retryRows(await operations.selectRetry(selection, { nowMs }), nowMs);
        // One id is one change, also where its run goes past a limit, and its agent is tried, in steps of their own.
        if (changed === 0) return selection.kind === 'ids' ? Math.min(total, selection.ids.length) : total;
        total += changed;
      }
    },
    drop: async (selection: QueueSelection, nowMs: number, endingOf: (run: AgentRun) => DropEnding) => {
      let total = 0;
      for (;;) {
        const { runs, ...rest } = await operations.selectDrop(selection);
        const endings = runs.map((row) => [row.id, endingOf(toAgentRun(row))] as const);
        const changed = await operations.dropRows({ ...rest, runs: endings }, nowMs);
        if (changed === 0) return total;
        total += changed;
      }
    },
    prune: async (limits: RetentionLimits, nowMs: number) => {
      const total = { runs: 0, events: 0, outbox: 0, keys: 0, sessions: 0 };
      for (;;) {
        const { removed, more } = await operations.pruneSlice(limits, nowMs);
        for (const table of Object.keys(total) as (keyof typeof total)[]) total[table] += removed[table];
        if (!more) return total;
      }
    },
  } satisfies Partial<Storage>;
}
