/** What a process holds of memory that it no longer needs, under load. */
import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';

const TIMERS = fileURLToPath(new URL('../../../src/base/timers/timers.ts', import.meta.url));

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

test('a service under load holds little garbage', async () => {
  const [limited, free] = await Promise.all(['limited', 'free'].map(mostYoungMegabytes));
  expect(limited).toBeLessThanOrEqual(32);
  expect(free).toBeGreaterThan(32);
});
