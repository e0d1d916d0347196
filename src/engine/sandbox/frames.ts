/**
 * The frames between the supervisor and a worker, little-endian:
 *
 *     u32 length of what follows | u32 bytes of the head | head, JSON | text
 *
 * A worker is asked for a `WorkerRequest`; the text of a call is its argument, that of a load is empty. It answers with
 * an `AnswerHead`, and its text is the logs and behind them the value.
 */

import type { CallSettings } from './isolate/pins.ts';
import { STATUS, type Status } from './names.ts';

/** A module with the settings under which it runs; a worker keeps one isolate for each. */
export interface LoadBody extends CallSettings {
  readonly code: string;
  readonly memoryMb: number;
}

/** What time and chance are in a call; `key`, at most 65,535 bytes, is that of its random bytes. */
export interface CallPins {
  readonly now: number;
  readonly seed: number;
  readonly key: string;
}

export type ModuleTask = ({ readonly kind: 'call' } & CallPins) | { readonly kind: 'inspect' };

/** What a frame asks of a worker; `id` is that of the answer. */
export type WorkerRequest =
  | { readonly kind: 'load'; readonly module: number; readonly body: LoadBody }
  | { readonly kind: 'drop'; readonly module: number }
  | (ModuleTask & { readonly id: number; readonly module: number; readonly timeoutMs: number });

/** Frames beyond this are a broken peer: results and requests are bounded far below. */
const MAX_FRAME_BYTES = 64 * 1024 * 1024;
const LENGTH_BYTES = 4;

export interface WorkerAnswer {
  readonly status: Status;
  readonly id: number;
  readonly cpuMicros: number;
  readonly heapKb: number;
  /** JSON text `{lines, dropped}`, or empty. */
  readonly logs: string;
  readonly value: string;
}

/** `bytes`: length of the text in UTF-8, where it is known. */
export function encodeRequest(
  request: WorkerRequest,
  text = '',
  bytes: number = Buffer.byteLength(text),
): Buffer {
  return encode(JSON.stringify(request), text, bytes);
}

export function decodeRequest(frame: Buffer): { readonly request: WorkerRequest; readonly text: string } {
  const { head, text } = partsOf(frame);
  return { request: JSON.parse(head) as WorkerRequest, text };
}

export function encodeAnswer({ logs, value, ...head }: WorkerAnswer): Buffer {
  const text = logs + value;
  const whole: AnswerHead = { ...head, logUnits: logs.length };
  return encode(JSON.stringify(whole), text, Buffer.byteLength(text));
}

/** Reads an answer; undefined where the frame is none. */
export function decodeAnswer(frame: Buffer): WorkerAnswer | undefined {
  try {
    const { head, text } = partsOf(frame);
    const { status, id, cpuMicros, heapKb, logUnits } = JSON.parse(head) as AnswerHead;
    const isWhole = [status, id, cpuMicros, heapKb, logUnits].every((each) => Number.isSafeInteger(each));
    const isKnown = status >= STATUS.ready && status <= STATUS.instance;
    if (!isWhole || !isKnown || logUnits < 0 || logUnits > text.length) return undefined;
    return { status, id, cpuMicros, heapKb, logs: text.slice(0, logUnits), value: text.slice(logUnits) };
  } catch {
    return undefined;
  }
}

/** What an answer says before its text, of which the logs are the first so many UTF-16 units. */
interface AnswerHead extends Omit<WorkerAnswer, 'logs' | 'value'> {
  readonly logUnits: number;
}

function encode(head: string, text: string, textBytes: number): Buffer {
  const headBytes = Buffer.byteLength(head);
  const frame = Buffer.allocUnsafe(2 * LENGTH_BYTES + headBytes + textBytes);
  frame.writeUInt32LE(frame.length - LENGTH_BYTES, 0);
  frame.writeUInt32LE(headBytes, LENGTH_BYTES);
  frame.write(head, 2 * LENGTH_BYTES);
  frame.write(text, 2 * LENGTH_BYTES + headBytes);
  return frame;
}

function partsOf(frame: Buffer): { readonly head: string; readonly text: string } {
  const textAt = LENGTH_BYTES + frame.readUInt32LE(0);
  return { head: frame.toString('utf8', LENGTH_BYTES, textAt), text: frame.toString('utf8', textAt) };
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
