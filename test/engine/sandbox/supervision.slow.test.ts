import { array, assert, constantFrom, nat, property, record, string } from 'fast-check';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { Breaker } from '../../../src/engine/sandbox/host/breaker.ts';
import { decodeAnswer, encodeAnswer, FrameReader } from '../../../src/engine/sandbox/frames.ts';
import { STATUS } from '../../../src/engine/sandbox/names.ts';
import type { JobOutcome } from '../../../src/engine/sandbox/host/job-queue.ts';
import { Pool } from '../../../src/engine/sandbox/host/pool.ts';
import type { SandboxEvent } from '../../../src/engine/sandbox/sandbox.ts';
import {
  callAgain,
  callTransform,
  pooledModule,
  refTo,
  SandboxFixture,
  workerPids,
} from '../../support/sandbox-fixture.ts';

let fixture: SandboxFixture;
beforeEach(() => {
  fixture = new SandboxFixture();
});
afterEach(() => fixture.dispose());

/** Where no other call is to run beside: each process that starts takes a tenth of a second. */
async function withOneWorker(spare = 0): Promise<void> {
  await fixture.dispose();
  fixture = new SandboxFixture({ workers: 1, spare });
}

const GOOD = 'export default (c) => ({ message: "good " + c.payload.n });';
const LOOP = 'export default () => { for (;;); };';
/** Runs for about as many milliseconds as the payload says, without being a loop that never ends. */
const BUSY =
  'export default (c) => { for (let i = 0; i < c.payload.rounds; i++) JSON.stringify(c); return null; };';

/**
 * The program of a worker that is never given the processor: it answers with these, again and again, and says each time
 * that it computed nothing; without any it does not answer.
 */
const starvedWorker = (answers: readonly (keyof typeof STATUS)[]): string => `
import { readSync, writeSync } from 'node:fs';
const answers = ${JSON.stringify(answers.map((name) => STATUS[name]))};
const say = (status, id) => {
  const text = Buffer.from(status + ' ' + id + ' 0 0 \\n');
  const frame = Buffer.alloc(4 + text.length);
  frame.writeUInt32LE(text.length, 0);
  frame.set(text, 4);
  writeSync(3, frame);
};
say(${STATUS.ready}, 0);
const chunk = Buffer.alloc(65_536);
for (let answered = 0, length; (length = readSync(3, chunk)) > 0;) {
  for (let at = 0; at < length; at += 4 + chunk.readUInt32LE(at)) {
    const [line] = chunk.toString('utf8', at + 4, at + 4 + chunk.readUInt32LE(at)).split('\\n', 1);
    const { id } = JSON.parse(line);
    if (id !== undefined && answers.length > 0) say(answers[answered++ % answers.length], id);
  }
}`;

/** A call that never ends by itself, and how long it takes here until its time is up: a second try with all of it would, too. */
async function loopFor(timeoutMs: number) {
  await withOneWorker();
  fixture.write({ 'loop.ts': LOOP });
  const loop = refTo('loop.ts', { timeoutMs });
  const transforms = await fixture.load([loop]);
  const areReady = (): boolean => fixture.sandbox.stats.pools[0]?.ready === 1;
  await until(areReady);
  const startedAt = performance.now();
  expect(await callTransform(transforms, loop)).toMatchObject({ kind: 'failed' });
  const wholeMs = performance.now() - startedAt;
  await until(areReady);
  return { transforms, loop, wholeMs };
}

async function until(holds: () => boolean): Promise<void> {
  while (!holds()) await new Promise((resolve) => setTimeout(resolve, 5));
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
    const quick = refTo('quick.ts', { timeoutMs: 1000 });
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
    await withOneWorker(1);
    fixture.write({ 'good.ts': GOOD });
    const good = refTo('good.ts', { timeoutMs: 60_000 });
    const transforms = await fixture.load([good]);
    await until(() => fixture.sandbox.stats.pools[0]?.ready === 2);
    for (const pid of workerPids()) process.kill(pid, 'SIGSTOP');
    const reply = await callTransform(transforms, good, { n: 1 }, { budgetMs: 60_000 });
    expect(reply).toMatchObject({ kind: 'ok' });
    expect(fixture.events).toContainEqual(
      expect.objectContaining({ kind: 'worker-died', cause: 'suspended' }),
    );
    expect(fixture.sandbox.stats.calls).toEqual({ ok: 1 });
  });

  test.each([
    ['answers that its time was up, twice', ['timeout', 'timeout'], 'deferred'],
    ['answers that its time was up, once', ['timeout', 'ok'], 'answered'],
    ['does not answer', [], 'deferred'],
  ] as const)(
    'tries a call again that was not given the processor, and blames nobody for it: its worker %s',
    async (_, answers, kind) => {
      const onEvent = (event: SandboxEvent): void => void fixture.events.push(event);
      // A worker that answers is kept; each that does not is ended, and the second try is for another one.
      const [workers, ended] = answers.length > 0 ? [1, 0] : [2, 2];
      const pool = new Pool({ workers, spare: 0, jit: false, program: starvedWorker(answers), onEvent });
      const module = pooledModule();
      pool.prepare(module.body.memoryMb);
      const reason = 'the machine is too busy: twice the call hardly got the processor in its time';
      const expected = kind === 'deferred' ? { kind, reason } : { kind, answer: { status: STATUS.ok } };
      // Three that were to blame would open the breaker.
      for (let calls = 1; calls <= 3; calls += 1) {
        await until(() => pool.stats.ready === workers);
        expect(await pool.submit(module, 100, { kind: 'inspect' })).toMatchObject(expected);
        expect(module.breaker.state(performance.now())).toBe('closed');
        await until(() => pool.stats.spawned === workers + calls * ended);
      }
      const died = fixture.events.filter(
        (event) => event.kind === 'worker-died' && event.cause === 'starved',
      );
      expect(fixture.events).toEqual(died);
      expect(died).toHaveLength(3 * ended);
      await pool.stop();
    },
  );

  test('gives a second try only the time that the first has left', async () => {
    const { transforms, loop, wholeMs } = await loopFor(1200);
    const startedAt = performance.now();
    const running = callTransform(transforms, loop);
    await until(() => performance.now() - startedAt > 960);
    for (const pid of workerPids()) process.kill(pid, 'SIGKILL');
    const killedAt = performance.now();
    const reply = await running;
    expect(reply.kind === 'failed' ? reply.failure : reply.kind).toMatch(/timeout|deferred/);
    expect(performance.now() - killedAt).toBeLessThan(wholeMs);
    expect(fixture.events.filter(({ kind }) => kind === 'call-replayed')).toHaveLength(1);
  });

  test('turns a call away whose time is up before a worker is there for its second try', async () => {
    const { transforms, loop, wholeMs } = await loopFor(1000);
    const startedAt = performance.now();
    const running = callTransform(transforms, loop);
    // At the very end of its time the signal comes from outside; the settling alone takes longer than what is left.
    await until(() => performance.now() - startedAt > 990);
    for (const pid of workerPids()) process.kill(pid, 'SIGKILL');
    const killedAt = performance.now();
    expect(await running).toMatchObject({ kind: 'failed' });
    expect(performance.now() - killedAt).toBeLessThan(wholeMs);
  });

  test('blames the call that was alone when its worker died again', async () => {
    await withOneWorker();
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
    await withOneWorker();
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
    await withOneWorker();
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
    await withOneWorker();
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
