import { Worker } from 'node:worker_threads';
import type { AcceptLimits } from '../worker/sqlite-accept.ts';
import type { Argument, OperationName, ReplyWire, RequestWire, Result } from '../worker/sqlite-engine.ts';
import { type ErrorWire, explainSqliteError, fromErrorWire, toErrorWire } from '../sqlite-errors.ts';
import type { WorkerInput, WorkerMessage } from '../worker/sqlite-worker.ts';
import { StorageError } from '../../storage-error.ts';

interface Pending {
  readonly resolve: (value: never) => void;
  readonly reject: (error: Error) => void;
}

export interface ClientOptions {
  readonly file: string;
  readonly mode: 'performer' | 'beside';
  readonly fsync: boolean;
  readonly limits: AcceptLimits;
}

/** The main thread's end of the storage worker: requests of one turn of the event loop go over in one message. */
export class SqliteClient {
  readonly #worker: Worker;
  readonly #file: string;
  readonly #pending = new Map<number, Pending>();
  readonly #outsideListeners: (() => void)[] = [];
  readonly #failureListeners: ((error: StorageError) => void)[] = [];
  #outgoing: RequestWire[] = [];
  #nextId = 1;
  #ended: StorageError | undefined;
  #closing: Promise<void> | undefined;

  private constructor(worker: Worker, file: string) {
    this.#worker = worker;
    this.#file = file;
  }

  static open(options: ClientOptions): Promise<SqliteClient> {
    const entry = new URL(
      import.meta.url.endsWith('.ts') ? '../worker/sqlite-worker.ts' : '../worker/sqlite-worker.js',
      import.meta.url,
    );
    const worker = new Worker(entry, { workerData: options satisfies WorkerInput, name: 'storage' });
    const client = new SqliteClient(worker, options.file);
    return new Promise((resolve, reject) => {
      worker.on('message', (message: WorkerMessage) => {
        switch (message.kind) {
          case 'opened':
            resolve(client);
            return;
          case 'refused':
            reject(fromErrorWire(message.error));
            return;
          case 'replies':
            client.#settle(message.replies);
            return;
          case 'outside-change':
            for (const listener of client.#outsideListeners) listener();
        }
      });
      worker.on('error', (error) => {
        const failure = explainSqliteError(error, options.file);
        reject(failure);
        client.#fail(failure);
      });
      worker.on('exit', () => {
        const failure = new StorageError('failed', `${options.file}: the storage thread has ended`);
        reject(failure);
        client.#fail(failure);
      });
    });
  }

  /** Hands one operation over. The error of the rejection is as the engine made it. */
  call<Name extends OperationName>(name: Name, argument: Argument<Name>): Promise<Result<Name>> {
    return new Promise((resolve, reject) => this.send(name, argument, { resolve, reject }));
  }

  /** As `call`, for callers that make the promise themselves. */
  send<Name extends OperationName>(
    name: Name,
    argument: Argument<Name>,
    settle: { readonly resolve: (value: Result<Name>) => void; readonly reject: (error: Error) => void },
  ): void {
    const refusal = this.#closing ? new StorageError('closed', `${this.#file}: is closed`) : this.#ended;
    if (refusal !== undefined) {
      settle.reject(refusal);
      return;
    }
    const id = this.#nextId++;
    this.#pending.set(id, settle);
    if (this.#outgoing.length === 0) setImmediate(() => this.#post());
    this.#outgoing.push([id, name, argument]);
  }

  onOutsideChange(listener: () => void): void {
    this.#outsideListeners.push(listener);
  }

  onFailure(listener: (error: StorageError) => void): void {
    this.#failureListeners.push(listener);
  }

  close(): Promise<void> {
    this.#closing ??= this.#ended === undefined ? this.#end() : Promise.resolve();
    return this.#closing;
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
      for (const request of batch) this.#postAlone(request);
    }
  }

  #postAlone(request: RequestWire): void {
    try {
      this.#worker.postMessage([request]);
    } catch (error) {
      this.#settle([request[0], 1, toErrorWire(error, this.#file)]);
    }
  }

  #settle(replies: ReplyWire): void {
    for (let index = 0; index < replies.length; index += 3) {
      const id = replies[index] as number;
      const pending = this.#pending.get(id);
      this.#pending.delete(id);
      if (replies[index + 1] === 0) pending?.resolve(replies[index + 2] as never);
      else pending?.reject(fromErrorWire(replies[index + 2] as ErrorWire));
    }
  }

  #fail(error: StorageError): void {
    if (this.#ended !== undefined) return;
    this.#ended = error;
    for (const { reject } of this.#pending.values()) reject(error);
    this.#pending.clear();
    if (this.#closing !== undefined) return;
    for (const listener of this.#failureListeners) listener(error);
  }
}
