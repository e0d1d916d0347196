/**
 * A worker: a process of its own that holds isolates and answers frames on descriptor 3, one at a time, in order. It
 * has no other way in or out, nothing of the service's environment, and may be killed at any moment. A reply is
 * written before the next call is begun, so that the supervisor knows which call is running when a deadline passes.
 *
 * Reading and writing are blocking calls on the socket: this process has nothing to do while it waits, and without
 * the compiler the machinery of streams would cost more than a call itself. The event loop is given a turn where
 * isolates were let go, because the engine frees some of their memory there.
 */
import { readSync, writeSync } from 'node:fs';
import { decodeRequest, encodeAnswer, FrameReader, type WorkerAnswer, type LoadBody } from '../frames.ts';
import { STATUS } from '../names.ts';
import { IsolatedModule } from './isolated-module.ts';

const CHANNEL = 3;
const MAX_ISOLATES = 24;
/** What idle isolates may keep in all before the least recently used are let go. */
const MAX_IDLE_HEAP_BYTES = 128 * 1024 * 1024;
/** Result strings do not press the collector of this process by themselves. */
const COLLECT_EVERY_BYTES = 16 * 1024 * 1024;
const CHUNK_BYTES = 64 * 1024;
const NOTHING_RAN = { cpuMicros: 0, heapKb: 0, logs: '' };

const reader = new FrameReader();
const settings = new Map<number, LoadBody>();
/** In order of use, the least recent first. */
const isolates = new Map<number, IsolatedModule>();
let chunk = Buffer.allocUnsafeSlow(CHUNK_BYTES);
let sinceCollection = 0;
let letGo = false;

async function serve(): Promise<void> {
  for (;;) {
    // A frame that has not come to its end is still read from the buffer it came in.
    if (!reader.isEmpty) chunk = Buffer.allocUnsafeSlow(CHUNK_BYTES);
    const length = readSync(CHANNEL, chunk, 0, CHUNK_BYTES, null);
    // The supervisor has gone.
    if (length === 0) process.exit(0);
    const frames = reader.push(chunk.subarray(0, length));
    if (frames === undefined) process.exit(1);
    for (const frame of frames) handle(frame);
    if (letGo) await new Promise(setImmediate);
    letGo = false;
  }
}

function handle(frame: Buffer): void {
  const { request, text } = decodeRequest(frame);
  switch (request.kind) {
    case 'load':
      settings.set(request.module, request.body);
      return;
    case 'drop':
      settings.delete(request.module);
      discard(request.module);
      return;
    case 'call':
      return answer(request, (module) => module.call(text, request));
    case 'inspect':
      return answer(request, (module) => module.inspect(request.timeoutMs));
  }
}

function answer(
  { id, module: number }: { readonly id: number; readonly module: number },
  run: (module: IsolatedModule) => Omit<WorkerAnswer, 'id'>,
): void {
  let module: IsolatedModule;
  try {
    module = obtain(number);
  } catch (error) {
    const value = error instanceof Error ? `${error.name}: ${error.message}\n${error.stack ?? ''}` : '';
    send(id, { ...NOTHING_RAN, status: STATUS.loadError, value: value.slice(0, 8192) });
    return;
  }
  const outcome = run(module);
  if (module.spent) discard(number);
  send(id, outcome);
  if (outcome.heapKb > 0) trim();
}

/** The isolate of a module, made on its first call. */
function obtain(number: number): IsolatedModule {
  const found = isolates.get(number);
  if (found !== undefined) {
    if (isolates.size > 1) {
      isolates.delete(number);
      isolates.set(number, found);
    }
    return found;
  }
  const body = settings.get(number);
  if (body === undefined) throw new Error('this module was never sent');
  const made = new IsolatedModule(body);
  isolates.set(number, made);
  return made;
}

function discard(number: number): void {
  isolates.get(number)?.dispose();
  if (isolates.delete(number)) letGo = true;
}

/** Lets isolates go, the least recently used first, while there are too many or they keep too much. */
function trim(): void {
  if (isolates.size <= 1) return;
  let heap = 0;
  for (const module of isolates.values()) heap += module.heapBytes;
  for (const [number, module] of isolates) {
    if (isolates.size <= 1 || (isolates.size <= MAX_ISOLATES && heap <= MAX_IDLE_HEAP_BYTES)) return;
    heap -= module.heapBytes;
    discard(number);
  }
}

function send(id: number, outcome: Omit<WorkerAnswer, 'id'>): void {
  const frame = encodeAnswer({ id, ...outcome });
  try {
    for (let written = 0; written < frame.length;) written += writeSync(CHANNEL, frame, written);
  } catch {
    process.exit(0);
  }
  sinceCollection += frame.length;
  if (sinceCollection > COLLECT_EVERY_BYTES) {
    sinceCollection = 0;
    globalThis.gc?.();
  }
}

send(0, { ...NOTHING_RAN, status: STATUS.ready, value: '' });
await serve();
