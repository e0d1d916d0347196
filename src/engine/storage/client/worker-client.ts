import { Worker } from 'node:worker_threads';
import type { WorkerMessage } from '../statements/batch-executor.ts';
import type {
  OperationCall,
  OperationName,
  RemoteOperations,
  Replies,
} from '../statements/statement-table.ts';
import {
  deserializeError,
  type SerializedError,
  serializeError,
  StorageError,
  storageErrorOf,
  type StorageHealth,
} from '../storage-error.ts';

export interface WorkerOptions {
  readonly entry: URL;
  readonly input: object;
  /** How messages name the store. */
  readonly place: string;
  explain(error: unknown): StorageError;
  /** Hears what the operator should know of the store. */
  onNotice?(notice: string): void;
}

interface Pending {
  readonly resolve: (result: unknown) => void;
  readonly reject: (error: Error) => void;
}

/**
 * Calls that gather before they go over. With more of them the two threads take turns under load: each waits while the
 * other works off all connections at once.
 */
const MAX_GATHERED = 16;

/** The main thread's end of the storage worker: calls of one turn of the event loop go over together. */
export class WorkerClient {
  /** A method for every operation of the worker. An error of a rejection is as the executor made it. */
  readonly operations: RemoteOperations;
  readonly #worker: Worker;
  readonly #options: WorkerOptions;
  readonly #pending = new Map<number, Pending>();
  readonly #outsideListeners: (() => void)[] = [];
  readonly #healthListeners: ((health: StorageHealth) => void)[] = [];
  readonly #failureListeners: ((error: StorageError) => void)[] = [];
  #health: StorageHealth = { kind: 'ok' };
  /** What the thread says of the store, and what is said of a thread or a store that does not answer. */
  #trouble: StorageError | undefined;
  #hang: StorageError | undefined;
  #outgoing: OperationCall[] = [];
  #nextId = 1;
  #ended: StorageError | undefined;
  #closing: Promise<void> | undefined;

  private constructor(worker: Worker, options: WorkerOptions, names: readonly OperationName[]) {
    this.#worker = worker;
    this.#options = options;
    const method = (name: OperationName) => [name, (...args: unknown[]) => this.#call(name, args)] as const;
    this.operations = Object.fromEntries(names.map(method)) as object as RemoteOperations;
    worker.on('message', (message: WorkerMessage) => this.#receive(message));
    worker.on('error', (error) => this.#fail(options.explain(error)));
    worker.on('exit', () => this.#fail(endedEarly(options)));
  }

  static open(options: WorkerOptions): Promise<WorkerClient> {
    const worker = new Worker(options.entry, { workerData: options.input, name: 'storage' });
    return new Promise((resolve, reject) => {
      worker.once('message', (message: WorkerMessage) => {
        if (message.kind === 'opened') {
          if (message.notice !== undefined) options.onNotice?.(message.notice);
          resolve(new WorkerClient(worker, options, message.operations));
        }
        if (message.kind === 'refused') reject(deserializeError(message.error));
      });
      worker.once('error', (error) => reject(options.explain(error)));
      worker.once('exit', () => reject(endedEarly(options)));
    });
  }

  onOutsideChange(listener: () => void): void {
    this.#outsideListeners.push(listener);
  }

  get place(): string {
    return this.#options.place;
  }

  get health(): StorageHealth {
    return this.#health;
  }

  onHealthChange(listener: (health: StorageHealth) => void): void {
    this.#healthListeners.push(listener);
  }

  onFailure(listener: (error: StorageError) => void): void {
    this.#failureListeners.push(listener);
  }

  /** The store does not answer: requests that the thread has not begun are not stored any more. */
  giveUp(trouble: StorageError): void {
    this.#post();
    this.#worker.postMessage('give up');
    this.#hang = trouble;
    this.#tellHealth();
  }

  /** Called when the thread answers again. Work that was under way may have been stored without an answer. */
  resume(): void {
    this.#hang = undefined;
    this.#tellHealth();
    for (const listener of this.#outsideListeners) listener();
  }

  close(): Promise<void> {
    this.#closing ??= this.#ended === undefined ? this.#end() : Promise.resolve();
    return this.#closing;
  }

  #call(name: OperationName, args: readonly unknown[]): Promise<unknown> {
    const refusal = this.#closing
      ? new StorageError('closed', `${this.#options.place}: is closed`)
      : this.#ended;
    if (refusal !== undefined) return Promise.reject(refusal);
    return new Promise((resolve, reject) => {
      const id = this.#nextId++;
      this.#pending.set(id, { resolve, reject });
      if (this.#outgoing.push([id, name, args]) === 1) setImmediate(() => this.#post());
      if (this.#outgoing.length === MAX_GATHERED) this.#post();
    });
  }

  #end(): Promise<void> {
    const exited = new Promise<void>((resolve) => this.#worker.once('exit', () => resolve()));
    this.#post();
    this.#worker.postMessage('close');
    return exited;
  }

  #post(): void {
    if (this.#outgoing.length === 0) return;
    const batch = this.#outgoing;
    this.#outgoing = [];
    try {
      this.#worker.postMessage(batch);
    } catch {
      // Something in it cannot be copied between threads: that one fails, the others go.
      for (const call of batch) this.#postAlone(call);
    }
  }

  #postAlone(call: OperationCall): void {
    try {
      this.#worker.postMessage([call]);
    } catch (error) {
      this.#settle([call[0], 1, serializeError(error, this.#options.explain)]);
    }
  }

  #receive(message: WorkerMessage): void {
    if (message.kind === 'replies') this.#settle(message.replies);
    if (message.kind === 'outside-change') for (const listener of this.#outsideListeners) listener();
    if (message.kind === 'health') {
      this.#trouble = message.trouble && storageErrorOf(message.trouble);
      this.#tellHealth();
    }
  }

  #tellHealth(): void {
    const trouble = this.#ended ?? this.#trouble ?? this.#hang;
    if (trouble?.code === (this.#health.kind === 'ok' ? undefined : this.#health.code)) return;
    this.#health =
      trouble === undefined
        ? { kind: 'ok' }
        : { kind: 'unavailable', code: trouble.code, message: trouble.message, since: Date.now() };
    for (const listener of this.#healthListeners) listener(this.#health);
  }

  #settle(replies: Replies): void {
    for (let index = 0; index < replies.length; index += 3) {
      const id = replies[index] as number;
      const pending = this.#pending.get(id);
      this.#pending.delete(id);
      if (replies[index + 1] === 0) pending?.resolve(replies[index + 2]);
      else pending?.reject(deserializeError(replies[index + 2] as SerializedError));
    }
  }

  #fail(error: StorageError): void {
    if (this.#ended !== undefined) return;
    this.#ended = error;
    for (const { reject } of this.#pending.values()) reject(error);
    this.#pending.clear();
    if (this.#closing !== undefined) return;
    this.#tellHealth();
    for (const listener of this.#failureListeners) listener(error);
  }
}

/** What a store needs of its client, wherever the operations run. */
export type StoreClient = Pick<WorkerClient, keyof WorkerClient>;

function endedEarly({ place }: WorkerOptions): StorageError {
  return new StorageError('failed', `${place}: the storage thread has ended`);
}
