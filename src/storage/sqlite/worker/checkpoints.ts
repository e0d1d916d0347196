import { extname } from 'node:path';
import type { DatabaseSync } from 'node:sqlite';
import { Worker } from 'node:worker_threads';
import { canCountPages, createPageCounter } from './log-pages.ts';

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
/** Pages at which SQLite makes the next commit copy them all; only reached where the thread cannot keep up. */
const LAST_RESORT_PAGES = 16_000;
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
  /** Undefined where this SQLite cannot count: then its own checkpoints stay as they are. */
  readonly #countPages: (() => number) | undefined;
  #thread: { readonly worker: Worker; readonly cells: Int32Array } | undefined;
  #isCopying = false;
  #notBefore = 0;
  #idleTimer: NodeJS.Timeout | undefined;

  constructor(database: DatabaseSync, file: string) {
    this.#database = database;
    this.#file = file;
    if (!canCountPages(database)) return;
    this.#countPages = createPageCounter(database);
    database.exec(`PRAGMA wal_autocheckpoint = ${LAST_RESORT_PAGES}`);
  }

  /** To be called after every commit; takes some microseconds where nothing is to do. */
  noteCommit(): void {
    if (this.#isCopying || this.#countWaiting() < WORTH_PAGES) return;
    if (performance.now() < this.#notBefore) return;
    this.#isCopying = true;
    clearTimeout(this.#idleTimer);
    this.#thread ??= this.#start();
    this.#thread.worker.postMessage('copy');
  }

  #countWaiting(): number {
    try {
      return this.#countPages?.() ?? 0;
    } catch {
      // A store that is being replaced or has no space left: nothing to copy now.
      return 0;
    }
  }

  #start(): { readonly worker: Worker; readonly cells: Int32Array } {
    const cells = new Int32Array(new SharedArrayBuffer(8));
    const input: CheckpointInput = { file: this.#file, cells };
    const entry = new URL(`checkpoint-thread${extname(import.meta.url)}`, import.meta.url);
    const worker = new Worker(entry, { workerData: input, name: 'checkpoints' });
    worker.unref();
    worker.on('message', () => this.#finish());
    worker.on('error', () => this.#lose(worker));
    return { worker, cells };
  }

  /** The thread failed: another one is tried later. */
  #lose(worker: Worker): void {
    if (this.#thread?.worker !== worker) return;
    this.#thread = undefined;
    this.#isCopying = false;
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
