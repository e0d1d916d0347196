/** A flood of requests on many connections, in a thread of its own: the good sender's times do not hold its work. */
import { once } from 'node:events';
import { connect } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { parentPort, Worker, workerData } from 'node:worker_threads';

export interface FloodOptions {
  readonly port: number;
  readonly connections: number;
  /** Written on each connection `times`, without waiting for answers. */
  readonly request: string;
  readonly times: number;
}

const MAX_MS = 30_000;

/** Resolves once it has begun to write; `answers` to how many each connection got until it was closed. */
export async function startFlood(
  options: FloodOptions,
): Promise<{ readonly answers: Promise<readonly number[]> }> {
  const worker = new Worker(new URL(import.meta.url), { workerData: options });
  await once(worker, 'message');
  const answers = once(worker, 'message').then(async ([counts]) => {
    await worker.terminate();
    return counts as readonly number[];
  });
  return { answers };
}

async function flood({ port, connections, request, times }: FloodOptions): Promise<readonly number[]> {
  const bytes = Buffer.from(request.repeat(times));
  const counts = Array.from({ length: connections }, () => countAnswers(port, bytes));
  parentPort?.postMessage('begun');
  return Promise.all(counts);
}

async function countAnswers(port: number, bytes: Buffer): Promise<number> {
  const socket = connect({ host: '127.0.0.1', port });
  let text = '';
  socket.on('data', (chunk: Buffer) => (text += chunk.toString('latin1')));
  // The service stops reading, so the rest cannot be written.
  socket.on('error', () => undefined);
  const closed = new Promise((resolve) => socket.once('close', resolve));
  socket.write(bytes);
  await Promise.race([closed, delay(MAX_MS, undefined, { ref: false })]);
  socket.destroy();
  return text.split('HTTP/1.1 ').length - 1;
}

if (parentPort !== null) parentPort.postMessage(await flood(workerData as FloodOptions));
