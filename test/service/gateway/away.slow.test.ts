import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { createCommandRunner } from '../../../src/service/runners/command-runner.ts';
import type { GatewayBase } from '../../../src/service/gateway/gateway-base.ts';
import { RunnerHolds } from '../../../src/service/gateway/runner-holds.ts';
import type { Runner, Turn, TurnResult } from '../../../src/service/runners/runners.ts';
import {
  agentAction,
  answering,
  FAST_RETRY,
  HeldRunner,
  type House,
  type HouseOptions,
  ok,
  openHouse,
  temporaryFile,
  wakeAction,
} from '../../support/gateway-fixture.ts';
import { openStorage } from '../../../src/engine/storage/storage.ts';

const AWAY: TurnResult = {
  kind: 'not-started',
  code: 'connection_refused',
  message: 'nobody listens',
  final: false,
  affects: 'runner',
};
const BUSY: TurnResult = { ...AWAY, code: 'rate_limited', message: 'slow down', affects: 'model' };
const HOLDS = { maxAttempts: Infinity, baseMs: 40, factor: 1, maxMs: 40 };

/** An agent that can go away and come back, and remembers what it was asked. */
class Agent {
  answer: (turn: Turn) => TurnResult;
  readonly asked: string[] = [];
  readonly runner = answering((turn) => {
    this.asked.push(turn.message);
    return this.answer(turn);
  });

  constructor(answer: (turn: Turn) => TurnResult) {
    this.answer = answer;
  }

  back(): void {
    this.asked.length = 0;
    this.answer = (turn) => ok(`re: ${turn.message}`);
  }
}

function openWith(agent: Agent, options: HouseOptions = {}): Promise<House> {
  const runners = { default: agent.runner, ...options.runners };
  return openHouse({ ...options, runners, options: { retry: { ...FAST_RETRY, holds: HOLDS } } });
}

const logLine = (house: House, message: string) => house.logged.filter((line) => line.message === message);

describe('an agent that is away', () => {
  test('is what a command is that finds no place for the files of a turn', async () => {
    const settings = { kind: 'command', argv: ['cat'], prompt: 'stdin' } as const;
    const limits = { env: {}, passEnv: [], retryExitCodes: [], maxReplyBytes: 1_000 };
    const command = createCommandRunner({ ...settings, ...limits }, process.env);
    const tries: string[] = [];
    const runner: Runner = {
      kind: 'command',
      run: (turn, options) => {
        tries.push(turn.message);
        return command.run(turn, options);
      },
    };
    const house = await openWith(new Agent(() => AWAY), { runners: { default: runner } });
    const runs = ['one', 'two', 'three'].map((message) => agentAction({ message, sessionKey: 'k' }));
    vi.stubEnv('TMPDIR', join(tmpdir(), 'sluice-no-such-folder'));
    onTestFinished(() => void vi.unstubAllEnvs());
    await house.accept(...runs);
    await expect.poll(() => tries.length).toBeGreaterThan(4);
    await expect.poll(() => house.storage.backlog()).toMatchObject({ queuedRuns: 3, deadRuns: 0 });
    const message =
      /^the files of a turn could not be written: .*sluice-no-such-folder.*: no such file or directory; set TMPDIR .* \(ENOENT\)$/;
    await expect
      .poll(() => house.storage.listHolds('default'))
      .toMatchObject([
        { code: 'workspace_failed', waiting: 3, message: expect.stringMatching(message) as string },
      ]);
    vi.unstubAllEnvs();
    for (const run of runs)
      expect(await house.gateway.waitForRun(run.id, 5_000)).toMatchObject({
        reply: `prompt of ${run.message}`,
      });
    expect(tries.slice(-3)).toEqual(['one', 'two', 'three']);
  });

  test('is waited for: its runs keep their order and their attempts, and others go on', async () => {
    const agent = new Agent(() => AWAY);
    const other = new Agent((turn) => ok(turn.message));
    const house = await openWith(agent, { runners: { other: other.runner } });
    const runs = ['one', 'two', 'three'].map((message) => agentAction({ message, sessionKey: 'k' }));
    const alone = agentAction({ message: 'four' });
    await house.accept(...runs, alone, agentAction({ message: 'elsewhere', runner: 'other' }));
    await expect.poll(() => agent.asked.length).toBeGreaterThan(5);
    expect(other.asked).toEqual(['elsewhere']);
    expect(new Set(agent.asked.slice(2))).toEqual(new Set(['one']));
    expect(await house.storage.backlog()).toMatchObject({ queuedRuns: 4, deadRuns: 0 });
    const [hold] = await house.storage.listHolds('default');
    expect(hold).toMatchObject({ runner: 'default', code: 'connection_refused', waiting: 4 });
    expect(await house.events('pending')).toContainEqual(
      expect.stringMatching(/^Agent default is away \(connection_refused: nobody listens\)\. Its runs wait/),
    );

    agent.back();
    expect(await house.gateway.waitForRun(alone.id, 5_000)).toMatchObject({ outcome: 'ok' });
    expect(await house.gateway.waitForRun(runs[2]?.id ?? '', 5_000)).toMatchObject({ outcome: 'ok' });
    expect(agent.asked.filter((message) => message !== 'four')).toEqual(['one', 'two', 'three']);
    expect(await house.storage.findRun(runs[0]?.id ?? '')).toMatchObject({ attempts: 1 });
    expect(await house.storage.listHolds('default')).toEqual([]);
    expect(logLine(house, 'a runner cannot be reached; its runs wait')).toHaveLength(1);
    expect(logLine(house, 'recovered')).toHaveLength(1);
    expect((await house.events()).filter((text) => text.startsWith('Agent default'))).toHaveLength(1);
  });

  test('that starts and then says it is logged out is held until a turn of it ends', async () => {
    const agent = new Agent(() => ({ ...AWAY, code: 'login_needed', message: 'log it in again' }));
    const starting: Runner = {
      kind: 'starting',
      run: async (turn, options) => {
        await options.onProcess({ pgid: 999_999, startTicks: '1' });
        return agent.runner.run(turn, options);
      },
    };
    const house = await openWith(agent, { runners: { default: starting } });
    const runs = ['one', 'two', 'three'].map((message) => agentAction({ message }));
    await house.accept(...runs);
    await expect.poll(() => agent.asked.length).toBeGreaterThan(8);
    // Only those that began together were tried together.
    expect(new Set(agent.asked.slice(3))).toEqual(new Set(['one']));
    const holds = await house.storage.listHolds('default');
    expect(holds).toMatchObject([{ code: 'login_needed' }]);
    expect(holds[0]?.tries).toBeGreaterThan(3);
    expect((await house.events()).filter((text) => text.startsWith('Agent default'))).toHaveLength(1);
    agent.back();
    for (const { id } of runs)
      expect(await house.gateway.waitForRun(id, 5_000)).toMatchObject({ outcome: 'ok' });
    expect(await house.storage.listHolds('default')).toEqual([]);
  });

  test('is given up on after the hours of the configuration', async () => {
    const agent = new Agent(() => AWAY);
    const house = await openWith(agent, { gateway: { holdHours: 0.2 / 3600 } });
    const runs = [agentAction(), agentAction()];
    await house.accept(...runs);
    for (const { id } of runs) {
      expect(await house.gateway.waitForRun(id, 5_000)).toMatchObject({
        state: 'dead',
        error: { code: 'connection_refused', message: expect.stringContaining('it was waited for') },
      });
    }
  });

  test('gets three attempts where waiting is turned off', async () => {
    const agent = new Agent(() => AWAY);
    const house = await openWith(agent, { gateway: { holdHours: 0 } });
    const action = agentAction();
    await house.accept(action);
    expect(await house.gateway.waitForRun(action.id, 5_000)).toMatchObject({ state: 'dead' });
    expect(agent.asked).toHaveLength(3);
  });

  test('is tried at once after a restart, a reload, and when the operator asks', async () => {
    const file = temporaryFile();
    const slow = { ...HOLDS, baseMs: 60_000, maxMs: 60_000 };
    const agent = new Agent(() => AWAY);
    const options = {
      runners: { default: agent.runner },
      options: { retry: { ...FAST_RETRY, holds: slow } },
    };
    const first = await openHouse({ ...options, file });
    const action = agentAction();
    await first.accept(action);
    await expect.poll(async () => (await first.storage.listHolds('default')).length).toBe(1);
    first.gateway.reconfigure(first.configuration);
    await expect.poll(() => agent.asked.length).toBe(2);
    const operator = await openStorage(`sqlite:${file}`, { mode: 'attached' });
    expect(await operator.retry({ kind: 'ids', ids: [action.id] }, Date.now(), 'default')).toBe(1);
    await operator.close();
    first.gateway.notifyOutside();
    await expect.poll(() => agent.asked.length).toBe(3);
    await first.gateway.stop(0);
    await first.storage.close();
    agent.back();
    const second = await openHouse({ ...options, file });
    expect(await second.gateway.waitForRun(action.id, 5_000)).toMatchObject({ outcome: 'ok' });
    expect(await second.storage.listHolds('default')).toEqual([]);
  });

  test('is tried again after a try during which a run that began before failed, too', async () => {
    const held = new HeldRunner();
    const options = { retry: { ...FAST_RETRY, holds: HOLDS } };
    const house = await openHouse({ runners: { default: held }, options });
    await house.accept(agentAction({ message: 'first' }), agentAction({ message: 'slow' }));
    await expect.poll(() => held.messages).toEqual(['first', 'slow']);
    held.finish('first', AWAY);
    await expect.poll(() => held.messages).toEqual(['first', 'slow', 'first']);
    held.finish('slow', AWAY);
    await expect.poll(() => house.storage.backlog()).toMatchObject({ queuedRuns: 1 });
    held.finish('first', AWAY);
    await expect.poll(() => held.messages.length).toBe(4);
  });

  test('keeps the events of the main session waiting too, and none is parked', async () => {
    const agent = new Agent(() => AWAY);
    const house = await openWith(agent);
    await house.accept(wakeAction('look'));
    await expect.poll(() => agent.asked.length).toBeGreaterThan(6);
    expect(await house.storage.listEvents({ limit: 5, state: 'dead' })).toEqual([]);
    agent.back();
    await expect.poll(() => house.events('consumed')).toContain('look');
  });
});

test('a model that asks for a pause holds back its own runs only', async () => {
  const agent = new Agent((turn) => (turn.model === 'local/big' ? BUSY : ok('done')));
  const house = await openWith(agent);
  const big = ['one', 'two', 'three'].map((message) => agentAction({ message, model: 'local/big' }));
  const small = agentAction({ message: 'small', model: 'local/small' });
  await house.accept(...big, small);
  expect(await house.gateway.waitForRun(small.id, 5_000)).toMatchObject({ outcome: 'ok' });
  await expect.poll(() => agent.asked.length).toBeGreaterThan(8);
  expect(await house.storage.listHolds('default')).toMatchObject([
    { model: 'local/big', code: 'rate_limited' },
  ]);
  agent.back();
  for (const { id } of big)
    expect(await house.gateway.waitForRun(id, 5_000)).toMatchObject({ state: 'completed', outcome: 'ok' });
  expect(await house.storage.findRun(big[0]?.id ?? '')).toMatchObject({ attempts: 1 });
  expect(await house.storage.listHolds('default')).toEqual([]);
});

test('what is held, or works again, while the store is asked what others hold stays so', async () => {
  const target = { runner: 'a', model: 'm' };
  const reason = { code: 'rate_limited', message: 'slow down', affects: 'model' } as const;
  const answers: PromiseWithResolvers<object[]>[] = [];
  const storage = {
    listHolds: () => (answers.push(Promise.withResolvers()), answers.at(-1)!.promise),
    saveHold: async () => undefined,
    removeHold: async () => undefined,
  };
  const base = { storage, now: () => 0, random: () => 0, retry: { holds: HOLDS }, health: { replace() {} } };
  const holds = new RunnerHolds(base as unknown as GatewayBase, () => undefined);
  const first = holds.share();
  const hold = await holds.hold(target, reason);
  answers[0]?.resolve([]);
  await first;
  expect(holds.putBackUntil(target)).toBeDefined();
  const second = holds.share();
  holds.worked(target);
  answers[1]?.resolve([{ ...hold, waiting: 0 }]);
  await second;
  expect(holds.putBackUntil(target)).toBeUndefined();
});

test('three orderly stops do not bury a long run', async () => {
  const file = temporaryFile();
  const action = agentAction();
  for (let start = 1; start <= 4; start += 1) {
    const held = new HeldRunner();
    const house = await openHouse({ file, runners: { default: held } });
    if (start === 1) await house.accept(action);
    await expect.poll(() => held.started.length).toBe(1);
    expect(held.started[0]).toMatchObject({ attempt: 1 });
    await house.gateway.stop(0);
    await house.storage.close();
  }
});

describe('after two crashes', () => {
  /** Runs claimed by a gateway that died with them, twice. */
  async function crashedTwice(
    file: string,
    actions: readonly ReturnType<typeof agentAction>[],
  ): Promise<void> {
    const storage = await openStorage(`sqlite:${file}`, { fsync: false });
    await storage.accept({ requestId: 'r', receivedAt: Date.now(), actions, warnings: [] });
    for (let crash = 1; crash <= 2; crash += 1) {
      for (const { id } of await storage.claimRuns({ nowMs: Date.now(), limit: 10 })) {
        const error = {
          code: 'interrupted',
          message: 'the run was under way when the service ended; it may have acted',
        };
        await storage.requeueRun(id, { ...error, retryAt: 0, nowMs: Date.now() });
      }
    }
    await storage.close();
  }

  test('a run is tried alone, one after the other', async () => {
    const file = temporaryFile();
    const suspects = [agentAction({ message: 'one' }), agentAction({ message: 'two' })];
    await crashedTwice(file, suspects);
    const held = new HeldRunner();
    const house = await openHouse({ file, runners: { default: held } });
    await expect.poll(() => held.messages.length).toBe(1);
    await house.accept(agentAction({ message: 'three' }), agentAction({ message: 'four' }));
    const active = async () => (await house.storage.backlog()).activeRuns;
    const order: string[] = [];
    while (order.length < 2) {
      await expect.poll(() => held.messages.length).toBe(order.length + 1);
      expect(await active()).toBe(1);
      const message = held.messages.at(-1) ?? '';
      order.push(message);
      held.finish(message);
    }
    expect(order).toEqual(['one', 'two']);
    await expect.poll(() => held.messages.length).toBe(4);
    expect(await active()).toBe(2);
  });

  test('a stop does not end it, another crash does', async () => {
    const file = temporaryFile();
    const action = agentAction();
    await crashedTwice(file, [action]);
    for (let stop = 1; stop <= 2; stop += 1) {
      const held = new HeldRunner();
      const house = await openHouse({ file, runners: { default: held } });
      await expect.poll(() => held.started.length).toBe(1);
      expect(held.started[0]).toMatchObject({ attempt: 3 });
      await house.gateway.stop(0);
      await house.storage.close();
    }
    const storage = await openStorage(`sqlite:${file}`, { fsync: false });
    await storage.claimRuns({ nowMs: Date.now(), limit: 1 });
    await storage.close();
    const last = await openHouse({ file });
    expect(await last.gateway.waitForRun(action.id, 5_000)).toMatchObject({ state: 'dead' });
  });
});
