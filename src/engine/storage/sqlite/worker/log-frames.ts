import { readSync } from 'node:fs';
import { endianness } from 'node:os';
import type { DatabaseSync } from 'node:sqlite';

/** The version of SQLite that can tell how far checkpoints are without making one. */
const COUNTS_SINCE = [3, 51] as const;

/** Pages in the log, and how many of them are copied into the store. */
export interface LogPages {
  readonly log: number;
  readonly checkpointed: number;
}

/** Undefined where the store cannot be asked: this SQLite would make a checkpoint, or the store is being replaced. */
export type CountPages = () => LogPages | undefined;

/**
 * Makes what counts the pages in the log; takes some microseconds. SQLite is asked: to read its files would break them,
 * as closing a file ends all locks that this process has on it (sqlite.org/howtocorrupt.html, "Posix advisory locks
 * canceled by a separate thread doing close()").
 */
export function createPageCounter(database: DatabaseSync): CountPages {
  const { version } = database.prepare('SELECT sqlite_version() AS version').get() as { version: string };
  const [major = 0, minor = 0] = version.split('.').map(Number);
  if (major < COUNTS_SINCE[0] || (major === COUNTS_SINCE[0] && minor < COUNTS_SINCE[1]))
    return () => undefined;
  const statement = database.prepare('PRAGMA wal_checkpoint(NOOP)');
  return () => {
    try {
      return statement.get() as object as LogPages;
    } catch {
      return undefined;
    }
  };
}

/*
 * Reads the log as SQLite does when it recovers a store: up to the first frame that does not fit. Each frame has a sum
 * over itself and all before it (sqlite.org/fileformat.html, "The Write-Ahead Log"). A store that is open does not read
 * them again, so it would not notice that its newest work will not be found at the next start.
 */

const HEADER_BYTES = 32;
const FRAME_BYTES = 24;
/** Ends in 1 where the highest byte of each summed word comes first. */
const MAGIC = 0x37_7f_06_82;
/** Read at once, into the same memory: new memory for each read took as long as the read. */
const READ_BYTES = 256 * 1024;

type Sums = readonly [number, number];

/** A reading that goes on where it stopped: a whole log takes some 20 ms. */
export class LogFrames {
  readonly #log: number;
  readonly #buffer = Buffer.allocUnsafeSlow(READ_BYTES);
  #header: Buffer = Buffer.alloc(0);
  #sums: Sums = [0, 0];
  #read = 0;

  constructor(log: number) {
    this.#log = log;
  }

  get read(): number {
    return this.#read;
  }

  /** Begins with the first frame again. */
  rewind(): void {
    this.#header = this.#readAt(0, HEADER_BYTES);
    this.#read = 0;
    const part = { from: 0, to: HEADER_BYTES - 8 };
    this.#sums = this.#isLog ? add([0, 0], this.#wordsOf(this.#header), part) : [0, 0];
  }

  /** Reads on up to this number of frames; false where one does not fit. */
  readTo(count: number): boolean {
    if (this.#read > count || !this.#readAt(0, HEADER_BYTES).equals(this.#header)) this.rewind();
    if (!this.#isLog) return count === 0;
    const bytes = FRAME_BYTES + this.#header.readUInt32BE(8);
    while (this.#read < count) {
      const many = Math.min(Math.floor(READ_BYTES / bytes), count - this.#read);
      const frames = this.#readAt(HEADER_BYTES + this.#read * bytes, many * bytes, this.#buffer);
      const words = this.#wordsOf(frames);
      for (let from = 0; from < many * bytes; from += bytes, this.#read += 1) {
        if (from + bytes > frames.length || frames.compare(this.#header, 16, 24, from + 8, from + 16) !== 0)
          return false;
        const head = add(this.#sums, words, { from, to: from + 8 });
        this.#sums = add(head, words, { from: from + FRAME_BYTES, to: from + bytes });
        if (
          this.#sums[0] !== frames.readInt32BE(from + 16) ||
          this.#sums[1] !== frames.readInt32BE(from + 20)
        )
          return false;
      }
    }
    return true;
  }

  get #isLog(): boolean {
    return this.#header.length === HEADER_BYTES && (this.#header.readUInt32BE(0) & ~1) === MAGIC;
  }

  /** In the order that the sums are over. */
  #wordsOf(bytes: Buffer): Int32Array {
    const isHighFirst = (this.#header.readUInt32BE(0) & 1) === 1;
    const whole = bytes.subarray(0, bytes.length - (bytes.length % 4));
    const ordered = isHighFirst === (endianness() === 'BE') ? whole : Buffer.from(whole).swap32();
    return new Int32Array(ordered.buffer, ordered.byteOffset, ordered.length / 4);
  }

  #readAt(at: number, bytes: number, buffer = Buffer.allocUnsafeSlow(bytes)): Buffer {
    return buffer.subarray(0, readSync(this.#log, buffer, 0, bytes, at));
  }
}

/** The sums of SQLite, over pairs of words; signed, as V8 adds words of 32 bits as they are. */
function add([first, second]: Sums, words: Int32Array, { from, to }: Record<'from' | 'to', number>): Sums {
  let [a, b] = [first, second];
  for (let at = from >> 2; at < to >> 2; at += 2) {
    a = (a + (words[at] as number) + b) | 0;
    b = (b + (words[at + 1] as number) + a) | 0;
  }
  return [a, b];
}
