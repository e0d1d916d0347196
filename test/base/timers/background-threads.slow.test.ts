import { execFile } from 'node:child_process';
import { getPriority } from 'node:os';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';

const TIMERS = fileURLToPath(new URL('../../../src/base/timers/timers.ts', import.meta.url));

/** Prints the priority of every thread by its name. */
const PROGRAM = `
import { readdirSync, readFileSync } from 'node:fs';
import { getPriority } from 'node:os';
import { putCollectorsBehind } from ${JSON.stringify(TIMERS)};
putCollectorsBehind();
const threads = readdirSync('/proc/self/task').map((thread) => [
  readFileSync('/proc/self/task/' + thread + '/comm', 'latin1').trim(),
  getPriority(Number(thread)),
]);
console.log(JSON.stringify(threads));
`;

test.skipIf(process.platform !== 'linux')(
  'the threads of V8 go behind those that answer requests',
  { timeout: 20_000 },
  async () => {
    const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', PROGRAM]);
    const threads = JSON.parse(stdout) as readonly (readonly [name: string, priority: number])[];
    const of = (name: string) =>
      new Set(threads.filter(([each]) => each === name).map(([, niceness]) => niceness));
    // Tests may run behind other work themselves.
    const own = getPriority();
    expect(of('MainThread')).toEqual(new Set([own]));
    expect(of('V8Worker')).toEqual(new Set([Math.min(own + 5, 19)]));
  },
);
