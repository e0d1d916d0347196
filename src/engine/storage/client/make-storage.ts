import type { DeliveryTarget } from '../../../base/action.ts';
import { HookError } from '../../../base/errors.ts';
import type { Storage } from '../port.ts';
import { actionKey, freshResult, headerKey, preparedBytes, prepareRequest } from '../prepared-request.ts';
import type {
  AcceptedWork,
  AcceptedAction,
  AcceptResult,
  AgentRun,
  DecisionRecord,
  RunPosts,
  LapsedReplica,
  QueueSelection,
  RetentionLimits,
} from '../records.ts';
import { toAgentRun, toEvent, toOutbox, toRun } from '../statements/rows.ts';
import type { OperationName, RemoteOperations } from '../statements/statement-table.ts';
import { StorageError, unavailable } from '../storage-error.ts';
import { JournalBuffer } from './journal-buffer.ts';
import type { StoreClient } from './worker-client.ts';

/** The part of a store that several processes share. */
interface SharedStore {
  /** The thread's, or what takes their place. */
  readonly operations: RemoteOperations;
  /** What was not begun beside the thread is not stored any more. */
  giveUp(): void;
  readonly lapsed: () => readonly LapsedReplica[];
}

export function makeStorage(
  client: StoreClient,
  inspection: Pick<Storage, 'backup' | 'verify'>,
  store: SharedStore = { operations: client.operations, giveUp: () => undefined, lapsed: () => [] },
): Storage {
  const { operations: own, lapsed } = store;
  const watch = new AnswerWatch(client, store);
  const journal = new JournalBuffer(own);
  const operations = { ...own, ...afterJournal(own, journal) };
  return {
    ...operations,
    ...inspection,
    ...readRows(operations, watch),
    ...readTexts(operations, watch),
    ...inSteps(operations),
    accept: (work) => watch.accept(work),
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
    close: () => {
      journal.write();
      return client.close();
    },
  };
}

/** Operations whose rows this thread makes into records: their JSON is cheaper to copy than what it holds. */
function readRows(operations: RemoteOperations, watch: AnswerWatch) {
  return {
    claimRuns: async (options) => (await operations.claimRuns(options)).map(toAgentRun),
    findUnbegun: async (nowMs) => (await operations.findUnbegun(nowMs)).map(toAgentRun),
    findUndecided: async (nowMs) => (await operations.findUndecided(nowMs)).map(toAgentRun),
    findAsked: async (asked) => (await watch.inTime(() => operations.findAsked(asked))).map(toAgentRun),
    takeLapsedRuns: async (nowMs) => (await operations.takeLapsedRuns(nowMs)).map(toAgentRun),
    findEndedRuns: async (runIds) => (await operations.findEndedRuns(runIds)).map(toRun),
    findRun: async (runId) => {
      const row = await watch.inTime(() => operations.findRun(runId));
      return row && toRun(row);
    },
    listRuns: async (query) => (await operations.listRuns(query)).map(toRun),
    claimOutbox: async (options) => (await operations.claimOutbox(options)).map(toOutbox),
    listOutbox: async (query) => (await operations.listOutbox(query)).map(toOutbox),
    claimEvents: async (options) => {
      const claim = await operations.claimEvents(options);
      return claim && { turnId: claim.turnId, events: claim.events.map(toEvent) };
    },
    listEvents: async (query) => (await operations.listEvents(query)).map(toEvent),
  } satisfies Partial<Storage>;
}

function readTexts(operations: RemoteOperations, watch: AnswerWatch) {
  return {
    findIdempotent: async (scope, key, nowMs) => {
      const found = await watch.inTime(() => operations.findReservation(headerKey(scope, key), nowMs));
      return found && { bodySha256: found.bodySha256, result: JSON.parse(found.result) as AcceptResult };
    },
    findDeduped: async (scope, key, nowMs) => {
      const found = await watch.inTime(() => operations.findReservation(actionKey(scope, key), nowMs));
      return found && (JSON.parse(found.result) as AcceptedAction);
    },
    findLastTarget: async () => {
      const text = await operations.findLastTarget();
      return text === undefined ? undefined : (JSON.parse(text) as DeliveryTarget);
    },
    listDecisions: async (query) =>
      (await operations.listDecisions(query)).map((text) => JSON.parse(text) as DecisionRecord),
    findDecision: async (requestId) => {
      const text = await operations.findDecision(requestId);
      return text === undefined ? undefined : (JSON.parse(text) as DecisionRecord);
    },
  } satisfies Partial<Storage>;
}

const READING_JOURNAL = [
  'findDecision',
  'findKeptRequest',
  'flush',
  'listDecisions',
  'listKeptRequests',
  'noteReplay',
  'readKept',
] as const satisfies readonly OperationName[];

/** Operations that see what has gathered: it is written before. */
function afterJournal(operations: RemoteOperations, journal: JournalBuffer): Partial<RemoteOperations> {
  const after = (call: (...args: unknown[]) => Promise<unknown>) => {
    return (...args: unknown[]) => (journal.write(), call(...args));
  };
  return Object.fromEntries(
    READING_JOURNAL.map((name) => [
      name,
      after(operations[name] as (...args: unknown[]) => Promise<unknown>),
    ]),
  );
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
    drop: async (selection: QueueSelection, nowMs: number, endingOf: (run: AgentRun) => RunPosts) => {
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

/** Requests and bytes that wait for a commit at most; beyond them a request is refused at once. */
const MAX_WAITING = 1000;
const MAX_WAITING_BYTES = 64 * 1024 * 1024;

/** How often it is looked whether a store still answers. */
const LOOK_MS = 1_000;
/** Looks, and so about seconds, that a sender waits at most: longer than a write waits for a lock, which is 5 s. */
const MAX_LOOKS = 10;
/** Between two tries whether it answers again. */
const RETRY_MS = 400;

interface WaitingCall {
  /** How many looks there had been. */
  readonly since: number;
  reject(trouble: StorageError): void;
}

/**
 * Refuses more requests than can wait for a commit, and watches that the store answers senders in time. Where it does
 * not, all who wait get an error, and those who come are refused at once until it answers. Time is counted in looks: a
 * process that was itself stopped for a while blames nobody.
 */
class AnswerWatch {
  readonly #client: StoreClient;
  readonly #store: SharedStore;
  readonly #waiting = new Set<WaitingCall>();
  #accepting = 0;
  #acceptingBytes = 0;
  #looks = 0;
  #timer: NodeJS.Timeout | undefined;
  #trouble: StorageError | undefined;

  constructor(client: StoreClient, store: SharedStore) {
    this.#client = client;
    this.#store = store;
  }

  async accept(work: AcceptedWork): Promise<AcceptResult> {
    const result = freshResult(work);
    const request = prepareRequest(work, result);
    const bytes = preparedBytes(request);
    this.#checkSpace(bytes);
    this.#accepting += 1;
    this.#acceptingBytes += bytes;
    try {
      const repeated = await this.inTime(() => this.#store.operations.acceptRequest(request));
      return repeated === null ? result : (JSON.parse(repeated) as AcceptResult);
    } catch (error) {
      throw error instanceof StorageError ? unavailable(error) : error;
    } finally {
      this.#accepting -= 1;
      this.#acceptingBytes -= bytes;
    }
  }

  /** Rejects where the answer does not come in time, and at once where the store is known not to answer. */
  inTime<Result>(ask: () => Promise<Result>): Promise<Result> {
    if (this.#trouble !== undefined) return Promise.reject(this.#trouble);
    return new Promise((resolve, reject) => {
      const waiting = { since: this.#looks, reject };
      this.#waiting.add(waiting);
      this.#timer ??= setInterval(() => this.#look(), LOOK_MS).unref();
      const settle = (error?: unknown) => {
        const isStill = this.#waiting.delete(waiting);
        // Where it is said at once that there is no way to the store, everybody may try.
        if (isStill && isUnreachable(error) && this.#looks > waiting.since + 1) this.#refuseAll(error);
      };
      ask().then(
        (result) => (settle(), resolve(result)),
        (error: unknown) => (settle(error), reject(error as Error)),
      );
    });
  }

  #look(): void {
    this.#looks += 1;
    const [oldest] = this.#waiting;
    if (oldest === undefined) {
      clearInterval(this.#timer);
      this.#timer = undefined;
    }
    if (oldest === undefined || this.#looks - oldest.since < MAX_LOOKS) return;
    const said = `${this.#client.place}: the store has not answered for ${MAX_LOOKS} s; it is tried again by itself`;
    this.#refuseAll(new StorageError('unreachable', said));
  }

  /** Refuses those who wait, and those who come until the store answers again. */
  #refuseAll(trouble: StorageError): void {
    if (this.#trouble === undefined) {
      this.#trouble = trouble;
      this.#client.giveUp(trouble);
      this.#store.giveUp();
      void this.#tryAgain();
    }
    for (const { reject } of this.#waiting) reject(trouble);
    this.#waiting.clear();
  }

  async #tryAgain(): Promise<void> {
    try {
      await this.#store.operations.flush();
    } catch (error) {
      if (isUnreachable(error)) return void setTimeout(() => void this.#tryAgain(), RETRY_MS).unref();
    }
    this.#trouble = undefined;
    this.#client.resume();
  }

  #checkSpace(bytes: number): void {
    const isFull = this.#accepting > 0 && this.#acceptingBytes + bytes > MAX_WAITING_BYTES;
    if (!isFull && this.#accepting < MAX_WAITING) return;
    throw new HookError('storage_unavailable', 'too many requests wait for the store', {
      retryAfterSeconds: 1,
    });
  }
}

function isUnreachable(error: unknown): error is StorageError {
  return error instanceof StorageError && error.code === 'unreachable';
}
