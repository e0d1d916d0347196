import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import { expect, test } from 'vitest';
import { askThread } from '../../../src/base/timers/timers.ts';

/** Makes as many small buffers as it is asked for, which are no part of its heap, and says so. */
const PROGRAM = `
const { parentPort } = process.getBuiltinModule('node:worker_threads');
parentPort.on('message', async (count) => {
  const kept = [];
  for (let index = 0; index < count; index += 1) {
    kept.push(new ArrayBuffer(8));
    if (index % 10000 === 0) await new Promise((done) => setTimeout(done, 1));
  }
  parentPort.postMessage({ kept: kept.length });
});
parentPort.postMessage('ready');
`;

async function ask(count: number, growthMb: number): Promise<object | undefined> {
  const thread = new Worker(PROGRAM, { eval: true });
  await once(thread, 'message');
  try {
    return await askThread(thread, count, { cpuMs: 60_000, growthMb });
  } finally {
    await thread.terminate();
  }
}

test('a thread under which the process grows too much is not waited for', { timeout: 30_000 }, async () => {
  expect(await ask(10_000, 300)).toEqual({ kept: 10_000 });
  expect(await ask(100_000_000, 100)).toBeUndefined();
});
