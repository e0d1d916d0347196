/**
 * The frames between the supervisor and a worker: their length in bytes as u32, little-endian, and behind it a line and
 * a text, in UTF-8.
 *
 * A worker is asked for a `WorkerRequest`, whose JSON is the line; the text of a call is its argument, that of a load is
 * empty. The line of its answer is `status id cpuMicros heapKb logs`, and its text is the value.
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
  const line = `${JSON.stringify(request)}\n`;
  return encode(line + text, Buffer.byteLength(line) + bytes);
}

export function decodeRequest(frame: Buffer): { readonly request: WorkerRequest; readonly text: string } {
  const whole = frame.toString();
  const end = whole.indexOf('\n');
  return { request: JSON.parse(whole.slice(0, end)) as WorkerRequest, text: whole.slice(end + 1) };
}

export function encodeAnswer({ status, id, cpuMicros, heapKb, logs, value }: WorkerAnswer): Buffer {
  const whole = `${status} ${id} ${cpuMicros} ${heapKb} ${logs}\n${value}`;
  return encode(whole, Buffer.byteLength(whole));
}

const ANSWER_LINE = /^(\d{1,2}) (\d{1,15}) (\d{1,15}) (\d{1,15}) ([^\n]*)\n/;

/** Reads an answer; undefined where the frame is none. */
export function decodeAnswer(frame: Buffer): WorkerAnswer | undefined {
  const whole = frame.toString();
  const [line, status, id, cpuMicros, heapKb, logs = ''] = ANSWER_LINE.exec(whole) ?? [];
  if (line === undefined || Number(status) > STATUS.instance) return undefined;
  return {
    status: Number(status) as Status,
    id: Number(id),
    cpuMicros: Number(cpuMicros),
    heapKb: Number(heapKb),
    logs,
    value: whole.slice(line.length),
  };
}

function encode(whole: string, bytes: number): Buffer {
  const frame = Buffer.allocUnsafe(LENGTH_BYTES + bytes);
  frame.writeUInt32LE(bytes, 0);
  frame.write(whole, LENGTH_BYTES);
  return frame;
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
