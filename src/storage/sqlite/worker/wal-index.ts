import { closeSync, openSync, readSync } from 'node:fs';

/** Where the index of the log keeps its counts (sqlite.org/walformat.html, "The WAL-Index File Format"). */
const LAST_FRAME_AT = 16;
const COPIED_FRAMES_AT = 96;
const BYTES = COPIED_FRAMES_AT + 4;

/** Reads from the index of the log, a file beside the store, how far checkpoints are behind. */
export class WalIndex {
  readonly #descriptor: number;
  readonly #bytes = new DataView(new ArrayBuffer(BYTES));

  /** @throws where the store is not open in WAL mode */
  constructor(file: string) {
    this.#descriptor = openSync(`${file}-shm`, 'r');
  }

  /** Pages in the log that are not yet copied into the store. */
  countWaiting(): number {
    if (readSync(this.#descriptor, this.#bytes, 0, BYTES, 0) < BYTES) return 0;
    return this.#read(LAST_FRAME_AT) - this.#read(COPIED_FRAMES_AT);
  }

  close(): void {
    closeSync(this.#descriptor);
  }

  #read(at: number): number {
    return this.#bytes.getUint32(at, LITTLE_ENDIAN);
  }
}

/** The index is in the byte order of the machine. */
const LITTLE_ENDIAN = new Uint8Array(new Uint16Array([1]).buffer)[0] === 1;
