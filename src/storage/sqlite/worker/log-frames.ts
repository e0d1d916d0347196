import { readSync } from 'node:fs';
import { endianness } from 'node:os';

/*
 * Reads the log as SQLite does when it recovers a store: up to the first frame that does not fit. Each frame has a sum
 * over itself and all before it (sqlite.org/fileformat.html, "The Write-Ahead Log"). A store that is open does not read
 * them again, so it would not notice that its newest work will not be found at the next start.
 */

const HEADER_BYTES = 32;
const FRAME_BYTES = 24;
/** Ends in 1 where the highest byte of each summed word comes first. */
const MAGIC = 0x37_7f_06_82;
const FRAMES_AT_ONCE = 64;

type Sums = readonly [number, number];

/** A reading that goes on where it stopped: a whole log takes some 20 ms. */
export class LogFrames {
  readonly #log: number;
  #header: Buffer = Buffer.alloc(0);
  #sums: Sums = [0, 0];
  #read = 0;

  constructor(log: number) {
    this.#log = log;
  }

  /** How many frames were read. */
  get read(): number {
    return this.#read;
  }

  /** Begins with the first frame again. */
  rewind(): void {
    this.#header = this.#readAt(0, HEADER_BYTES);
    this.#read = 0;
    this.#sums = this.#isLog ? this.#add([0, 0], this.#header, { from: 0, to: HEADER_BYTES - 8 }) : [0, 0];
  }

  /** Reads on up to this number of frames; false where one does not fit. */
  readTo(count: number): boolean {
    if (this.#read > count || !this.#readAt(0, HEADER_BYTES).equals(this.#header)) this.rewind();
    if (!this.#isLog) return count === 0;
    const bytes = FRAME_BYTES + this.#header.readUInt32BE(8);
    while (this.#read < count) {
      const many = Math.min(FRAMES_AT_ONCE, count - this.#read);
      const frames = this.#readAt(HEADER_BYTES + this.#read * bytes, many * bytes);
      for (let from = 0; from < many * bytes; from += bytes, this.#read += 1)
        if (from + bytes > frames.length || !this.#fits(frames, from, bytes)) return false;
    }
    return true;
  }

  get #isLog(): boolean {
    return this.#header.length === HEADER_BYTES && (this.#header.readUInt32BE(0) & ~1) === MAGIC;
  }

  #fits(frames: Buffer, from: number, bytes: number): boolean {
    const [salt, sums] = [from + 8, from + 16];
    if (frames.compare(this.#header, 16, 24, salt, sums) !== 0) return false;
    const head = this.#add(this.#sums, frames, { from, to: from + 8 });
    this.#sums = this.#add(head, frames, { from: from + FRAME_BYTES, to: from + bytes });
    return this.#sums[0] === frames.readInt32BE(sums) && this.#sums[1] === frames.readInt32BE(sums + 4);
  }

  /** The sums of SQLite, over pairs of words. */
  #add([first, second]: Sums, bytes: Buffer, { from, to }: Record<'from' | 'to', number>): Sums {
    const isHighFirst = (this.#header.readUInt32BE(0) & 1) === 1;
    const isOwnOrder = isHighFirst === (endianness() === 'BE');
    const part = isOwnOrder ? bytes.subarray(from, to) : Buffer.from(bytes.subarray(from, to)).swap32();
    // Signed: V8 adds words of 32 bits as they are, and larger numbers several times slower.
    const words = new Int32Array(part.buffer, part.byteOffset, part.length / 4);
    let [a, b] = [first, second];
    for (let at = 0; at < words.length; at += 2) {
      a = (a + (words[at] as number) + b) | 0;
      b = (b + (words[at + 1] as number) + a) | 0;
    }
    return [a, b];
  }

  #readAt(at: number, bytes: number): Buffer {
    const buffer = Buffer.alloc(bytes);
    return buffer.subarray(0, readSync(this.#log, buffer, 0, bytes, at));
  }
}
