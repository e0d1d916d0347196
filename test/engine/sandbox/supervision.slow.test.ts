import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { setPriority } from 'node:os';
import { array, assert, constantFrom, nat, property, record, string } from 'fast-check';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { Breaker } from '../../../src/engine/sandbox/host/breaker.ts';
import { decodeAnswer, encodeAnswer, FrameReader } from '../../../src/engine/sandbox/frames.ts';
import { STATUS } from '../../../src/engine/sandbox/names.ts';
import type { JobOutcome } from '../../../src/engine/sandbox/host/job-queue.ts';
import { Pool } from '../../../src/engine/sandbox/host/pool.ts';
import type { TransformRef, TransformReply, Transforms } from '../../../src/engine/sandbox/sandbox.ts';
import { callTransform, pooledModule, refTo, SandboxFixture } from '../../support/sandbox-fixture.ts';
import { longerHere } from '../../support/longer-here.ts';

let fixture: SandboxFixture;
beforeEach(() => {
  fixture = new SandboxFixture();
});
afterEach(() => fixture.dispose());

const GOOD = 'export default (c) => ({ message: "good " + c.payload.n });';
const LOOP = 'export default () => { for (;;); };';
/** Runs for about as many milliseconds as the payload says, without being a loop that never ends. */
const BUSY =
  'export default (c) => { for (let i = 0; i < c.payload.rounds; i++) JSON.stringify(c); return null; };';

/** Process ids of this process's children that run a transform worker. */
function workerPids(): number[] {
  const children = readFileSync(`/proc/self/task/${process.pid}/children`, 'latin1').trim().split(' ');
  return children.map(Number).filter((pid) => {
    try {
      return readFileSync(`/proc/${pid}/cmdline`, 'latin1').includes('--jitless');
    } catch {
      return false;
    }
  });
}

async function until(holds: () => boolean): Promise<void> {
  while (!holds()) await new Promise((resolve) => setTimeout(resolve, 1));
}

/** Calls as a sender that is told to come again, where the machine has too much else to do: it has no right to a time. */
async function callAgain(
  transforms: Transforms,
  ref: TransformRef,
  payload: unknown,
): Promise<TransformReply> {
  for (;;) {
    const reply = await callTransform(transforms, ref, payload, { budgetMs: 60_000 });
    if (reply.kind === 'ok' || !/^no worker was free in time|^the machine is too busy/.test(reply.message))
      return reply;
  }
}

describe('the pool', () => {
  test('starts nothing where no mapping has a transform', async () => {
    const transforms = await fixture.load([]);
    expect(transforms.findings).toEqual([]);
    expect(fixture.sandbox.stats.pools).toEqual([]);
    expect(fixture.sandbox.health).toEqual({ ok: true });
  });

  test('serves good calls beside a hundred bad ones, and turns most of those away', async () => {
    fixture.write({ 'good.ts': GOOD, 'loop.ts': LOOP });
    const [good, loop] = [refTo('good.ts', { timeoutMs: 30_000 }), refTo('loop.ts', { timeoutMs: 100 })];
    const transforms = await fixture.load([good, loop]);
    const bad = Array.from({ length: 100 }, () => callTransform(transforms, loop));
    const fine = Array.from({ length: 50 }, (_, n) => callAgain(transforms, good, { n }));
    const goodReplies = await Promise.all(fine);
    const badReplies = await Promise.all(bad);
    expect(goodReplies.map((reply) => (reply.kind === 'ok' ? reply.json : reply))).toEqual(
      goodReplies.map((_, n) => `{"message":"good ${n}"}`),
    );
    const outcomes = badReplies.map((reply) => (reply.kind === 'failed' ? reply.failure : reply.kind));
    expect(outcomes.filter((outcome) => outcome !== 'timeout' && outcome !== 'deferred')).toEqual([]);
    // On a busy machine most calls get less than half of the processor, and such a call is not to blame for its end.
    const blamed = badReplies
      .filter((reply) => reply.kind === 'failed' && reply.failure === 'timeout')
      .filter(({ cpuMs = Infinity }) => cpuMs > 50).length;
    // The third opens the breaker, and one more may run beside it: the good ones waited behind these, not behind a hundred.
    expect(blamed).toBeLessThanOrEqual(4);
    if (blamed < 3) return;
    for (const reply of badReplies)
      if (reply.kind === 'failed' && reply.message.endsWith('is paused'))
        expect(reply).toMatchObject({ failure: 'deferred', retryAfterSeconds: 5 });
    expect(fixture.sandbox.stats.breakers).toMatchObject([{ module: 'loop.ts' }]);
    expect(fixture.events).toContainEqual({ kind: 'breaker-opened', module: 'loop.ts' });
  });

  test('sends the calls behind one that hangs to other workers at once, and answers them all', async () => {
    fixture.write({
      'quick.ts':
        'export default (c) => { while (c.payload.n === -1); return { message: "n " + c.payload.n }; };',
    });
    const quick = refTo('quick.ts', { timeoutMs: 1500 });
    const transforms = await fixture.load([quick]);
    // By quick answers it earns the right to queue behind itself.
    for (let n = 0; n < 40; n += 1) await callAgain(transforms, quick, { n });
    const hanging = callTransform(transforms, quick, { n: -1 });
    const behind = Array.from({ length: 100 }, (_, n) => callAgain(transforms, quick, { n }));
    expect(await hanging).toMatchObject({ kind: 'failed', failure: 'timeout' });
    const replies = await Promise.all(behind);
    expect(replies.map((reply) => (reply.kind === 'ok' ? reply.json : reply))).toEqual(
      replies.map((_, n) => `{"message":"n ${n}"}`),
    );
    expect(fixture.sandbox.stats.calls).toMatchObject({ ok: 140, timeout: 1 });
  });

  test('has room for a good call, however many bad ones wait', async () => {
    fixture.write({ 'good.ts': GOOD, 'loop.ts': LOOP });
    const [good, loop] = [refTo('good.ts', { timeoutMs: 30_000 }), refTo('loop.ts', { timeoutMs: 100 })];
    const transforms = await fixture.load([good, loop]);
    const bad = Array.from({ length: 1500 }, () => callTransform(transforms, loop));
    expect(await callAgain(transforms, good, { n: 1 })).toMatchObject({ kind: 'ok' });
    const words = (await Promise.all(bad)).map((reply) => (reply.kind === 'failed' ? reply.message : 'ok'));
    expect(words).not.toContain('ok');
    expect(words.filter((one) => one === 'too many calls are waiting').length).toBeGreaterThan(900);
  });

  test('replays what ran when a worker died without a cause, and loses nothing', async () => {
    fixture.write({ 'busy.ts': BUSY, 'good.ts': GOOD });
    const [busy, good] = [refTo('busy.ts', { timeoutMs: 60_000 }), refTo('good.ts', { timeoutMs: 30_000 })];
    const transforms = await fixture.load([busy, good]);
    const running = callTransform(transforms, busy, { rounds: 20_000 }, { budgetMs: 60_000 });
    const others = Array.from({ length: 20 }, (_, n) => callAgain(transforms, good, { n }));
    await until(() => (fixture.sandbox.stats.pools[0]?.running ?? 0) > 0);
    for (const pid of workerPids()) process.kill(pid, 'SIGKILL');
    expect(await running).toMatchObject({ kind: 'ok', json: 'null' });
    expect((await Promise.all(others)).map(({ kind }) => kind)).toEqual(others.map(() => 'ok'));
    expect(fixture.events).toContainEqual(expect.objectContaining({ kind: 'call-replayed' }));
    expect(fixture.events).toContainEqual({ kind: 'worker-died', cause: 'unexplained', module: 'busy.ts' });
  });

  test('blames nobody for workers that something outside has stopped', async () => {
    fixture.write({ 'good.ts': GOOD });
    const good = refTo('good.ts', { timeoutMs: 60_000 });
    const transforms = await fixture.load([good]);
    await until(() => fixture.sandbox.stats.pools[0]?.ready === 3);
    for (const pid of workerPids()) process.kill(pid, 'SIGSTOP');
    const reply = await callTransform(transforms, good, { n: 1 }, { budgetMs: 60_000 });
    expect(reply).toMatchObject({ kind: 'ok' });
    expect(fixture.events).toContainEqual(
      expect.objectContaining({ kind: 'worker-died', cause: 'suspended' }),
    );
    expect(fixture.sandbox.stats.calls).toEqual({ ok: 1 });
  });

  test.skipIf(process.platform !== 'linux' || !existsSync('/usr/bin/taskset'))(
    'tries a call again that was not given the processor, and blames nobody for it',
    async () => {
      fixture.write({ 'good.ts': GOOD });
      const patient = refTo('good.ts', { timeoutMs: 30_000 });
      // A call that gets half of its time has four times of what it takes here, so that none is to blame.
      const first = await callAgain(await fixture.load([patient]), patient, { n: 0 });
      const good = refTo('good.ts', { timeoutMs: Math.max(60, Math.ceil(8 * (first.cpuMs ?? 0))) });
      const transforms = await fixture.load([good, patient]);
      await until(() => fixture.sandbox.stats.pools[0]?.ready === 3);
      const cpu =
        /^Cpus_allowed_list:\s*(\d+)/m.exec(readFileSync('/proc/self/status', 'latin1'))?.[1] ?? '0';
      const run = (...argv: string[]): ChildProcess => spawn('/usr/bin/taskset', argv, { stdio: 'ignore' });
      // All workers on one processor, behind loops that the system prefers.
      for (const pid of workerPids()) {
        await once(run('-apc', cpu, String(pid)), 'exit');
        for (const thread of readdirSync(`/proc/${pid}/task`)) setPriority(Number(thread), 19);
      }
      const others = Array.from({ length: 12 }, () => run('-c', cpu, process.execPath, '-e', 'for (;;);'));
      try {
        await until(() =>
          others.every(({ pid = 0 }) => readFileSync(`/proc/${pid}/cmdline`, 'latin1').includes('for')),
        );
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

  test('gives a second try only the time that the first has left', async () => {
    fixture.write({ 'loop.ts': LOOP });
    const loop = refTo('loop.ts', { timeoutMs: 5000 });
    const transforms = await fixture.load([loop]);
    const startedAt = performance.now();
    const running = callTransform(transforms, loop);
    await until(() => performance.now() - startedAt > 1000);
    for (const pid of workerPids()) process.kill(pid, 'SIGKILL');
    const killedAt = performance.now();
    const reply = await running;
    expect(reply.kind === 'failed' ? reply.failure : reply.kind).toMatch(/timeout|deferred/);
    // A second try with all of its time would take 5000.
    expect(performance.now() - killedAt).toBeLessThan(longerHere(5000));
    expect(fixture.events.filter(({ kind }) => kind === 'call-replayed')).toHaveLength(1);
  });

  test('turns a call away whose time is up before a worker is there for its second try', async () => {
    fixture.write({ 'loop.ts': LOOP });
    const loop = refTo('loop.ts', { timeoutMs: 2000 });
    const transforms = await fixture.load([loop]);
    await until(() => fixture.sandbox.stats.pools[0]?.ready === 3);
    const startedAt = performance.now();
    const running = callTransform(transforms, loop);
    // At the very end of its time the signal comes from outside; the settling alone takes longer than what is left.
    await until(() => performance.now() - startedAt > 1990);
    for (const pid of workerPids()) process.kill(pid, 'SIGKILL');
    const killedAt = performance.now();
    expect(await running).toMatchObject({ kind: 'failed' });
    // A second try with all of its time would take 2000.
    expect(performance.now() - killedAt).toBeLessThan(longerHere(2000));
  });

  test('blames the call that was alone when its worker died again', async () => {
    fixture.write({ 'busy.ts': BUSY });
    const busy = refTo('busy.ts', { timeoutMs: 250_000 });
    const transforms = await fixture.load([busy]);
    const running = callTransform(transforms, busy, { rounds: 1e9 }, { budgetMs: 250_000 });
    const blamed = (): number =>
      fixture.events.filter((event) => event.kind === 'worker-died' && event.module !== undefined).length;
    for (const deaths of [1, 2]) {
      await until(() => (fixture.sandbox.stats.pools[0]?.running ?? 0) > 0);
      for (const pid of workerPids()) process.kill(pid, 'SIGKILL');
      await until(() => blamed() >= deaths);
    }
    expect(await running).toMatchObject({ kind: 'failed', failure: 'crashed' });
  });

  test('ends a call in time that no engine interrupts', async () => {
    fixture.write({ 'stuck.ts': 'export default () => new Array(1e9).fill(0).length;', 'good.ts': GOOD });
    const [stuck, good] = [refTo('stuck.ts', { timeoutMs: 100 }), refTo('good.ts', { timeoutMs: 30_000 })];
    const transforms = await fixture.load([stuck, good]);
    expect(await callTransform(transforms, stuck)).toMatchObject({
      kind: 'failed',
      failure: expect.stringMatching(/timeout|memory|crashed|deferred/),
    });
    expect(await callAgain(transforms, good, { n: 1 })).toMatchObject({ kind: 'ok' });
  });

  test('turns calls away while no worker process starts, and says so', async () => {
    const pool = new Pool({
      workers: 1,
      spare: 0,
      jit: false,
      program: 'process.exit(3)',
      onEvent: (event) => void fixture.events.push(event),
    });
    const module = pooledModule();
    let first: JobOutcome;
    // On a busy machine five starts take longer than a call waits.
    do first = await pool.submit(module, 100, { kind: 'inspect' });
    while (first.kind === 'deferred' && first.reason === 'no worker was free in time');
    expect(first).toMatchObject({ kind: 'deferred', reason: 'no worker process starts' });
    expect(pool.isHealthy).toBe(false);
    expect(await pool.submit(module, 100, { kind: 'inspect' })).toMatchObject({ kind: 'deferred' });
    expect(fixture.events).toContainEqual({ kind: 'workers-do-not-start', failures: 5 });
    await pool.stop();
  });
});

describe('stopping', () => {
  test('lets a running call end, turns later ones away, leaves no process, and may be said twice', async () => {
    fixture.write({ 'busy.ts': BUSY });
    const busy = refTo('busy.ts', { timeoutMs: 60_000 });
    const transforms = await fixture.load([busy]);
    const running = callTransform(transforms, busy, { rounds: 20_000 }, { budgetMs: 60_000 });
    await until(() => (fixture.sandbox.stats.pools[0]?.running ?? 0) > 0);
    const stopping = Promise.all([fixture.sandbox.stop(), fixture.sandbox.stop()]);
    expect(await callTransform(transforms, busy)).toMatchObject({ failure: 'deferred' });
    expect(await running).toMatchObject({ kind: 'ok' });
    await stopping;
    expect(workerPids()).toEqual([]);
    await fixture.sandbox.stop();
  });

  test('before anything ran', async () => {
    await fixture.sandbox.stop();
    expect(fixture.sandbox.stats.pools).toEqual([]);
  });
});

describe('a new generation', () => {
  test('runs new code while calls in flight end on the old, and shares what has not changed', async () => {
    fixture.write({
      'same.ts': GOOD,
      'edit.ts': `import { word } from './word.ts';\n${BUSY}\nexport const name = () => word;`,
      'word.ts': "export const word = 'old';",
    });
    const refs = [
      refTo('same.ts'),
      refTo('edit.ts', { timeoutMs: 60_000 }),
      refTo('edit.ts', { export: 'name' }),
    ] as const;
    const before = await fixture.load(refs);
    const inFlight = callTransform(before, refs[1], { rounds: 20_000 }, { budgetMs: 60_000 });
    fixture.write({ 'word.ts': "export const word = 'new';" });
    const after = await fixture.load(refs);
    before.release();
    expect(await inFlight).toMatchObject({ kind: 'ok', moduleSha256: before.hashes.get('edit.ts') });
    expect(await callAgain(after, refs[2], {})).toMatchObject({ json: '"new"' });
    expect(await callAgain(before, refs[2], {})).toMatchObject({ json: '"old"' });
    expect(after.hashes.get('same.ts')).toBe(before.hashes.get('same.ts'));
    expect(after.hashes.get('edit.ts')).not.toBe(before.hashes.get('edit.ts'));
    expect(fixture.sandbox.stats.pools.length).toBe(1);
  });

  test('that is broken leaves the working one as it is', async () => {
    fixture.write({ 'a.ts': GOOD });
    const ref = refTo('a.ts');
    const working = await fixture.load([ref]);
    fixture.write({ 'a.ts': 'export default (c => {' });
    const broken = await fixture.load([ref]);
    expect(broken.findings.map(({ code }) => code)).toEqual(['TRANSFORM_SYNTAX']);
    expect(await callTransform(broken, ref)).toMatchObject({ failure: 'load-error' });
    expect(await callAgain(working, ref, { n: 1 })).toMatchObject({ kind: 'ok' });
  });
});

describe('the breaker', () => {
  test('opens at the third strike within a minute, for five seconds, doubling to sixty', () => {
    const breaker = new Breaker();
    expect([breaker.strike(0, false), breaker.strike(59_999, false)]).toEqual([false, false]);
    expect(breaker.strike(61_000, false)).toBe(false);
    expect(breaker.strike(62_000, false)).toBe(true);
    let now = 62_000;
    for (const pauseMs of [5_000, 10_000, 20_000, 40_000, 60_000, 60_000]) {
      expect(breaker.state(now)).toBe('open');
      expect(breaker.admit(now)).toEqual({ kind: 'refused', retryAfterMs: pauseMs });
      now += pauseMs;
      expect(breaker.admit(now)).toEqual({ kind: 'trial' });
      expect(breaker.admit(now)).toMatchObject({ kind: 'refused' });
      expect(breaker.strike(now, true)).toBe(true);
    }
    expect(breaker.admit(now + 60_000)).toEqual({ kind: 'trial' });
    breaker.close();
    expect([breaker.state(now), breaker.admit(now).kind]).toEqual(['closed', 'pass']);
  });

  test('lets another trial through where the first never ran', () => {
    const breaker = new Breaker();
    for (const at of [0, 1, 2]) breaker.strike(at, false);
    expect(breaker.admit(6_000)).toEqual({ kind: 'trial' });
    breaker.abandonTrial();
    expect(breaker.admit(6_000)).toEqual({ kind: 'trial' });
  });
});

describe('frames', () => {
  test('arrive whole however the stream is cut', () => {
    const answers = array(
      record({
        status: constantFrom(...Object.values(STATUS)),
        id: nat(),
        cpuMicros: nat(),
        heapKb: nat(),
        logs: string({ unit: 'grapheme' }),
        value: string({ unit: 'grapheme' }),
      }),
      { maxLength: 8 },
    );
    assert(
      property(answers, array(nat({ max: 40 }), { maxLength: 30 }), (sent, cuts) => {
        const reader = new FrameReader();
        let rest = Buffer.concat(sent.map(encodeAnswer));
        const frames: Buffer[] = [];
        for (const cut of [...cuts, rest.length]) {
          frames.push(...(reader.push(rest.subarray(0, cut)) ?? []));
          rest = rest.subarray(cut);
        }
        expect(frames.map(decodeAnswer)).toEqual(sent);
      }),
      { seed: 1, numRuns: 100 },
    );
  });

  test('that contradict themselves are known', () => {
    expect(new FrameReader().push(Buffer.from([0xff, 0xff, 0xff, 0xff]))).toBeUndefined();
    expect(decodeAnswer(Buffer.alloc(4))).toBeUndefined();
    const answer = { status: STATUS.ok, id: 1, cpuMicros: 0, heapKb: 0, logs: 'x', value: '' };
    const whole = encodeAnswer(answer).subarray(4);
    expect(decodeAnswer(whole)).toEqual(answer);
    const changed = (from: string, to: string): Buffer =>
      Buffer.from(whole.toString('latin1').replace(from, to), 'latin1');
    expect(decodeAnswer(changed('1 1 0 0 x', '11 1 0 0 x'))).toBeUndefined();
    expect(decodeAnswer(changed('1 1 0 0 x', '- 1 0 0 x'))).toBeUndefined();
    expect(decodeAnswer(changed('1 1 0 0 x', '1 1 0 { x'))).toBeUndefined();
    expect(decodeAnswer(whole.subarray(0, 9))).toBeUndefined();
  });
});
