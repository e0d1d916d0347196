/**
 * The frames between the supervisor and a worker:
 *
 *     u32 length | u32 bytes of the head | head | text
 *
 * `length` counts what follows it; numbers are little-endian. The head is JSON, a `Request` or an `Answer` without its
 * value; the text is the argument of a call, or the value of an answer.
 */
import type { CallSettings } from './isolate/pins.ts';
import { STATUS, type Status } from './names.ts';

/** A module with the settings under which it runs; a worker keeps one isolate for each. */
export interface LoadBody extends CallSettings {
  readonly code: string;
  readonly memoryMb: number;
  readonly coverage: boolean;
}

/** What time and chance are in a call; `key` is that of its random bytes. */
export interface CallPins {
  readonly now: number;
  readonly seed: number;
  readonly key: string;
}

/** What a module is to do. */
export type Asked =
  ({ readonly kind: 'call' } & CallPins) | { readonly kind: 'inspect' } | { readonly kind: 'coverage' };

/** What a frame asks of a worker; `module` is the number of one. */
export type Request = { readonly module: number } & (
  | { readonly kind: 'load'; readonly body: LoadBody }
  | { readonly kind: 'drop' }
  | (Asked & { readonly id: number; readonly timeoutMs: number })
);

export interface Answer {
  readonly status: Status;
  readonly id: number;
  readonly cpuMicros: number;
  readonly heapKb: number;
  /** JSON text `{lines, dropped}`, or empty. */
  readonly logs: string;
  readonly value: string;
}

/** Frames beyond this are a broken peer: results and requests are bounded far below. */
const MAX_FRAME_BYTES = 64 * 1024 * 1024;
const LENGTH_BYTES = 4;

export function encodeFrame(head: Request | Omit<Answer, 'value'>, text = ''): Buffer {
  const json = JSON.stringify(head);
  const headBytes = Buffer.byteLength(json);
  const frame = Buffer.allocUnsafe(2 * LENGTH_BYTES + headBytes + Buffer.byteLength(text));
  frame.writeUInt32LE(frame.length - LENGTH_BYTES, 0);
  frame.writeUInt32LE(headBytes, LENGTH_BYTES);
  frame.write(json, 2 * LENGTH_BYTES);
  frame.write(text, 2 * LENGTH_BYTES + headBytes);
  return frame;
}

/** The head and the text of a frame without its length. @throws where the frame contradicts itself */
export function decodeFrame(frame: Buffer): { readonly head: unknown; readonly text: string } {
  const end = LENGTH_BYTES + frame.readUInt32LE(0);
  return {
    head: JSON.parse(frame.toString('utf8', LENGTH_BYTES, end)) as unknown,
    text: frame.toString('utf8', end),
  };
}

/** Reads an answer; undefined where the frame is none: a worker that was taken over may write anything. */
export function decodeAnswer(frame: Buffer): Answer | undefined {
  try {
    const { head, text: value } = decodeFrame(frame);
    const { status, id, cpuMicros, heapKb, logs } = head as Answer;
    const areNumbers = [status, id, cpuMicros, heapKb].every(Number.isSafeInteger);
    if (!areNumbers || typeof logs !== 'string' || !Object.values(STATUS).includes(status)) return undefined;
    return { status, id, cpuMicros, heapKb, logs, value };
  } catch {
    return undefined;
  }
}

/** Cuts a stream into frames (without their length). Appending costs the size of the chunk, however long a frame is. */
export class FrameReader {
  #chunks: Buffer[] = [];
  #bytes = 0;
  #wanted = LENGTH_BYTES;

  /** Whether no chunk is needed any more. */
  get isEmpty(): boolean {
    return this.#bytes === 0;
  }

  /** Adds a chunk and returns the frames it completes; undefined where the stream is no frames. */
  push(chunk: Buffer): Buffer[] | undefined {
    this.#chunks.push(chunk);
    this.#bytes += chunk.length;
    if (this.#bytes < this.#wanted) return [];
    const joined = this.#chunks.length === 1 ? chunk : Buffer.concat(this.#chunks, this.#bytes);
    const frames: Buffer[] = [];
    let at = 0;
    this.#wanted = LENGTH_BYTES;
    while (joined.length - at >= LENGTH_BYTES) {
      const length = joined.readUInt32LE(at);
      if (length === 0 || length > MAX_FRAME_BYTES) return undefined;
      if (joined.length - at - LENGTH_BYTES < length) {
        this.#wanted = LENGTH_BYTES + length;
        break;
      }
      frames.push(joined.subarray(at + LENGTH_BYTES, at + LENGTH_BYTES + length));
      at += LENGTH_BYTES + length;
    }
    const rest = joined.subarray(at);
    this.#chunks = rest.length === 0 ? [] : [rest];
    this.#bytes = rest.length;
    return frames;
  }
}
