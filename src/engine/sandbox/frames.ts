/**
 * The frames between the supervisor and a worker, little-endian.
 *
 *     to a worker     u32 length | u8 kind   | u32 id | body
 *       load, drop    id = module number; body = JSON of `LoadBody`, nothing
 *       call          body = u32 module | f64 now | u32 seed | u32 timeout | u16 bytes of key | key | JSON text
 *       inspect       body = u32 module | u32 timeout
 *       coverage      body = u32 module
 *     from a worker   u32 length | u8 status | u32 id | u32 CPU µs | u32 heap KB | u32 log bytes | logs | value
 *
 * `length` counts what follows it.
 */

import type { CallSettings } from './isolate/pins.ts';
import { STATUS, type Status } from './names.ts';

/** What a frame asks of a worker. */
export const REQUEST = { load: 1, drop: 2, call: 3, inspect: 4, coverage: 5 } as const;

/** A module with the settings under which it runs; a worker keeps one isolate for each. */
export interface LoadBody extends CallSettings {
  readonly code: string;
  readonly memoryMb: number;
  readonly coverage: boolean;
}

/** What time and chance are in a call; `key`, at most 65,535 bytes, is that of its random bytes. */
export interface CallPins {
  readonly now: number;
  readonly seed: number;
  readonly key: string;
}

/** What a module is to do. */
export type ModuleTask =
  ({ readonly kind: 'call' } & CallPins) | { readonly kind: 'inspect' } | { readonly kind: 'coverage' };

/** Frames beyond this are a broken peer: results and requests are bounded far below. */
const MAX_FRAME_BYTES = 64 * 1024 * 1024;
const LENGTH_BYTES = 4;
const ANSWER_BYTES = 17;

interface CallBody extends CallPins {
  readonly module: number;
  readonly timeoutMs: number;
  readonly json: string;
}

/** A frame's number, and what it needs to be written. */
interface AskedOf {
  readonly id: number;
  readonly asked: ModuleTask;
  readonly timeoutMs: number;
  readonly json: string;
  /** Length of `json` in UTF-8. */
  readonly bytes: number;
}

export interface WorkerAnswer {
  readonly status: Status;
  readonly id: number;
  readonly cpuMicros: number;
  readonly heapKb: number;
  /** JSON text `{lines, dropped}`, or empty. */
  readonly logs: string;
  readonly value: string;
}

export function encodeLoad(module: number, body: LoadBody): Buffer {
  const text = JSON.stringify(body);
  const frame = startFrame(REQUEST.load, module, Buffer.byteLength(text));
  frame.write(text, 9);
  return frame;
}

export function encodeDrop(module: number): Buffer {
  return startFrame(REQUEST.drop, module, 0);
}

/** Asks something of a module; a worker answers in order. */
export function encodeAsked({ id, asked, timeoutMs, json, bytes }: AskedOf, module: number): Buffer {
  if (asked.kind === 'call') return encodeCall(id, { ...asked, module, timeoutMs, json }, bytes);
  const isInspect = asked.kind === 'inspect';
  const frame = startFrame(isInspect ? REQUEST.inspect : REQUEST.coverage, id, isInspect ? 8 : 4);
  frame.writeUInt32LE(module, 9);
  if (isInspect) frame.writeUInt32LE(timeoutMs, 13);
  return frame;
}

function encodeCall(id: number, body: CallBody, jsonBytes: number): Buffer {
  const keyBytes = Buffer.byteLength(body.key);
  const frame = startFrame(REQUEST.call, id, 22 + keyBytes + jsonBytes);
  frame.writeUInt32LE(body.module, 9);
  frame.writeDoubleLE(body.now, 13);
  frame.writeUInt32LE(body.seed >>> 0, 21);
  frame.writeUInt32LE(body.timeoutMs, 25);
  frame.writeUInt16LE(keyBytes, 29);
  frame.write(body.key, 31);
  frame.write(body.json, 31 + keyBytes);
  return frame;
}

export function decodeCall(frame: Buffer): CallBody {
  const jsonAt = 27 + frame.readUInt16LE(25);
  return {
    module: frame.readUInt32LE(5),
    now: frame.readDoubleLE(9),
    seed: frame.readUInt32LE(17),
    timeoutMs: frame.readUInt32LE(21),
    key: jsonAt === 27 ? '' : frame.toString('utf8', 27, jsonAt),
    json: frame.toString('utf8', jsonAt),
  };
}

function startFrame(kind: number, id: number, bodyBytes: number): Buffer {
  const frame = Buffer.allocUnsafe(9 + bodyBytes);
  frame.writeUInt32LE(5 + bodyBytes, 0);
  frame[4] = kind;
  frame.writeUInt32LE(id, 5);
  return frame;
}

/** Encodes answers into one buffer again and again: a frame is valid until the next one. */
export class AnswerWriter {
  #frame = Buffer.allocUnsafeSlow(64 * 1024);
  #view = new DataView(this.#frame.buffer);

  encode(id: number, { status, cpuMicros, heapKb, logs, value }: Omit<WorkerAnswer, 'id'>): Buffer {
    // A UTF-16 unit takes at most three bytes in UTF-8.
    const most = LENGTH_BYTES + ANSWER_BYTES + 3 * (logs.length + value.length);
    if (most > this.#frame.length) {
      this.#frame = Buffer.allocUnsafeSlow(most);
      this.#view = new DataView(this.#frame.buffer);
    }
    const start = LENGTH_BYTES + ANSWER_BYTES;
    const logBytes = logs === '' ? 0 : this.#frame.write(logs, start);
    const end = start + logBytes + this.#frame.write(value, start + logBytes);
    this.#view.setUint32(0, end - LENGTH_BYTES, true);
    this.#view.setUint8(4, status);
    this.#view.setUint32(5, id, true);
    this.#view.setUint32(9, cpuMicros, true);
    this.#view.setUint32(13, heapKb, true);
    this.#view.setUint32(17, logBytes, true);
    return this.#frame.subarray(0, end);
  }
}

/** Reads an answer; undefined where the frame contradicts itself. */
export function decodeAnswer(frame: Buffer): WorkerAnswer | undefined {
  if (frame.length < ANSWER_BYTES) return undefined;
  const logsEnd = ANSWER_BYTES + frame.readUInt32LE(13);
  const status = frame[0] ?? -1;
  if (logsEnd > frame.length || status < STATUS.ready || status > STATUS.instance) return undefined;
  return {
    status: status as Status,
    id: frame.readUInt32LE(1),
    cpuMicros: frame.readUInt32LE(5),
    heapKb: frame.readUInt32LE(9),
    logs: logsEnd === ANSWER_BYTES ? '' : frame.toString('utf8', ANSWER_BYTES, logsEnd),
    value: frame.toString('utf8', logsEnd),
  };
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
