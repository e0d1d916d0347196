import { expect, test, vi } from 'vitest';
import type { AgentAction } from '../../../src/base/action.ts';
import type { GatewayContext } from '../../../src/service/gateway/gateway-context.ts';
import type { RunAttempts } from '../../../src/service/gateway/run-attempts.ts';
import { WorkerRuns } from '../../../src/service/gateway/worker-runs.ts';
import { work } from '../../support/storage-builders.ts';
import { openMetrics } from '../../../src/base/telemetry/telemetry.ts';
import {
  agentAction,
  answering,
  configurationOf,
  type House,
  type HouseOptions,
  ok,
  openHouse,
  temporaryFile,
} from '../../support/gateway-fixture.ts';

const LAPTOP = {
  kind: 'worker',
  tokens: ['0123456789abcdef0123456789abcdef'],
  leaseSeconds: 60,
  maxReplyBytes: 100_000,
} as const;
const TIME = { timeout: 60_000 };

interface Taken {
  readonly runner: string;
  readonly run: {
    readonly id: string;
    readonly attempt: string;
    readonly turn: { readonly prompt: string; readonly attempt: number; readonly history: readonly object[] };
  } | null;
}

/** A clock that a test moves. */
function movableClock() {
  let aheadMs = 0;
  return {
    wallMs: () => Date.now() + aheadMs,
    monotonicMs: () => performance.now() + aheadMs,
    advance: (ms: number) => void (aheadMs += ms),
  };
}

function openWithLaptop(options: HouseOptions = {}): Promise<House> {
  return openHouse({
    ...options,
    runnerSettings: { laptop: LAPTOP, ...options.runnerSettings },
    runners: { laptop: answering(() => ok('never')), ...options.runners },
  });
}

const forLaptop = (change: Partial<AgentAction> = {}): AgentAction =>
  agentAction({ runner: 'laptop', ...change });

const ask = (
  house: House,
  action: 'take' | 'renew' | 'finish',
  body: object,
  runId?: string,
  runner = 'laptop',
) => house.gateway.answerWorker({ runner, action, runId, body, signal: new AbortController().signal });
const take = async (house: House, body: object = {}) =>
  (await ask(house, 'take', { waitSeconds: 0, worker: 'mba', ...body })) as Taken;
const finish = (house: House, { run }: Taken, body: object = { reply: 'done' }) =>
  ask(house, 'finish', { attempt: run?.attempt, ...body }, run?.id);
const renew = (house: House, { run }: Taken) => ask(house, 'renew', { attempt: run?.attempt }, run?.id);
const OVER = { code: 'attempt_over' };

test('gives a run with its prompt and history to one worker, and delivers what comes back', async () => {
  const house = await openWithLaptop();
  const [first, second] = [forLaptop({ sessionKey: 'k' }), forLaptop({ sessionKey: 'k', message: 'more' })];
  await house.accept(first, second);
  const taken = await take(house);
  expect(taken).toMatchObject({ runner: 'laptop', run: { id: first.id, leaseSeconds: 60 } });
  expect(taken.run?.turn).toMatchObject({ prompt: first.prompt, attempt: 1, history: [] });
  for (const gone of ['message', 'cwd', 'deliverTo']) expect(taken.run?.turn).not.toHaveProperty(gone);
  expect((await take(house)).run).toBeNull();
  expect(await finish(house, taken)).toEqual({ ok: true });
  expect(await finish(house, taken, { reply: 'other' })).toEqual({ ok: true });
  expect(await house.storage.findRun(first.id)).toMatchObject({
    state: 'completed',
    outcome: 'ok',
    reply: 'done',
  });
  expect((await take(house)).run?.turn.history).toMatchObject([{ text: first.prompt }, { text: 'done' }]);
  expect(await house.events()).toHaveLength(1);
});

test('a worker that waits gets the run as soon as it is there, and none that is of another runner', async () => {
  const house = await openWithLaptop();
  const waiting = take(house, { waitSeconds: 20 });
  const action = forLaptop();
  await house.accept(agentAction(), action);
  expect((await waiting).run?.id).toBe(action.id);
  const other = ask(house, 'finish', { attempt: (await waiting).run?.attempt }, action.id, 'other');
  await expect(other).rejects.toMatchObject({ code: 'not_found' });
});

test('a failure ends the run, and one that was not begun is tried again or waits for its agent', async () => {
  const house = await openWithLaptop();
  const [failed, busy] = [forLaptop(), forLaptop()];
  await house.accept(failed);
  const usage = { costUsd: 0.5 };
  await finish(house, await take(house), {
    reply: 'half',
    error: { code: 'exit_1', message: 'it broke' },
    usage,
  });
  expect(await house.storage.findRun(failed.id)).toMatchObject({
    outcome: 'error',
    lastError: { code: 'exit_1' },
    usage,
  });
  await house.accept(busy);
  const away = { kind: 'not-started', code: 'login_needed', message: 'log in', affects: 'runner' };
  await finish(house, await take(house), away);
  expect(await house.storage.findRun(busy.id)).toMatchObject({ state: 'queued', attempts: 0 });
  expect(await house.storage.listHolds('')).toMatchObject([{ runner: 'laptop', code: 'login_needed' }]);
  expect((await take(house)).run).toBeNull();
});

test('refuses what is no answer, and keeps names to what can be shown', async () => {
  const house = await openWithLaptop();
  await house.accept(forLaptop());
  const taken = await take(house, { worker: '\u001b[31m<b>' });
  expect((await house.storage.listWorkers('echo'))[0]?.name).toBe('_[31m_b_'.replaceAll('[', '_'));
  for (const body of [{}, { attempt: 'short' }, { attempt: taken.run?.attempt, kind: 'forwarded' }, []])
    await expect(ask(house, 'finish', body, taken.run?.id)).rejects.toMatchObject({ code: 'invalid_body' });
  await expect(ask(house, 'renew', { attempt: 'another-attempt' }, taken.run?.id)).rejects.toMatchObject(
    OVER,
  );
  await expect(ask(house, 'renew', { attempt: 'another-attempt' }, 'unknown')).rejects.toMatchObject({
    code: 'not_found',
  });
});

test('a silent worker is a crash: the run begins again at the head of its conversation, up to three times', async () => {
  const clock = movableClock();
  const house = await openWithLaptop({ options: { clock } });
  const [run, next] = [forLaptop({ sessionKey: 'k' }), forLaptop({ sessionKey: 'k' })];
  await house.accept(run, next);
  for (let attempt = 1; attempt <= 3; attempt += 1) {
    const taken = await take(house);
    expect(taken.run).toMatchObject({ id: run.id, turn: { attempt } });
    await silence(house, clock);
    await vi.waitFor(
      async () => expect((await house.storage.findRun(run.id))?.state).not.toBe('active'),
      TIME,
    );
  }
  expect(await house.storage.findRun(run.id)).toMatchObject({
    state: 'dead',
    lastError: { code: 'interrupted' },
  });
  expect((await take(house)).run?.id).toBe(next.id);
});

test('never begins again what must not be, by the mapping or by what the agent of the worker may do', async () => {
  const clock = movableClock();
  const house = await openWithLaptop({ options: { clock } });
  const [byMapping, byAccess] = [forLaptop({ retry: { afterCrash: 'never' } }), forLaptop()];
  await house.accept(byMapping, byAccess);
  const first = await take(house);
  const second = await take(house, { access: 'edit' });
  await silence(house, clock);
  for (const { id } of [byMapping, byAccess])
    await vi.waitFor(async () => expect((await house.storage.findRun(id))?.state).toBe('dead'), TIME);
  // Both ends come late, and no other attempt has begun.
  await finish(house, first);
  await finish(house, second, { reply: 'late' });
  expect(await house.storage.findRun(byAccess.id)).toMatchObject({ state: 'completed', reply: 'late' });
  expect((await house.events('pending')).filter((text) => text.includes('interrupted'))).toEqual([]);
});

test('takes a late end, and refuses it after another attempt has begun', async () => {
  const clock = movableClock();
  const house = await openWithLaptop({ options: { clock } });
  const [slept, given] = [forLaptop(), forLaptop()];
  await house.accept(slept, given);
  const [first, second] = [await take(house), await take(house)];
  await silence(house, clock);
  const isQueued = (id: string) =>
    vi.waitFor(async () => expect((await house.storage.findRun(id))?.state).toBe('queued'), TIME);
  await isQueued(given.id);
  expect(await renew(house, first)).toMatchObject({ ok: true });
  expect((await take(house)).run?.id).toBe(given.id);
  await expect(renew(house, second)).rejects.toMatchObject(OVER);
  await expect(finish(house, second)).rejects.toMatchObject(OVER);
  await expect(finish(house, second)).rejects.toMatchObject(OVER);
  expect(await house.storage.listAudit(5)).toMatchObject([{ what: 'late end', changed: 0 }]);
  for (let number = 10; number < 30; number += 1) {
    const madeUp = finish(house, second, { attempt: `made-up-${number}` });
    await expect(madeUp).rejects.toMatchObject(OVER);
  }
  // The run had two attempts.
  expect(await house.storage.listAudit(50)).toHaveLength(3);
  expect(await finish(house, first)).toEqual({ ok: true });
  expect(await house.storage.findRun(slept.id)).toMatchObject({ state: 'completed', attempts: 1 });
});

test('forgets late ends that came before a thousand others', async () => {
  const { storage } = await openWithLaptop();
  const action = forLaptop();
  await storage.accept(work([action]));
  const run = await storage.findRun(action.id);
  const recordAudit = vi.fn(() => Promise.resolve());
  const findRun = (id: string) => Promise.resolve({ ...run, id });
  const configuration = () => configurationOf({ runnerSettings: { laptop: LAPTOP } });
  const told = { warn: () => {} };
  const context = { storage: { findRun, recordAudit }, configuration, log: told, now: () => 0 };
  const workers = new WorkerRuns(context as unknown as GatewayContext, {} as RunAttempts);
  const { signal } = new AbortController();
  const late = async (runId: string) => {
    const question = {
      runner: 'laptop',
      action: 'finish',
      runId,
      body: { attempt: 'attempt-of-it' },
    } as const;
    await expect(workers.answer({ ...question, signal })).rejects.toMatchObject(OVER);
  };
  await late('first');
  await late('first');
  expect(recordAudit).toHaveBeenCalledTimes(1);
  for (let count = 0; count < 1_001; count += 1) await late(`run-${count}`);
  await late('first');
  expect(recordAudit).toHaveBeenCalledTimes(1_003);
});

test('a worker that came back without its turn says so, and its run begins again', async () => {
  const house = await openWithLaptop();
  const [run, careful] = [forLaptop(), forLaptop({ retry: { afterCrash: 'never' } })];
  await house.accept(run);
  await finish(house, await take(house), { kind: 'interrupted' });
  expect((await take(house)).run).toMatchObject({ id: run.id, turn: { attempt: 2 } });
  await house.accept(careful);
  await finish(house, await take(house), { kind: 'interrupted' });
  expect(await house.storage.findRun(careful.id)).toMatchObject({
    state: 'dead',
    usage: { isCostUnknown: true },
  });
});

test('a run whose worker ended before it had begun stands where it stood, and no later one overtakes it', async () => {
  const house = await openWithLaptop();
  const [first, second] = [forLaptop({ sessionKey: 'k' }), forLaptop({ sessionKey: 'k' })];
  await house.accept(first, second);
  const unbegun = { kind: 'not-started', code: 'interrupted', message: 'the worker ended' };
  await finish(house, await take(house), unbegun);
  expect((await take(house)).run).toMatchObject({ id: first.id, turn: { attempt: 1 } });
});

test('tells a worker to end what was cancelled or takes too long, and how it ends then', async () => {
  const clock = movableClock();
  const house = await openWithLaptop({ options: { clock } });
  const [cancelled, slow] = [forLaptop(), forLaptop({ timeoutSeconds: 1 })];
  await house.accept(cancelled, slow);
  const [first, second] = [await take(house), await take(house)];
  expect(await house.gateway.cancel([cancelled.id])).toBe(1);
  expect(await renew(house, first)).toMatchObject({ end: 'cancelled' });
  const usage = { costUsd: 0.25 };
  await finish(house, first, { outcome: 'error', error: { code: 'interrupted', message: 'ended' }, usage });
  expect(await house.storage.findRun(cancelled.id)).toMatchObject({
    lastError: { code: 'cancelled' },
    usage,
  });
  clock.advance(40_000);
  expect(await renew(house, second)).toMatchObject({ end: 'timeout' });
  await silence(house, clock);
  await vi.waitFor(
    async () => expect(await house.storage.findRun(slow.id)).toMatchObject({ outcome: 'timeout' }),
    TIME,
  );
});

test('tells a worker to end a turn whose conversation has ended, and what it hands over then is no failure', async () => {
  const house = await openWithLaptop();
  const conversation = { keySeconds: 3_600, waitSeconds: 900 };
  const of = { sessionKey: 'hook:github:o/r:7', owner: 'owner:github', conversation } as const;
  const [opened, comment] = [forLaptop(of), forLaptop(of)];
  await house.accept(opened);
  const taken = await take(house);
  expect(await renew(house, taken)).not.toHaveProperty('end');
  await house.accept(comment);
  await house.accept(forLaptop({ ...of, conversation: { ...conversation, start: false, end: 'now' } }));
  expect(await renew(house, taken)).toMatchObject({ end: 'superseded' });
  await finish(house, taken, { outcome: 'error', error: { code: 'interrupted', message: 'ended' } });
  for (const { id } of [opened, comment])
    expect(await house.gateway.waitForRun(id, 60_000)).toMatchObject({ error: { code: 'superseded' } });
  expect((await take(house)).run).toBeNull();
  expect(await house.storage.failedByHour(9)).toEqual([]);
});

test('a service that has just started, or stood still, calls nobody silent', async () => {
  const clock = movableClock();
  const file = temporaryFile();
  const house = await openWithLaptop({ file, options: { clock } });
  const run = forLaptop();
  await house.accept(run);
  const taken = await take(house);
  clock.advance(3_600_000);
  await new Promise((resolve) => setTimeout(resolve, 1_500));
  expect(await house.storage.findRun(run.id)).toMatchObject({ state: 'active', attempts: 1 });
  await house.gateway.stop(0);
  await house.storage.close();
  const again = await openWithLaptop({ file, options: { clock } });
  expect(await again.storage.findRun(run.id)).toMatchObject({ state: 'active' });
  expect(await renew(again, taken)).toMatchObject({ ok: true });
  expect(await finish(again, taken)).toEqual({ ok: true });
  expect(await again.storage.findRun(run.id)).toMatchObject({ state: 'completed', attempts: 1 });
});

test('says once that no worker asks while runs wait, and that one asks again', async () => {
  const clock = movableClock();
  const house = await openWithLaptop({ options: { clock }, gateway: { holdHours: 1 } });
  await house.accept(forLaptop());
  clock.advance(3 * 3_600_000);
  await vi.waitFor(
    async () =>
      expect(await house.storage.listHolds('')).toMatchObject([{ runner: 'laptop', code: 'no_worker' }]),
    TIME,
  );
  const away = (await house.events()).filter((text) => text.includes('no_worker'));
  expect(away).toHaveLength(1);
  expect(away[0]).toMatch(/Its runs wait in their order\.$/);
  expect((await take(house)).run).not.toBeNull();
  await vi.waitFor(async () => expect(await house.storage.listHolds('')).toEqual([]), TIME);
});

test('counts the workers that ask, and the runs that they carry', async () => {
  const clock = movableClock();
  const metrics = await openMetrics({ backlog: () => Promise.reject(new Error('not asked')) });
  const house = await openWithLaptop({ options: { clock, metrics: metrics.gateway } });
  await house.accept(forLaptop());
  await take(house);
  await take(house, { worker: 'office' });
  const text = async (): Promise<string> => (await metrics.render()).text;
  const look = (): void => {
    clock.advance(10_000);
    house.gateway.notify();
  };
  look();
  await expect.poll(text).toContain('sluice_workers{runner="laptop"} 2');
  expect(await text()).toContain('sluice_worker_runs{runner="laptop"} 1');
  // The one that carries a run is there until its lease is over.
  clock.advance(300_000);
  look();
  await expect.poll(text).not.toContain('sluice_workers{runner="laptop"} 2');
});

/** Lets leases end while the service looks on. */
async function silence(house: House, clock: ReturnType<typeof movableClock>): Promise<void> {
  void house;
  for (let step = 0; step < 34; step += 1) {
    clock.advance(4_000);
    await new Promise((resolve) => setTimeout(resolve, 60));
    house.gateway.notify();
  }
}
