import * as fc from 'fast-check';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { Gateway } from '../../../src/service/gateway/gateway.ts';
import {
  delayOfRepeat,
  MAX_RETRY_AFTER_MS,
  OUTBOX_RETRY,
  RUN_RETRY,
} from '../../../src/service/gateway/retry.ts';
import { armTimer, deriveSignal, pause, within, WorkLoop } from '../../../src/base/timers/timers.ts';
import type { Action } from '../../../src/base/action.ts';
import type { RunnerSettings } from '../../../src/engine/config/config.ts';
import { crashOf } from '../../../src/service/gateway/after-crash.ts';
import type { Turn, TurnResult } from '../../../src/service/runners/runners.ts';
import { takeTurn } from '../../../src/service/gateway/run-turn.ts';
import { type AgentRun, openStorage, type Storage } from '../../../src/engine/storage/storage.ts';
import {
  CountedMetrics,
  agentAction,
  answering,
  configurationOf,
  FAST_RETRY,
  ok,
  openHouse,
  RecordingChannel,
  temporaryFile,
  wakeAction,
} from '../../support/gateway-fixture.ts';

/** A real store whose named methods refuse their first calls, as on a full disk. */
function refusing(storage: Storage, refusals: Partial<Record<keyof Storage, number>>): Storage {
  const left = new Map(Object.entries(refusals));
  return new Proxy(storage, {
    get(target, name: keyof Storage) {
      if (name === 'lease') return target.lease;
      const method = target[name] as (...args: unknown[]) => unknown;
      return (...args: unknown[]) => {
        const more = left.get(name) ?? 0;
        if (more <= 0) return method.apply(target, args);
        left.set(name, more - 1);
        return Promise.reject(Object.assign(new Error('disk full'), { code: 'disk_full' }));
      };
    },
  });
}

async function gatewayOn(
  refusals: Partial<Record<keyof Storage, number>>,
  options: Parameters<typeof configurationOf>[0],
) {
  const storage = await openStorage(`sqlite:${temporaryFile()}`, { fsync: false });
  const logged: { readonly message: string; readonly fields: object }[] = [];
  const log = (fields: object, message: string): void => void logged.push({ message, fields });
  const counted = new CountedMetrics();
  const gateway = new Gateway({
    storage: refusing(storage, refusals),
    configuration: configurationOf(options),
    log: { info: log, warn: log, error: log },
    retry: FAST_RETRY,
    metrics: counted,
  });
  onTestFinished(async () => {
    await gateway.stop(0);
    await storage.close();
  });
  await gateway.start();
  const accept = async (action: Action): Promise<void> => {
    await storage.accept({ requestId: action.id, receivedAt: Date.now(), actions: [action], warnings: [] });
    gateway.notify();
  };
  return { storage, gateway, counted, logged, accept };
}

describe('a store that refuses', () => {
  test('for a while ends neither the loop nor the run', async () => {
    const house = await gatewayOn({ claimRuns: 2, claimOutbox: 1, nextDueAt: 2 }, {});
    const action = agentAction();
    await house.accept(action);
    expect(await house.gateway.waitForRun(action.id, 10_000)).toMatchObject({ outcome: 'ok' });
    expect(house.logged).toContainEqual({
      message: 'the gateway could not look for work; trying again',
      fields: { code: 'disk_full' },
    });
  });

  test('a completion gets it again, and the run is not run again', async () => {
    let turns = 0;
    const runner = answering(() => (turns++, ok('done')));
    const house = await gatewayOn({ completeRun: 2 }, { runners: { default: runner } });
    const action = agentAction();
    await house.accept(action);
    expect(await house.gateway.waitForRun(action.id, 10_000)).toMatchObject({ outcome: 'ok', reply: 'done' });
    expect(turns).toBe(1);
    expect(await house.storage.findRun(action.id)).toMatchObject({ attempts: 1 });
  });

  test('the record of a chunk gets it again, and no chunk goes out twice', async () => {
    const channel = new RecordingChannel('telegram', 10);
    const house = await gatewayOn(
      { recordProgress: 1, completeOutbox: 1, findLastTarget: 2 },
      { channels: [channel] },
    );
    await house.accept(
      agentAction({ deliver: true, channel: 'telegram', to: '1', message: 'some words in three chunks' }),
    );
    await expect.poll(() => house.counted.outbox['sent']).toBe(1);
    const keys = channel.messages.map(({ key }) => key);
    expect(new Set(keys).size).toBe(keys.length);
  });

  test('the earlier turns of the main session gets the question again, and the turn is taken', async () => {
    const runner = answering(() => ok('done'));
    const house = await gatewayOn({ findConversation: 1 }, { runners: { default: runner } });
    await house.accept(wakeAction('the disk is full'));
    await expect.poll(() => house.counted.heartbeat['ok']).toBe(1);
  });

  test('the earlier turns of a session counts as an attempt that did not start', async () => {
    const runner = answering(() => ok('done'));
    const house = await gatewayOn({ findConversation: 1 }, { runners: { default: runner } });
    const action = agentAction({ sessionKey: 'hook:kept' });
    await house.accept(action);
    expect(await house.gateway.waitForRun(action.id, 10_000)).toMatchObject({ outcome: 'ok' });
    expect(await house.storage.findRun(action.id)).toMatchObject({ attempts: 2 });
  });
});

test('a run that is interrupted at every attempt is dead after three', async () => {
  const file = temporaryFile();
  const action = agentAction();
  const first = await openHouse({ file, start: false });
  await first.accept(action);
  await first.storage.close();
  for (let start = 1; start <= 3; start += 1) {
    // Claimed by a gateway that dies with it.
    const storage = await openStorage(`sqlite:${file}`, { fsync: false });
    const [run] = (await storage.takeOver()).runs;
    expect(run === undefined).toBe(start === 1);
    if (run !== undefined) {
      await storage.requeueRun(run.id, { code: 'interrupted', message: '', retryAt: 0, nowMs: Date.now() });
    }
    expect(await storage.claimRuns({ nowMs: Date.now(), limit: 1 })).toMatchObject([{ attempts: start }]);
    await storage.close();
  }
  const last = await openHouse({ file });
  expect(await last.gateway.waitForRun(action.id, 5000)).toMatchObject({
    state: 'dead',
    error: { code: 'interrupted' },
  });
  expect(await last.events()).toEqual([
    'Hook Test (dead): interrupted: the run was under way when the service ended; it may have acted',
  ]);
});

test('a run whose prompt is a file may have begun before its process is on record', () => {
  const crashed = (prompt: 'stdin' | 'file', argv: readonly string[] = ['agent']): boolean => {
    const command = { kind: 'command', prompt, argv } as unknown as RunnerSettings;
    const { settings } = configurationOf({ runnerSettings: { default: command } });
    return crashOf({ action: agentAction({ runner: 'default' }) } as AgentRun, settings).mayHaveBegun;
  };
  expect([crashed('stdin'), crashed('file'), crashed('stdin', ['a', '{prompt_file}'])]).toEqual([
    false,
    true,
    true,
  ]);
});

describe('the retry policy', () => {
  test('waits longer each time, with jitter, never longer than its limit', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 4 }),
        fc.double({ min: 0, max: 0.999, noNaN: true }),
        (attempt, random) => {
          const delayMs = delayOfRepeat(OUTBOX_RETRY, attempt, { random });
          const stepMs = Math.min(2_000 * 5 ** (attempt - 1), 600_000);
          return delayMs !== undefined && delayMs >= stepMs / 2 && delayMs <= stepMs;
        },
      ),
      { seed: 7, numRuns: 200 },
    );
  });

  test('honours what the other side asks, up to an hour', () => {
    const ask = (retryAfterMs: number) => delayOfRepeat(RUN_RETRY, 1, { retryAfterMs, random: 0 });
    expect(ask(30_000)).toEqual(30_000);
    expect(ask(10)).toEqual(1_000);
    expect(ask(-5)).toEqual(1_000);
    expect(ask(1e12)).toEqual(MAX_RETRY_AFTER_MS);
  });

  test('gives up after its attempts, and at once where nothing can help', () => {
    expect(delayOfRepeat(RUN_RETRY, 3, { random: 0 })).toBeUndefined();
    expect(delayOfRepeat(RUN_RETRY, 1, { random: 0, final: true })).toBeUndefined();
  });
});

describe('the loop', () => {
  test('never passes twice at a time, and misses no wake', async () => {
    let passes = 0;
    let atOnce = 0;
    let release = (): void => {};
    const released = new Promise<void>((resolve) => (release = resolve));
    const loop = new WorkLoop(
      async () => {
        atOnce += 1;
        expect(atOnce).toBe(1);
        passes += 1;
        await released;
        atOnce -= 1;
        return 60_000;
      },
      () => {},
    );
    loop.start();
    await expect.poll(() => passes).toBe(1);
    for (let index = 0; index < 100; index += 1) loop.wake();
    release();
    await expect.poll(() => passes).toBe(2);
    await loop.stop();
    loop.wake();
    await pause(20);
    expect(passes).toBe(2);
  });

  test('goes on after errors', async () => {
    let passes = 0;
    const errors: unknown[] = [];
    const loop = new WorkLoop(
      () => {
        passes += 1;
        return passes < 3 ? Promise.reject(new Error('no')) : Promise.resolve(60_000);
      },
      (error) => errors.push(error),
    );
    loop.start();
    await expect.poll(() => passes).toBe(3);
    expect(errors).toHaveLength(2);
    await loop.stop();
  });
});

/** Timers of a machine that sleeps: what is due by then is called once when it wakes up. */
function sleepyMachine(): { pass(ms: number): void } {
  let nowMs = 0;
  const due = new Map<number, { readonly at: number; readonly call: () => void }>();
  vi.spyOn(performance, 'now').mockImplementation(() => nowMs);
  vi.spyOn(globalThis, 'clearTimeout').mockImplementation((id) => void due.delete(Number(id)));
  vi.spyOn(globalThis, 'setTimeout').mockImplementation(((call: () => void, ms = 0) => {
    const id = Math.max(0, ...due.keys()) + 1;
    due.set(id, { at: nowMs + ms, call });
    return id;
  }) as unknown as typeof setTimeout);
  onTestFinished(() => void vi.restoreAllMocks());
  const pass = (ms: number): void => {
    nowMs += ms;
    for (const [id, { at, call }] of due) if (at <= nowMs && due.delete(id)) call();
  };
  return { pass };
}

describe('a timer', () => {
  test('longer than the runtime can count does not fire at once, and can be cancelled', async () => {
    let fired = false;
    const cancel = armTimer(2 ** 31 + 1000, () => (fired = true));
    await pause(20);
    expect(fired).toBe(false);
    cancel();
    cancel();
  });

  test('bounds a promise, and passes on its errors', async () => {
    expect(await within(Promise.resolve(1), 1000)).toBe(1);
    expect(await within(new Promise(() => {}), 5)).toBeUndefined();
    await expect(within(Promise.reject(new Error('no')), 1000)).rejects.toThrow('no');
  });

  test('aborts a derived signal, as its parent does, and lets go of the parent', async () => {
    const parent = new AbortController();
    const timed = deriveSignal(parent.signal, 1);
    await expect.poll(() => timed.signal.aborted).toBe(true);
    expect((timed.signal.reason as Error).name).toBe('TimeoutError');
    const released = deriveSignal(parent.signal);
    released[Symbol.dispose]();
    const kept = deriveSignal(parent.signal);
    parent.abort();
    expect([released.signal.aborted, kept.signal.aborted]).toEqual([false, true]);
    expect(deriveSignal(parent.signal).signal.aborted).toBe(true);
  });

  test('counts no time in which the process stood still, of a wait, of a signal and of a turn', async () => {
    const machine = sleepyMachine();
    const never = new Promise<TurnResult>(() => {});
    const isOver = vi.fn();
    void within(never, 60_000).then(isOver);
    const { signal } = deriveSignal(new AbortController().signal, 60_000);
    const { promise, resolve } = Promise.withResolvers<TurnResult>();
    const turn = { timeoutSeconds: 30 } as Turn;
    const options = { signal: new AbortController().signal, onProcess: () => Promise.resolve() };
    const took = takeTurn({ kind: 'test', run: () => promise }, turn, options);
    machine.pass(3_600_000);
    await Promise.resolve();
    resolve(ok('late'));
    expect([await took, signal.aborted, isOver.mock.calls]).toEqual([ok('late'), false, []]);
    for (let second = 0; second < 59; second += 1) machine.pass(1_000);
    await vi.waitFor(() => expect(isOver).toHaveBeenCalledWith(undefined), { timeout: 60_000 });
    expect(signal.aborted).toBe(true);
  });

  test('pauses no longer than until an abort', async () => {
    const controller = new AbortController();
    const paused = pause(60_000, controller.signal);
    controller.abort();
    await paused;
    await pause(60_000, controller.signal);
  });
});
