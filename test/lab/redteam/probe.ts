/** A probe that asks `/healthz` again and again on one connection, in a thread of its own: the attack's own work is not measured. */
import { once } from 'node:events';
import { connect } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { parentPort, Worker, workerData } from 'node:worker_threads';

const QUESTION = 'GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n';
const PAUSE_MS = 2;

/** Starts it; `stop` resolves to the milliseconds that the slowest answer took, Infinity where one did not come. */
export async function startProbe(port: number): Promise<{ readonly stop: () => Promise<number> }> {
  const worker = new Worker(new URL(import.meta.url), { workerData: { port } });
  await once(worker, 'message');
  return {
    stop: async () => {
      worker.postMessage('stop');
      const [slowestMs] = (await once(worker, 'message')) as [number];
      await worker.terminate();
      return slowestMs;
    },
  };
}

async function ask(port: number, parent: NonNullable<typeof parentPort>): Promise<void> {
  const stopping = new AbortController();
  parent.once('message', () => stopping.abort());
  const socket = connect({ host: '127.0.0.1', port, noDelay: true });
  await once(socket, 'connect');
  const closing = new AbortController();
  socket.once('close', () => closing.abort()).on('error', () => undefined);
  let slowestMs = 0;
  parent.postMessage('ready');
  while (!stopping.signal.aborted && Number.isFinite(slowestMs)) {
    const begun = performance.now();
    socket.write(QUESTION);
    // oxlint-disable-next-line no-await-in-loop -- one after the other, as probes are
    const [answer] = await once(socket, 'data', { signal: closing.signal }).catch(() => ['']);
    const isGood = String(answer).startsWith('HTTP/1.1 200');
    slowestMs = Math.max(slowestMs, isGood ? performance.now() - begun : Number.POSITIVE_INFINITY);
    // oxlint-disable-next-line no-await-in-loop
    await delay(PAUSE_MS);
  }
  socket.destroy();
  if (!stopping.signal.aborted) await once(stopping.signal, 'abort');
  parent.postMessage(slowestMs);
}

if (parentPort !== null) await ask((workerData as { readonly port: number }).port, parentPort);
