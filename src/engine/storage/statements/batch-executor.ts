import { parentPort, receiveMessageOnPort } from 'node:worker_threads';
import { HookError } from '../../../base/errors.ts';
import type { PreparedRequest } from '../prepared-request.ts';
import type { ClaimOutboxOptions, ClaimRunsOptions, OutboxResult, RunCompletion } from '../records.ts';
import { type SerializedError, serializeError, StorageError } from '../storage-error.ts';
import { lookUpReservations, reservationQuestions } from './accept-statements.ts';
import { claimQuestions } from './claimable-runs.ts';
import type { HealthMonitor } from './health-monitor.ts';
import { completeEntries, entryQuestions } from './outbox-rows.ts';
import { outboxQuestions } from './plain-reads.ts';
import { pruneQuestions } from './retention-statements.ts';
import { completeRuns, endQuestions } from './run-rows.ts';
import {
  type AnyOperation,
  type OperationCall,
  OPERATION_NAMES,
  type OperationName,
  READS,
  type Replies,
  WRITES,
} from './statement-table.ts';
import {
  type AcceptLimits,
  BrokenTransaction,
  OneFailed,
  type SqlQuestion,
  type Statements,
} from './statements.ts';
import { COUNTER_FIELDS, COUNTER_UPDATE, type Counters, type Store, selectCounters } from './store.ts';

/** What the calls of one transaction do together, and what they will ask, so that it takes few questions. */

type Arguments = OperationCall[2];
type PruneArguments = Parameters<typeof pruneQuestions>;

interface Ends {
  readonly name: OperationName;
  /** Returns for each call whether it was done. */
  end(store: Store, calls: readonly Arguments[]): readonly boolean[];
  questions(store: Store, calls: readonly Arguments[]): readonly SqlQuestion[];
}

const completionsOf = (calls: readonly Arguments[]) => (calls as readonly [RunCompletion][]).flat();
const entriesOf = (calls: readonly Arguments[]) => calls as readonly [string, OutboxResult][];

/** Operations that are done for all their calls at once. */
const ENDS: readonly Ends[] = [
  {
    name: 'completeRun',
    end: (store, calls) => completeRuns(store, completionsOf(calls)),
    questions: (_, calls) => endQuestions(completionsOf(calls)),
  },
  {
    name: 'completeOutbox',
    end: (store, calls) => completeEntries(store, entriesOf(calls)),
    questions: ({ holder }, calls) => entryQuestions(entriesOf(calls), holder),
  },
];

function requestsOf(calls: readonly OperationCall[]): readonly PreparedRequest[] {
  return calls.flatMap(([, name, [request]]) =>
    name === 'acceptRequest' ? [request as PreparedRequest] : [],
  );
}

function firstQuestions(store: Store, calls: readonly OperationCall[]): readonly SqlQuestion[] {
  for (const { name, questions } of ENDS) {
    const ends = calls.filter((call) => call[1] === name);
    if (ends.length > 0)
      return questions(
        store,
        ends.map(([, , args]) => args),
      );
  }
  return calls.flatMap(([, name, args]) => {
    if (name === 'claimRuns') return claimQuestions(store, args[0] as ClaimRunsOptions);
    if (name === 'claimOutbox') return outboxQuestions(args[0] as ClaimOutboxOptions);
    return name === 'pruneSlice' ? pruneQuestions(...(args as PruneArguments)) : [];
  });
}

export interface ExecutorOptions {
  readonly limits: AcceptLimits;
  /** The name under which this process claims work. */
  readonly holder: string;
  /** Says what to do about an error of the database. */
  explain(error: unknown): StorageError;
  /** Whether the store can be written just now, without waiting for others. */
  probe?(sql: Statements): void;
  /** Set for a performer. */
  readonly health?: HealthMonitor;
}

/** What takes up work. It is refused where the file was moved away; what is under way still ends in that file. */
const BEGINNING: ReadonlySet<OperationName> = new Set<OperationName>([
  'acceptRequest',
  'claimRuns',
  'claimOutbox',
  'claimEvents',
]);

/**
 * Executes batches: everything that writes shares one transaction. Where one fails, all are done again, each in a
 * transaction of its own, so that it fails alone; a failed commit fails them all. What reads comes after the commit, so
 * it never answers with something that might still be taken back.
 */
export class BatchExecutor {
  readonly #options: ExecutorOptions;
  readonly #sql: Statements;
  /** Made once: a text is looked up by its letters. */
  readonly #selectCounters: string;
  /** As they were stored when the transaction began; the operations change those of the store. */
  #stored = {} as Counters;
  readonly #store: Store;
  readonly #health: HealthMonitor | undefined;
  readonly #writes: Readonly<Record<string, AnyOperation>> = WRITES as object as Record<string, AnyOperation>;
  readonly #reads: Readonly<Record<string, AnyOperation>> = READS as object as Record<string, AnyOperation>;

  constructor(sql: Statements, options: ExecutorOptions) {
    this.#options = options;
    this.#health = options.health;
    this.#sql = sql;
    this.#selectCounters = selectCounters(sql);
    const { limits, holder } = options;
    this.#store = { sql, counters: {} as Counters, limits, holder, reserved: new Map() };
  }

  onHealthChange(listener: (trouble: StorageError | undefined) => void): void {
    this.#health?.onChange(listener);
  }

  run(batch: readonly OperationCall[]): Replies {
    const toWrite = batch.filter(([, name]) => this.#writes[name] !== undefined);
    const replies = toWrite.length === 0 ? [] : this.#writeWhereFound(toWrite);
    if (toWrite.length === batch.length) return replies;
    for (const call of batch) if (this.#writes[call[1]] === undefined) replies.push(...this.#read(call));
    return replies;
  }

  #read([id, name, args]: OperationCall): Replies {
    try {
      return [id, 0, this.#reads[name]?.(this.#store, ...args)];
    } catch (error) {
      return [id, 1, this.#serialize(error)];
    }
  }

  /** Sees whether a store that could not be written, or was not found any more, is well again. */
  checkHealth(): void {
    const { trouble } = this.#health ?? {};
    if (this.#health?.findReplaced() === undefined && trouble !== undefined)
      this.#health?.note(this.#probe());
  }

  #probe(): StorageError | undefined {
    try {
      this.#options.probe?.(this.#sql);
      return undefined;
    } catch (error) {
      return this.#options.explain(error);
    }
  }

  #serialize(error: unknown): SerializedError {
    return serializeError(error, this.#options.explain);
  }

  #writeWhereFound(calls: readonly OperationCall[]): Replies {
    const replaced = this.#health?.findReplaced();
    if (replaced === undefined) return this.#writeInTransaction(calls);
    const refusal = this.#serialize(replaced);
    // A store that has lost a part of itself takes nothing more.
    const isRefused = ([, name]: OperationCall): boolean =>
      replaced.code === 'corrupt' || BEGINNING.has(name);
    const refused = calls.filter(isRefused);
    const rest = calls.filter((call) => !isRefused(call));
    const replies = rest.length === 0 ? [] : this.#writeInTransaction(rest);
    for (const [id] of refused) replies.push(id, 1, refusal);
    return replies;
  }

  /** A full disk has space for a small write now and then: only the probe, which asks for more, says that it is well. */
  #noteWell(): void {
    const code = this.#health?.trouble?.code;
    if (code !== 'replaced' && code !== 'disk_full') this.#health?.note(undefined);
  }

  #writeInTransaction(calls: readonly OperationCall[], isAgain = false): Replies {
    try {
      const replies = this.#writeTogether(calls);
      this.#noteWell();
      return replies;
    } catch (error) {
      if (this.#sql.isTransaction) this.#sql.run('ROLLBACK');
      const isOfOne = error instanceof OneFailed;
      if (isOfOne && calls.length > 1) return calls.flatMap((call) => this.#writeInTransaction([call]));
      if (error instanceof BrokenTransaction && !isAgain) return this.#writeInTransaction(calls, true);
      const trouble = this.#options.explain(isOfOne ? error.cause : error);
      // What fails alone says nothing of the store.
      if (!isOfOne) this.#health?.note(trouble);
      const failure = this.#serialize(trouble);
      return calls.flatMap(([id]) => [id, 1, failure]);
    }
  }

  #writeTogether(calls: readonly OperationCall[]): Replies {
    this.#store.reserved.clear();
    // With what is stored, since another process may have written.
    this.#stored = this.#sql.begin(this.#selectCounters, () => [
      ...reservationQuestions(requestsOf(calls)),
      ...firstQuestions(this.#store, calls),
    ]) as Counters;
    Object.assign(this.#store.counters, this.#stored);
    const replies: Replies = [];
    try {
      lookUpReservations(this.#store, requestsOf(calls));
      replies.push(...this.#writeEnds(calls));
      for (const call of replies.length === 0 ? calls : without(calls, replies))
        replies.push(...this.#write(call));
    } catch (error) {
      // A full disk may have ended the transaction; then there is nothing to begin again.
      throw this.#sql.isTransaction ? new OneFailed('', { cause: error }) : error;
    }
    this.#sql.commit(this.#changes());
    return replies;
  }

  /** How the counters changed, by differences, as a part of the totals may be counted elsewhere. */
  #changes(): SqlQuestion | readonly [] {
    const { counters } = this.#store;
    if (COUNTER_FIELDS.every((field) => counters[field] === this.#stored[field])) return [];
    const { heartbeatAt } = counters;
    const changeOf = (field: keyof Counters): number | null =>
      field === 'heartbeatAt' ? heartbeatAt : counters[field] - this.#stored[field];
    return [COUNTER_UPDATE, ...COUNTER_FIELDS.map(changeOf)];
  }

  /** What is refused has changed nothing: it was looked at before. */
  #write([id, name, args]: OperationCall): Replies {
    try {
      return [id, 0, this.#writes[name]?.(this.#store, ...args)];
    } catch (error) {
      if (error instanceof HookError) return [id, 1, this.#serialize(error)];
      throw error;
    }
  }

  /** What ends goes together, before all else: the space that it frees may be used by the rest. */
  #writeEnds(calls: readonly OperationCall[]): Replies {
    const replies: Replies = [];
    for (const { name, end } of ENDS) {
      const ends = calls.filter((call) => call[1] === name);
      if (ends.length === 0) continue;
      const results = end(
        this.#store,
        ends.map(([, , args]) => args),
      );
      for (const [index, [id]] of ends.entries()) replies.push(id, 0, results[index]);
    }
    return replies;
  }
}

function without(calls: readonly OperationCall[], replies: Replies): readonly OperationCall[] {
  const answered = new Set(replies.filter((_, index) => index % 3 === 0));
  return calls.filter(([id]) => !answered.has(id));
}

/** What the thread of a store tells its client. */
export type WorkerMessage =
  | {
      readonly kind: 'opened';
      readonly operations: readonly OperationName[];
      /** What the operator should know. */
      readonly notice?: string;
    }
  | { readonly kind: 'refused'; readonly error: SerializedError }
  | { readonly kind: 'replies'; readonly replies: Replies }
  | { readonly kind: 'outside-change' }
  /** The store can be written again, or no longer and why. */
  | { readonly kind: 'health'; readonly trouble?: SerializedError };

/** What its client tells it. Who gives up waits no more for requests that came before. */
type Message = readonly OperationCall[] | 'close' | 'give up';

export function postMessage(message: WorkerMessage): void {
  parentPort?.postMessage(message);
}

/** The store cannot be opened. */
export function refuse(error: StorageError): void {
  postMessage({ kind: 'refused', error: serializeError(error, () => error) });
  parentPort?.close();
}

export interface BatchHooks {
  /** What the operator should know. */
  readonly notice?: string | undefined;
  /** Called after the answers of a batch have gone. */
  readonly onAnswered?: () => void;
}

/**
 * Answers calls until the client closes. While one batch is being synced the next ones gather in the port; all of
 * them are then taken at once. That is the whole of group commit.
 */
export function serveBatches(
  executor: BatchExecutor,
  onClose: () => void,
  { notice, onAnswered }: BatchHooks = {},
): void {
  const port = parentPort;
  if (port === null) throw new Error('a store runs in a worker thread only');
  executor.onHealthChange((trouble) =>
    postMessage({ kind: 'health', ...(trouble && { trouble: serializeError(trouble, () => trouble) }) }),
  );
  const next = (): Message | undefined => receiveMessageOnPort(port)?.message as Message | undefined;
  port.on('message', (first: Message) => {
    let batch: OperationCall[] = [];
    let isClosing = false;
    for (let message: Message | undefined = first; message !== undefined; message = next()) {
      if (message === 'close') isClosing = true;
      else if (message === 'give up') batch = withoutRequests(batch);
      else batch.push(...message);
    }
    if (batch.length > 0) {
      postMessage({ kind: 'replies', replies: executor.run(batch) });
      onAnswered?.();
    }
    if (!isClosing) return;
    onClose();
    port.close();
  });
  postMessage({ kind: 'opened', operations: OPERATION_NAMES, ...(notice === undefined ? {} : { notice }) });
}

const GIVEN_UP = new StorageError('unreachable', 'nobody waits for it any more');

function withoutRequests(batch: readonly OperationCall[]): OperationCall[] {
  const isRequest = ([, name]: OperationCall): boolean => name === 'acceptRequest';
  const failure = serializeError(GIVEN_UP, () => GIVEN_UP);
  const replies = batch.filter(isRequest).flatMap(([id]) => [id, 1, failure]);
  postMessage({ kind: 'replies', replies });
  return batch.filter((call) => !isRequest(call));
}
