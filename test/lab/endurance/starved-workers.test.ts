/**
 * Workers of transforms that the system hardly gives the processor: all on one processor, behind loops that it prefers. What
 * becomes of such a call is held by `test/engine/sandbox/supervision.slow.test.ts`; this shows that workers measure it.
 */
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { setPriority } from 'node:os';
import { expect, onTestFinished, test } from 'vitest';
import type { TransformReply } from '../../../src/engine/sandbox/sandbox.ts';
import {
  callAgain,
  callTransform,
  refTo,
  SandboxFixture,
  workerPids,
} from '../../support/sandbox-fixture.ts';

test.skipIf(process.platform !== 'linux' || !existsSync('/usr/bin/taskset'))(
  'tries a call again that was not given the processor, and blames nobody for it',
  async () => {
    const fixture = new SandboxFixture();
    onTestFinished(() => fixture.dispose());
    fixture.write({ 'good.ts': 'export default (c) => ({ message: "good " + c.payload.n });' });
    const patient = refTo('good.ts', { timeoutMs: 30_000 });
    // A call that gets half of its time has four times of what it takes here, so that none is to blame.
    const first = await callAgain(await fixture.load([patient]), patient, { n: 0 });
    const good = refTo('good.ts', { timeoutMs: Math.max(60, Math.ceil(8 * (first.cpuMs ?? 0))) });
    const transforms = await fixture.load([good, patient]);
    await expect.poll(() => fixture.sandbox.stats.pools[0]?.ready).toBe(3);
    const cpu = /^Cpus_allowed_list:\s*(\d+)/m.exec(readFileSync('/proc/self/status', 'latin1'))?.[1] ?? '0';
    const run = (...argv: string[]): ChildProcess => spawn('/usr/bin/taskset', argv, { stdio: 'ignore' });
    // All workers on one processor, behind loops that the system prefers.
    for (const pid of workerPids()) {
      await once(run('-apc', cpu, String(pid)), 'exit');
      for (const thread of readdirSync(`/proc/${pid}/task`)) setPriority(Number(thread), 19);
    }
    const others = Array.from({ length: 12 }, () => run('-c', cpu, process.execPath, '-e', 'for (;;);'));
    try {
      const isLoop = ({ pid = 0 }: ChildProcess): boolean =>
        readFileSync(`/proc/${pid}/cmdline`, 'latin1').includes('for');
      await expect.poll(() => others.every(isLoop)).toBe(true);
      // The system decides how much each call gets: until one hardly got any, twice.
      let replies: readonly TransformReply[];
      do {
        replies = await Promise.all(
          Array.from({ length: 12 }, (_, n) => callTransform(transforms, good, { n })),
        );
      } while (
        !replies.some(
          (reply) => reply.kind === 'failed' && reply.message.startsWith('the machine is too busy'),
        )
      );
    } finally {
      for (const other of others) other.kill('SIGKILL');
    }
    expect(fixture.events.filter(({ kind }) => kind === 'breaker-opened')).toEqual([]);
    expect(await callAgain(transforms, patient, { n: 1 })).toMatchObject({ kind: 'ok' });
  },
);
