/**
 * A worker: a process of its own that holds isolates and answers frames on descriptor 3, one at a time, in order. It
 * has no other way in or out, nothing of the service's environment, and may be killed at any moment. A reply is
 * written before the next call is begun, so that the supervisor knows which call is running when a deadline passes.
 */
import { writeSync } from 'node:fs';
import { Socket } from 'node:net';
import {
  decodeCall,
  encodeAnswer,
  FrameReader,
  REQUEST,
  STATUS,
  type Answer,
  type LoadBody,
} from './frames.ts';
import { IsolatedModule } from './isolated-module.ts';

const CHANNEL = 3;
const MAX_ISOLATES = 24;
/** What idle isolates may keep in all before the least recently used are let go. */
const MAX_IDLE_HEAP_BYTES = 128 * 1024 * 1024;
/** Result strings do not press the collector of this process by themselves. */
const COLLECT_EVERY_BYTES = 16 * 1024 * 1024;

const socket = new Socket({ fd: CHANNEL, readable: true, writable: true });
const reader = new FrameReader();
const settings = new Map<number, LoadBody>();
/** In order of use, the least recent first. */
const isolates = new Map<number, IsolatedModule>();
const waiting: Buffer[] = [];
let blocked = false;
let sinceCollection = 0;

socket.on('data', (chunk: Buffer) => {
  const frames = reader.push(chunk);
  if (frames === undefined) process.exit(1);
  waiting.push(...frames);
  work();
});
socket.on('end', () => process.exit(0));
socket.on('error', () => process.exit(0));

function work(): void {
  for (let frame = nextFrame(); frame !== undefined; frame = nextFrame()) handle(frame);
}

function nextFrame(): Buffer | undefined {
  return blocked ? undefined : waiting.shift();
}

function handle(frame: Buffer): void {
  const id = frame.readUInt32LE(1);
  switch (frame.readUInt8(0)) {
    case REQUEST.load:
      settings.set(id, JSON.parse(frame.toString('utf8', 5)) as LoadBody);
      return;
    case REQUEST.drop:
      settings.delete(id);
      isolates.get(id)?.dispose();
      isolates.delete(id);
      return;
    case REQUEST.call: {
      const call = decodeCall(frame);
      answer(id, call.module, (module) => module.call(call.json, call.now, call.seed, call.timeoutMs));
      return;
    }
    case REQUEST.inspect: {
      const timeoutMs = frame.readUInt32LE(9);
      answer(id, frame.readUInt32LE(5), (module) => module.inspect(timeoutMs));
      return;
    }
    default:
      process.exit(1);
  }
}

function answer(id: number, number: number, run: (module: IsolatedModule) => Omit<Answer, 'id'>): void {
  let module: IsolatedModule;
  try {
    module = obtain(number);
  } catch (error) {
    const value = error instanceof Error ? `${error.name}: ${error.message}\n${error.stack ?? ''}` : '';
    send({ id, status: STATUS.loadError, cpuMicros: 0, heapKb: 0, logs: '', value: value.slice(0, 8192) });
    return;
  }
  const outcome = run(module);
  if (module.spent) isolates.delete(number);
  send({ id, ...outcome });
  trim();
}

/** The isolate of a module, made on its first call. */
function obtain(number: number): IsolatedModule {
  const found = isolates.get(number);
  if (found !== undefined) {
    isolates.delete(number);
    isolates.set(number, found);
    return found;
  }
  const body = settings.get(number);
  if (body === undefined) throw new Error('this module was never sent');
  const made = new IsolatedModule(body);
  isolates.set(number, made);
  return made;
}

/** Lets isolates go, the least recently used first, while there are too many or they keep too much. */
function trim(): void {
  let heap = 0;
  for (const module of isolates.values()) heap += module.heapBytes;
  for (const [number, module] of isolates) {
    if (isolates.size <= 1 || (isolates.size <= MAX_ISOLATES && heap <= MAX_IDLE_HEAP_BYTES)) return;
    heap -= module.heapBytes;
    isolates.delete(number);
    module.dispose();
  }
}

function send(reply: Answer): void {
  const frame = encodeAnswer(reply);
  let written = 0;
  try {
    if (socket.writableLength === 0)
      while (written < frame.length) written += writeSync(CHANNEL, frame, written);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EAGAIN') process.exit(0);
  }
  if (written < frame.length) {
    // The supervisor reads slower than this writes: nothing else is begun until it has caught up.
    blocked = true;
    socket.write(frame.subarray(written), () => {
      blocked = false;
      work();
    });
  }
  sinceCollection += frame.length;
  if (sinceCollection > COLLECT_EVERY_BYTES) {
    sinceCollection = 0;
    globalThis.gc?.();
  }
}

send({ id: 0, status: STATUS.ready, cpuMicros: 0, heapKb: 0, logs: '', value: '' });
