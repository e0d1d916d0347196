import { HookError } from '../../../base/errors.ts';
import { freshResult, prepareRequest, preparedBytes } from '../prepared-request.ts';
import type { AcceptedWork, AcceptResult } from '../records.ts';
import { StorageError } from '../storage-error.ts';
import { unavailable } from '../statements/serialized-error.ts';
import type { RemoteOperations } from '../statements/statement-table.ts';

/** Requests and bytes that wait for a commit at most; beyond them a sender is told at once. */
const MAX_WAITING = 1000;
const MAX_WAITING_BYTES = 64 * 1024 * 1024;

/** How often it is looked whether a store still answers. */
const LOOK_MS = 1_000;
/** Looks, and so about seconds, that a sender waits at most: longer than a write waits for a lock, which is 5 s. */
const MAX_LOOKS = 10;
/** Between two tries whether it answers again. */
const RETRY_MS = 400;

export interface AcceptStore extends Pick<RemoteOperations, 'acceptRequest' | 'flush'> {
  readonly place: string;
  /** What was not begun is not stored any more. */
  giveUp(trouble: StorageError): void;
  /** It answers again. */
  resume(): void;
}

interface Waiting {
  /** How many looks there had been. */
  readonly since: number;
  reject(trouble: StorageError): void;
}

/**
 * Hands over what senders wait for, and refuses more than can wait. Where the store does not answer in time, all who
 * wait are told so, and those who come are refused at once until it answers. Time is counted in looks: a process that
 * was itself stopped for a while blames nobody.
 */
export class AcceptQueue {
  readonly #store: AcceptStore;
  readonly #waiting = new Set<Waiting>();
  #waitingBytes = 0;
  #looks = 0;
  #timer: NodeJS.Timeout | undefined;
  #trouble: StorageError | undefined;

  constructor(store: AcceptStore) {
    this.#store = store;
  }

  async accept(work: AcceptedWork): Promise<AcceptResult> {
    const result = freshResult(work);
    const request = prepareRequest(work, result);
    const bytes = preparedBytes(request);
    this.#checkRoom(bytes);
    this.#waitingBytes += bytes;
    try {
      const repeated = await this.inTime(() => this.#store.acceptRequest(request));
      return repeated === null ? result : (JSON.parse(repeated) as AcceptResult);
    } catch (error) {
      throw error instanceof StorageError ? unavailable(error) : error;
    } finally {
      this.#waitingBytes -= bytes;
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
    const said = `${this.#store.place}: the store has not answered for ${MAX_LOOKS} s; it is tried again by itself`;
    this.#refuseAll(new StorageError('unreachable', said));
  }

  /** Those who wait, and those who come until the store answers again. */
  #refuseAll(trouble: StorageError): void {
    if (this.#trouble === undefined) {
      this.#trouble = trouble;
      this.#store.giveUp(trouble);
      void this.#tryAgain();
    }
    for (const { reject } of this.#waiting) reject(trouble);
    this.#waiting.clear();
  }

  async #tryAgain(): Promise<void> {
    try {
      await this.#store.flush();
    } catch (error) {
      if (isUnreachable(error)) return void setTimeout(() => void this.#tryAgain(), RETRY_MS).unref();
    }
    this.#trouble = undefined;
    this.#store.resume();
  }

  #checkRoom(bytes: number): void {
    const isFull = this.#waiting.size > 0 && this.#waitingBytes + bytes > MAX_WAITING_BYTES;
    if (!isFull && this.#waiting.size < MAX_WAITING) return;
    throw new HookError('storage_unavailable', 'too many requests wait for the store', {
      retryAfterSeconds: 1,
    });
  }
}

function isUnreachable(error: unknown): error is StorageError {
  return error instanceof StorageError && error.code === 'unreachable';
}
