import { expect, onTestFinished, test } from 'vitest';
import type { Clock } from '../../../src/service/gateway/gateway.ts';
import { COST_UNKNOWN, failedTurn, type Runner } from '../../../src/service/runners/runners.ts';
import { type LimitRules, openStorage } from '../../../src/engine/storage/storage.ts';
import { ALL_MAPPINGS, pauseOfRunner } from '../../../src/engine/storage/facts.ts';
import { createHealth, openMetrics } from '../../../src/base/telemetry/telemetry.ts';
import {
  agentAction,
  answering,
  openHouse,
  temporaryFile,
  wakeAction,
} from '../../support/gateway-fixture.ts';

const HOUR_MS = 3_600_000;
const quiet = { info: () => {}, warn: () => {}, error: () => {} };
const onePerHour: LimitRules = { default: { runsPerHour: 1 }, byMapping: new Map() };

function movedClock(): Clock & { move(ms: number): void } {
  let aheadMs = 0;
  return {
    wallMs: () => Date.now() + aheadMs,
    monotonicMs: () => performance.now() + aheadMs,
    move: (ms) => void (aheadMs += ms),
  };
}

test('runs over the limit wait, it is told once, and they begin when the hour has room', async () => {
  const file = temporaryFile();
  const clock = movedClock();
  const health = createHealth({ log: quiet });
  const metrics = await openMetrics({ backlog: () => Promise.reject(new Error('not asked')) });
  const options = { clock, health, metrics: metrics.gateway };
  const house = await openHouse({ file, limits: onePerHour, options });
  const origin = { requestId: 'r', path: 'other', mappingId: 'other', trusted: false };
  const [first, second, third] = [agentAction(), agentAction(), agentAction()];
  const other = agentAction({ origin });
  await house.accept(first, second, third, other);
  for (const { id } of [first, other]) expect(await house.gateway.waitForRun(id, 5_000)).toBeDefined();
  await expect.poll(() => health.degraded()).toMatchObject([{ code: 'mapping_limited', count: 1 }]);
  expect(health.degraded()[0]?.details[0]?.message).toContain('runsPerHour is reached; 2 runs wait');
  const text = async (): Promise<string> => (await metrics.render()).text;
  expect(await text()).toContain('sluice_mapping_waiting_runs{mapping="test",reason="runsPerHour"} 2');
  const alerts = async () => (await house.events()).filter((event) => event.startsWith('Mapping test:'));
  await expect.poll(alerts).toHaveLength(1);

  // Another process goes on where this one ends: it knows what began, and that it was told.
  await house.gateway.stop(0);
  await house.storage.close();
  const again = await openHouse({ file, limits: onePerHour, options });
  await expect.poll(() => again.storage.listMarked(0)).toMatchObject([{ mappingId: 'test', waiting: 2 }]);
  expect(await again.storage.findRun(second.id)).toMatchObject({ state: 'queued', attempts: 0 });
  expect((await again.events()).filter((event) => event.startsWith('Mapping test:'))).toHaveLength(1);
  clock.move(HOUR_MS);
  again.gateway.notify();
  expect(await again.gateway.waitForRun(second.id, 5_000)).toBeDefined();
  expect(await again.storage.findRun(third.id)).toMatchObject({ state: 'queued' });
  // One that is named goes at once.
  expect(await again.storage.retry({ kind: 'ids', ids: [third.id] }, clock.wallMs())).toBe(1);
  again.gateway.notify();
  expect(await again.gateway.waitForRun(third.id, 5_000)).toBeDefined();
  clock.move(2_000);
  again.gateway.notify();
  await expect.poll(() => health.degraded()).toEqual([]);
  // Well for an hour: the next time is told again.
  clock.move(HOUR_MS + 20_000);
  again.gateway.notify();
  await expect.poll(() => again.storage.listMarked(0)).toEqual([]);
});

test('a mapping that has spent its sum of the day waits for the next, and what was spent outlives the process', async () => {
  const file = temporaryFile();
  const clock = movedClock();
  const health = createHealth({ log: quiet });
  const metrics = await openMetrics({ backlog: () => Promise.reject(new Error('not asked')) });
  const options = { clock, health, metrics: metrics.gateway };
  const limits: LimitRules = { byMapping: new Map([['test', { usdPerDay: 0.02 }]]) };
  const usage = { inputTokens: 7, outputTokens: 2, costUsd: 0.0123 };
  const answer = () => ({ kind: 'completed', outcome: 'ok', reply: 'done', usage }) as const;
  const runners = { default: answering(answer) };
  const house = await openHouse({ file, limits, runners, options });
  const runs = [agentAction(), agentAction(), agentAction()] as const;
  for (const one of runs.slice(0, 2)) {
    await house.accept(one);
    expect(await house.gateway.waitForRun(one.id, 5_000)).toBeDefined();
  }
  await house.accept(runs[2]);
  await expect.poll(() => health.degraded()).toMatchObject([{ code: 'mapping_limited', count: 1 }]);
  expect(health.degraded()[0]?.details[0]?.message).toMatch(/usdPerDay is reached; 1 run waits.*T00:00:00/);
  const { text } = await metrics.render();
  expect(text).toContain('sluice_mapping_waiting_runs{mapping="test",reason="usdPerDay"} 1');
  expect(text).toContain('sluice_cost_usd_total{runner="default",mapping="test"} 0.0246');
  expect(await house.storage.findRun(runs[0].id)).toMatchObject({ usage });
  await house.gateway.stop(0);
  await house.storage.close();
  const again = await openHouse({ file, limits, runners, options });
  await expect.poll(() => again.storage.listMarked(0)).toMatchObject([{ reason: 'usdPerDay' }]);
  expect(await again.storage.listCosts({ limit: 9 })).toMatchObject([
    { mappingId: 'test', turns: 2, usd: 0.0246 },
  ]);
  expect(await again.storage.findRun(runs[2].id)).toMatchObject({ state: 'queued', attempts: 0 });
  clock.move(24 * HOUR_MS);
  again.gateway.notify();
  expect(await again.gateway.waitForRun(runs[2].id, 5_000)).toBeDefined();
});

test('a turn that was ended says that its cost is not known, where its agent had not said it', async () => {
  const file = temporaryFile();
  const message = `the command was ended because the service stops${COST_UNKNOWN}`;
  const ended = { ...failedTurn('interrupted', message), usage: { isCostUnknown: true } as const };
  const started: string[] = [];
  const hanging: Runner = {
    kind: 'claude',
    run: ({ runId }, { signal }) => {
      started.push(runId);
      return new Promise((resolve) => {
        signal.addEventListener('abort', () => resolve(ended));
      });
    },
  };
  const house = await openHouse({ file, runners: { default: hanging } });
  const [cancelled, stopped] = [agentAction(), agentAction()];
  await house.accept(cancelled, stopped);
  await expect.poll(() => started).toHaveLength(2);
  expect(await house.gateway.cancel([cancelled.id])).toBe(1);
  expect(await house.gateway.waitForRun(cancelled.id, 5_000)).toBeDefined();
  expect(await house.storage.findRun(cancelled.id)).toMatchObject({
    lastError: {
      code: 'cancelled',
      message: 'ended by the operator while it was under way; what it cost is not known',
    },
  });
  expect(await house.storage.listCosts({ limit: 9 })).toMatchObject([{ turns: 1, usd: 0, costUnknown: 1 }]);
  await house.gateway.stop(0);
  expect(await house.storage.findRun(stopped.id)).toMatchObject({
    state: 'queued',
    lastError: {
      message: 'the run was under way when the service ended; it may have acted; what it cost is not known',
    },
  });
});

test('the main session waits for its runner that is paused', async () => {
  const house = await openHouse({});
  await house.storage.pauseRuns(pauseOfRunner('default'), Date.now());
  await house.accept(wakeAction('hello', { mode: 'now' }));
  await new Promise((resolve) => setTimeout(resolve, 500));
  expect(await house.events('pending')).toEqual(['hello']);
  await house.storage.resumeRuns(ALL_MAPPINGS);
  await expect.poll(() => house.events('pending')).toEqual([]);
});

test('another process pauses and resumes the queue of a running service', async () => {
  const file = temporaryFile();
  const health = createHealth({ log: quiet });
  const house = await openHouse({ file, options: { health } });
  const outside = await openStorage(`sqlite:${file}`, { mode: 'attached' });
  onTestFinished(() => outside.close());
  await outside.pauseRuns('test', Date.now());
  const action = agentAction();
  await house.accept(action);
  await expect.poll(() => health.degraded()).toMatchObject([{ code: 'queue_paused' }]);
  expect(await house.storage.findRun(action.id)).toMatchObject({ state: 'queued' });
  await outside.resumeRuns(ALL_MAPPINGS);
  expect(await house.gateway.waitForRun(action.id, 5_000)).toBeDefined();
  await expect.poll(() => health.degraded()).toEqual([]);
});

test('it is told again where another service had found the mapping well', async () => {
  const clock = movedClock();
  const house = await openHouse({ limits: onePerHour, options: { clock } });
  await house.accept(agentAction(), agentAction());
  const alerts = async () => (await house.events()).filter((event) => event.startsWith('Mapping test:'));
  await expect.poll(alerts).toHaveLength(1);
  expect(await house.storage.unmarkLimited(clock.wallMs() + 1)).toEqual(['test']);
  clock.move(11_000);
  house.gateway.notify();
  await expect.poll(alerts).toHaveLength(2);
});

test('an alert that cannot be stored fails no pass, is written down once, and is told when there is room', async () => {
  const clock = movedClock();
  const house = await openHouse({ limits: onePerHour, maxPendingEvents: 1, options: { clock } });
  const filling = wakeAction('fills the queue of events', { mode: 'next-heartbeat' });
  await house.accept(filling);
  const [first, second] = [agentAction(), agentAction()];
  await house.accept(first, second);
  expect(await house.gateway.waitForRun(first.id, 5_000)).toBeDefined();
  const messages = (): readonly string[] => house.logged.map(({ message }) => message);
  const UNTOLD = 'an alert could not be stored';
  await expect.poll(messages).toContain(UNTOLD);
  // The next mark tries it again.
  clock.move(11_000);
  house.gateway.notify();
  await expect.poll(() => house.storage.listMarked(clock.wallMs() - 5_000)).toHaveLength(1);
  expect(await house.storage.drop({ kind: 'ids', ids: [filling.id] }, clock.wallMs(), () => ({}))).toBe(1);
  clock.move(11_000);
  house.gateway.notify();
  await expect
    .poll(async () => (await house.events()).filter((event) => event.startsWith('Mapping test:')))
    .toHaveLength(1);
  expect(messages().filter((message) => message === UNTOLD)).toHaveLength(1);
  expect(messages().filter((message) => message.includes('look'))).toEqual([]);
});
