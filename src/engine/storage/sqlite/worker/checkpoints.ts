import { extname } from 'node:path';
import type { DatabaseSync } from 'node:sqlite';
import { Worker } from 'node:worker_threads';
import { LAST_RESORT_PAGES } from './database-file.ts';
import type { CountPages, LogPages } from './log-pages.ts';

/** What the thread that copies is given. */
export interface CheckpointInput {
  readonly file: string;
  /** Shared with the storage thread: one number for each of `CELLS`. */
  readonly cells: Int32Array;
}

/** What the two threads tell each other without a message; 1 means yes. */
export const CELLS = { closing: 0, closed: 1 } as const;

/** Pages in the log (4 KB each) that are worth a checkpoint. */
const WORTH_PAGES = 2000;
/** Pages that the storage thread copies itself: one write and one sync, about as long as a commit. */
export const NEARLY_ALL_PAGES = 256;
/** After a checkpoint that another process held up, or for which the disk had no room. */
const RETRY_MS = 1000;
const IDLE_MS = 30_000;
const CLOSE_TIMEOUT_MS = 10_000;

/**
 * Checkpoints of the storage thread's log that no commit waits for. A thread copies nearly all pages while commits go
 * on; the storage thread copies what is left, and the next commit begins the log anew. The thread is there while there
 * is work for it.
 */
export class Checkpoints {
  readonly #database: DatabaseSync;
  readonly #file: string;
  readonly #countPages: CountPages;
  #thread: { readonly worker: Worker; readonly cells: Int32Array } | undefined;
  #isCopying = false;
  #notBefore = 0;
  #idleTimer: NodeJS.Timeout | undefined;
  #ended = 0;
  #isSpoilt = false;

  /** Where this SQLite cannot count pages its own checkpoints stay as they are. */
  constructor(database: DatabaseSync, file: string, countPages: CountPages) {
    this.#database = database;
    this.#file = file;
    this.#countPages = countPages;
    if (countPages() === undefined) return;
    database.exec(`PRAGMA wal_autocheckpoint = ${LAST_RESORT_PAGES}`);
  }

  /** Whether pages are being copied just now; then nothing can be said of what is written to the store. */
  isCopying({ log, checkpointed }: LogPages): boolean {
    return this.#isCopying || log - checkpointed >= LAST_RESORT_PAGES;
  }

  /** Whether the log was found to be not as SQLite wrote it; nothing of it is copied. */
  get isSpoilt(): boolean {
    return this.#isSpoilt;
  }

  /** How often pages were copied, with or without success. */
  get ended(): number {
    return this.#ended;
  }

  /** To be told of every commit. */
  noteCommit({ log, checkpointed }: LogPages): void {
    if (this.#isCopying || log - checkpointed < WORTH_PAGES) return;
    if (performance.now() < this.#notBefore) return;
    this.#isCopying = true;
    clearTimeout(this.#idleTimer);
    this.#thread ??= this.#start();
    this.#thread.worker.postMessage('copy');
  }

  #countWaiting(): number {
    const { log, checkpointed } = this.#countPages() ?? { log: 0, checkpointed: 0 };
    return log - checkpointed;
  }

  #start(): { readonly worker: Worker; readonly cells: Int32Array } {
    const cells = new Int32Array(new SharedArrayBuffer(8));
    const input: CheckpointInput = { file: this.#file, cells };
    const entry = new URL(`checkpoint-thread${extname(import.meta.url)}`, import.meta.url);
    const worker = new Worker(entry, { workerData: input, name: 'checkpoints' });
    worker.unref();
    worker.on('message', (message: 'copied' | 'spoilt') => {
      if (message === 'copied') this.#finish();
      else this.#isSpoilt = true;
    });
    worker.on('error', () => this.#lose(worker));
    return { worker, cells };
  }

  /** The thread failed: another one is tried later. */
  #lose(worker: Worker): void {
    if (this.#thread?.worker !== worker) return;
    this.#thread = undefined;
    this.#isCopying = false;
    this.#ended += 1;
    this.#notBefore = performance.now() + RETRY_MS;
  }

  #finish(): void {
    if (this.#thread === undefined) return;
    try {
      if (this.#countWaiting() <= 2 * NEARLY_ALL_PAGES) this.#database.exec('PRAGMA wal_checkpoint(PASSIVE)');
    } catch {
      // A full disk; commits go on in the log while there is room.
    }
    this.#isCopying = false;
    this.#ended += 1;
    if (this.#countWaiting() >= WORTH_PAGES) this.#notBefore = performance.now() + RETRY_MS;
    this.#idleTimer = setTimeout(() => this.close(), IDLE_MS).unref();
  }

  /** Ends the thread, before the store is closed: the storage thread's connection is the last one then, which removes the log. */
  close(): void {
    clearTimeout(this.#idleTimer);
    if (this.#thread === undefined) return;
    const { worker, cells } = this.#thread;
    this.#thread = undefined;
    this.#isCopying = false;
    Atomics.store(cells, CELLS.closing, 1);
    worker.postMessage('close');
    Atomics.wait(cells, CELLS.closed, 0, CLOSE_TIMEOUT_MS);
  }
}
