/** What a process holds of memory that it no longer needs, at rest and under load. */
import { readFile } from 'node:fs/promises';
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, onTestFinished, test } from 'vitest';

const TIMERS = fileURLToPath(new URL('../../../src/base/timers/timers.ts', import.meta.url));

/** Lets the heap grow to a hundred megabytes of garbage and then waits; says so. */
const IDLE = `
import { constants, PerformanceObserver } from 'node:perf_hooks';
import { giveBackWhenIdle } from ${JSON.stringify(TIMERS)};
const isForced = ({ detail }) => (detail.flags & constants.NODE_PERFORMANCE_GC_FLAGS_FORCED) !== 0;
new PerformanceObserver((list) => list.getEntries().some(isForced) && console.log('collected')).observe({ entryTypes: ['gc'] });
if (process.argv[1] === 'gives') giveBackWhenIdle();
let kept = [];
for (let round = 0; round < 30; round += 1) kept.push(Array.from({ length: 100_000 }, (_, n) => ({ n })));
kept = [];
console.log('idle');
setTimeout(() => undefined, 60_000);
`;

interface Idle {
  readonly residentMb: () => Promise<number>;
  readonly hasCollected: () => boolean;
}

async function startIdle(mode: string): Promise<Idle> {
  const child = spawn(process.execPath, ['--input-type=module', '-e', IDLE, mode], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  let said = '';
  child.stdout.on('data', (text: Buffer) => (said += text.toString()));
  await once(child.stdout, 'data');
  const residentMb = async (): Promise<number> => {
    const status = await readFile(`/proc/${child.pid}/status`, 'utf8');
    return Number(/^VmRSS:\s+(\d+) kB/m.exec(status)?.[1]) / 1024;
  };
  return { residentMb, hasCollected: () => said.includes('collected') };
}

test.skipIf(process.platform !== 'linux')('an idle process gives back what it no longer needs', async () => {
  const [gives, keeps] = await Promise.all([startIdle('gives'), startIdle('keeps')]);
  const half = (await keeps.residentMb()) / 2;
  await expect.poll(gives.residentMb, { timeout: 30_000 }).toBeLessThan(half);
  // V8 gives back by itself, some seconds later: that it was asked to is seen by this alone.
  expect([gives.hasCollected(), keeps.hasCollected()]).toEqual([true, false]);
});

/** Requests that live for a short while, one batch in each turn; prints the most that the young generation had. */
const LOADED = `
import { getHeapSpaceStatistics } from 'node:v8';
import { limitGarbage } from ${JSON.stringify(TIMERS)};
if (process.argv[1] === 'limited') limitGarbage();
let most = 0;
let alive = [];
for (let turn = 0; turn < 150; turn += 1) {
  alive = [...alive.slice(-40_000), ...Array.from({ length: 4_000 }, (_, n) => ({ n, text: 'request ' + n }))];
  const { space_size: size } = getHeapSpaceStatistics().find((space) => space.space_name === 'new_space');
  most = Math.max(most, size / 2 ** 20);
  await new Promise(setImmediate);
}
console.log(most);
`;

async function mostYoungMegabytes(mode: string): Promise<number> {
  const argv = ['--input-type=module', '-e', LOADED, mode];
  return Number((await promisify(execFile)(process.execPath, argv)).stdout);
}

test('a service under load holds little garbage', { timeout: 20_000 }, async () => {
  const [limited, free] = await Promise.all(['limited', 'free'].map(mostYoungMegabytes));
  expect(limited).toBeLessThanOrEqual(32);
  expect(free).toBeGreaterThan(32);
});
