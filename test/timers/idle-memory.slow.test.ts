import { readFile } from 'node:fs/promises';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { expect, onTestFinished, test } from 'vitest';

const TIMERS = fileURLToPath(new URL('../../src/timers/timers.ts', import.meta.url));

/** Lets the heap grow to some hundred megabytes of garbage and then waits; says so. */
const PROGRAM = `
import { giveBackWhenIdle } from ${JSON.stringify(TIMERS)};
if (process.argv[1] === 'gives') giveBackWhenIdle();
let kept = [];
for (let round = 0; round < 70; round += 1) kept.push(Array.from({ length: 100_000 }, (_, n) => ({ n })));
kept = [];
console.log('idle');
setTimeout(() => undefined, 60_000);
`;

async function residentAfter(mode: string): Promise<() => Promise<number>> {
  const child = spawn(process.execPath, ['--input-type=module', '-e', PROGRAM, mode], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  await once(child.stdout, 'data');
  return async () => {
    const status = await readFile(`/proc/${child.pid}/status`, 'utf8');
    return Number(/^VmRSS:\s+(\d+) kB/m.exec(status)?.[1]) / 1024;
  };
}

test.skipIf(process.platform !== 'linux')('an idle process gives back what it no longer needs', async () => {
  const [gives, keeps] = await Promise.all([residentAfter('gives'), residentAfter('keeps')]);
  await expect.poll(gives, { timeout: 30_000 }).toBeLessThan((await keeps()) / 2);
});
