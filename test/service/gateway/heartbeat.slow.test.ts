import { describe, expect, test } from 'vitest';
import type { GatewaySettings } from '../../../src/engine/config/config.ts';
import type { GatewayContext } from '../../../src/service/gateway/gateway-context.ts';
import { Heartbeat, isActiveAt } from '../../../src/service/gateway/heartbeat.ts';
import type { TurnResult } from '../../../src/service/runners/runners.ts';
import {
  agentAction,
  answering,
  HeldRunner,
  ok,
  openHouse,
  RecordingChannel,
  temporaryFile,
  wakeAction,
} from '../../support/gateway-fixture.ts';

function heartbeat(change: Partial<GatewaySettings['heartbeat']> = {}): Partial<GatewaySettings> {
  const defaults = {
    everySeconds: 0,
    instructions: 'Look.',
  };
  return { heartbeat: { ...defaults, ...change } };
}

const failed: TurnResult = {
  kind: 'completed',
  outcome: 'error',
  reply: '',
  error: { code: 'exit_1', message: 'no' },
};

describe('a wake of mode now', () => {
  test('becomes a turn of the main session with its text behind the boundary', async () => {
    const held = new HeldRunner();
    const gateway = heartbeat({ model: 'local/small' });
    const house = await openHouse({ runners: { default: held }, gateway });
    await house.accept(wakeAction('disk full'));
    await expect.poll(() => held.started.length).toBe(1);
    expect(held.started[0]).toMatchObject({
      kind: 'heartbeat',
      sessionKey: 'main',
      model: 'local/small',
      message: 'disk full',
    });
    expect(held.started[0]?.prompt).toMatch(/^Look\.\n[\s\S]*EXTERNAL_CONTENT[\s\S]*disk full/);
    expect(await house.events('claimed')).toEqual(['disk full']);
    held.finish('disk full', ok('HEARTBEAT_OK'));
    await expect.poll(() => house.events('consumed')).toEqual(['disk full']);
    const [run] = await house.storage.listRuns({ limit: 10 });
    expect(run).toMatchObject({
      id: held.started[0]?.runId,
      kind: 'heartbeat',
      state: 'completed',
      outcome: 'ok',
    });
  });

  test('shares a turn with those that come within a quarter of a second', async () => {
    const held = new HeldRunner();
    const house = await openHouse({ runners: { default: held } });
    for (let index = 0; index < 10; index += 1) await house.accept(wakeAction(`e${index}`));
    await expect.poll(() => held.started.length).toBe(1);
    expect(held.started[0]?.message.split('\n')).toHaveLength(10);
  });

  test('waits while a turn is under way and then gets one of its own', async () => {
    const held = new HeldRunner();
    const house = await openHouse({ runners: { default: held } });
    await house.accept(wakeAction('first'));
    await expect.poll(() => held.started.length).toBe(1);
    await house.accept(wakeAction('second'));
    await house.accept(wakeAction('third'));
    await expect.poll(() => house.events('pending')).toEqual(['second', 'third']);
    expect(held.messages).toEqual(['first']);
    held.finish('first');
    await expect.poll(() => held.messages).toEqual(['first', 'second\nthird']);
  });

  test('finds room while all places of the hooks are taken', async () => {
    const held = new HeldRunner();
    const house = await openHouse({ runners: { default: held }, gateway: { maxRuns: 1 } });
    await house.accept(agentAction({ message: 'long' }), agentAction({ message: 'waiting' }));
    await house.accept(wakeAction('urgent'));
    await expect.poll(() => held.messages).toEqual(['long', 'urgent']);
  });
});

test('the main session may have a runner and a model of its own, beside those of the hooks', async () => {
  const [main, hooks] = [new HeldRunner(), new HeldRunner()];
  const house = await openHouse({
    runners: { default: hooks, small: main },
    gateway: heartbeat({ runner: 'small', model: 'local/tiny' }),
    agents: { model: 'local/large' },
  });
  await house.accept(agentAction({ message: 'for an agent' }));
  await house.accept(wakeAction('for the main session'));
  await expect.poll(() => [hooks.started.length, main.started.length]).toEqual([1, 1]);
  expect(hooks.started[0]).toMatchObject({ kind: 'hook', message: 'for an agent', model: 'local/large' });
  expect(main.started[0]).toMatchObject({ kind: 'heartbeat', sessionKey: 'main', model: 'local/tiny' });
});

test('summaries are consumed without a turn where another gateway takes the turns', async () => {
  const held = new HeldRunner();
  const other = { kind: 'forward', url: 'http://127.0.0.1:9', token: 'x', forwardSummaries: false } as const;
  const gateway = { ...heartbeat({ runner: 'other' }), runners: { other } };
  const house = await openHouse({ runners: { default: answering(() => ok('done')), other: held }, gateway });
  await house.accept(agentAction({ wakeMode: 'now' }));
  await expect.poll(() => house.events('consumed')).toHaveLength(1);
  expect(held.started).toEqual([]);
  expect((await house.storage.listRuns({ limit: 10 })).map(({ kind }) => kind)).toEqual(['hook']);
  await house.accept(wakeAction('disk full'));
  await expect.poll(() => held.started.length).toBe(1);
  held.finish('disk full', ok('HEARTBEAT_OK'));
  await expect.poll(() => house.events('consumed')).toHaveLength(2);
});

describe('next-heartbeat', () => {
  test('waits for the periodic check, which then takes it', async () => {
    const held = new HeldRunner();
    const house = await openHouse({ runners: { default: held } });
    await house.accept(wakeAction('later', { mode: 'next-heartbeat' }));
    await expect.poll(() => house.events('pending')).toEqual(['later']);
    expect(await house.storage.heartbeatRequested()).toBe(false);
    house.gateway.reconfigure({
      ...house.configuration,
      settings: {
        ...house.configuration.settings,
        gateway: { ...house.configuration.settings.gateway, ...heartbeat({ everySeconds: 0.3 }) },
      },
    });
    await expect.poll(() => held.messages).toEqual(['later']);
  });

  test('is not taken outside the active hours, unless somebody asks', async () => {
    const held = new HeldRunner();
    const hour = (shift: number) => `${String((new Date().getUTCHours() + shift) % 24).padStart(2, '0')}:00`;
    const activeHours = { from: hour(2), to: hour(3), timeZone: 'UTC' };
    const house = await openHouse({
      runners: { default: held },
      gateway: heartbeat({ everySeconds: 0.05, activeHours }),
    });
    await house.accept(wakeAction('later', { mode: 'next-heartbeat' }));
    const action = agentAction({ message: 'a while', sessionKey: 'hook:a' });
    await house.accept(action);
    await expect.poll(() => held.messages).toEqual(['a while']);
    expect(await house.gateway.waitForRun(action.id, 400)).toBeUndefined();
    expect(held.messages).toEqual(['a while']);
    await house.accept(wakeAction('at once', { mode: 'now' }));
    await expect.poll(() => held.messages).toEqual(['a while', 'later\nat once']);
  });

  test('active hours may span midnight and stand in another zone', () => {
    const at = (iso: string) => Date.parse(iso);
    const night = { from: '22:00', to: '06:30', timeZone: 'Europe/Vienna' };
    expect(isActiveAt(night, at('2026-01-10T21:00:00Z'))).toBe(true);
    expect(isActiveAt(night, at('2026-01-10T20:59:00Z'))).toBe(false);
    expect(isActiveAt(night, at('2026-01-10T05:29:00Z'))).toBe(true);
    expect(isActiveAt(night, at('2026-01-10T05:30:00Z'))).toBe(false);
    expect(isActiveAt({ from: '08:00', to: '08:00', timeZone: 'UTC' }, 0)).toBe(true);
    expect(isActiveAt({ from: '08:00', to: '24:00', timeZone: 'UTC' }, at('2026-01-10T23:59:00Z'))).toBe(
      true,
    );
    expect(isActiveAt(undefined, 0)).toBe(true);
  });
});

describe('a turn', () => {
  test('does not happen where nothing is pending', async () => {
    const held = new HeldRunner();
    const gateway = heartbeat({ everySeconds: 0.05 });
    const house = await openHouse({ runners: { default: held }, gateway, start: false });
    const dropped = wakeAction('asks for a turn');
    await house.accept(dropped);
    expect(await house.storage.drop({ kind: 'ids', ids: [dropped.id] }, Date.now(), () => ({}))).toBe(1);
    expect(await house.storage.heartbeatRequested()).toBe(true);
    await house.gateway.start();
    await expect.poll(() => house.storage.heartbeatRequested()).toBe(false);
    expect(held.started).toEqual([]);
  });

  test('takes at most 50 events, and the next one follows at once', async () => {
    const counts: number[] = [];
    const runner = answering((turn) => (counts.push(turn.message.split('\n').length), ok('HEARTBEAT_OK')));
    const house = await openHouse({ runners: { default: runner } });
    await house.accept(...Array.from({ length: 120 }, (_, index) => wakeAction(`e${index}`)));
    await expect.poll(() => house.events('consumed')).toHaveLength(120);
    expect(counts).toEqual([50, 50, 20]);
  });

  test('takes at most 64 KB of events', async () => {
    const bytes: number[] = [];
    const runner = answering((turn) => (bytes.push(turn.message.length), ok('HEARTBEAT_OK')));
    const house = await openHouse({ runners: { default: runner } });
    await house.accept(...Array.from({ length: 5 }, () => wakeAction('x'.repeat(30_000))));
    await expect.poll(() => house.events('consumed')).toHaveLength(5);
    expect(Math.max(...bytes)).toBeLessThan(66_000);
  });

  test('that fails frees its events, and its repeat has the same id', async () => {
    const ids: string[] = [];
    const runner = answering((turn) => (ids.push(turn.runId), ids.length < 3 ? failed : ok('HEARTBEAT_OK')));
    const house = await openHouse({ runners: { default: runner } });
    await house.accept(wakeAction('again'));
    await expect.poll(() => house.events('consumed')).toEqual(['again']);
    expect(ids).toHaveLength(3);
    expect(new Set(ids).size).toBe(1);
  });

  test('that failed is not repeated earlier because of further wakes, but at once after a reload', async () => {
    let turns = 0;
    const runner = answering(() => (turns++, turns === 1 ? failed : ok('HEARTBEAT_OK')));
    const held = new HeldRunner();
    const retry = { heartbeat: { maxAttempts: 5, baseMs: 600_000, factor: 1, maxMs: 600_000 } };
    const house = await openHouse({ runners: { default: runner, held }, options: { retry } });
    await house.accept(wakeAction('first'));
    await expect.poll(() => house.counted.heartbeat['failed']).toBe(1);
    const action = agentAction({ runner: 'held' });
    await house.accept(action, ...Array.from({ length: 5 }, (_, index) => wakeAction(`wake ${index}`)));
    // Twice the coalescing time, spent waiting for a run that does not end.
    expect(await house.gateway.waitForRun(action.id, 500)).toBeUndefined();
    expect(turns).toBe(1);
    house.gateway.reconfigure(house.configuration);
    await expect.poll(() => house.events('consumed')).toContain('wake 4');
    expect(turns).toBe(2);
  });

  test('that fails five times parks its events as dead', async () => {
    let turns = 0;
    const runner = answering(() => (turns++, failed));
    const house = await openHouse({ runners: { default: runner } });
    await house.accept(wakeAction('hopeless'));
    await expect.poll(() => house.events('dead')).toEqual(['hopeless']);
    expect(turns).toBe(5);
  });

  test('interrupted by a stop is taken up by the next start under its id', async () => {
    const file = temporaryFile();
    const held = new HeldRunner();
    const before = await openHouse({ file, runners: { default: held } });
    await before.accept(wakeAction('once'));
    await expect.poll(() => held.started.length).toBe(1);
    await before.gateway.stop(0);
    await before.storage.close();
    const again = new HeldRunner();
    await openHouse({ file, runners: { default: again } });
    await expect.poll(() => again.started.length).toBe(1);
    expect(again.started[0]?.runId).toBe(held.started[0]?.runId);
  });

  test('remembers the earlier ones', async () => {
    const held = new HeldRunner();
    const house = await openHouse({ runners: { default: held } });
    await house.accept(wakeAction('one'));
    await expect.poll(() => held.messages).toEqual(['one']);
    held.finish('one', ok('noted'));
    await expect.poll(() => house.events('consumed')).toEqual(['one']);
    await house.accept(wakeAction('two'));
    await expect.poll(() => held.messages).toEqual(['one', 'two']);
    expect(held.started[1]?.history.map(({ role }) => role)).toEqual(['user', 'assistant']);
    expect(held.started[1]?.history[1]?.text).toBe('noted');
  });
});

describe('a turn that the loss of the lease has ended, and that still goes on', () => {
  /** A turn that is asked to end, and ends when it is let. It takes its first look at the store so long. */
  async function endedTurn() {
    const looked: string[] = [];
    const ending = Promise.withResolvers<never[]>();
    const storage = {
      listPauses: () => (looked.push('turn'), ending.promise),
      heartbeatRequested: async () => (looked.push('check'), false),
      listEvents: async () => [],
      claimEvents: async () => undefined,
    };
    const settings = { gateway: { runner: 'default', ...heartbeat() } };
    const made = { storage, configuration: () => ({ settings }), now: Date.now, nonce: () => 'a', wake() {} };
    const turns = new Heartbeat(made as unknown as GatewayContext);
    await turns.lead(true);
    turns.ask();
    await expect.poll(() => looked).toEqual(['turn']);
    turns.lapse();
    return { turns, looked, end: () => ending.resolve([]) };
  }

  test.each(['lapse', 'stop'] as const)(
    'is waited for, and nothing begins after a %s meanwhile',
    async (how) => {
      const { turns, looked, end } = await endedTurn();
      const leading = turns.lead(true);
      const left = how === 'stop' ? turns.stop(0) : turns.lapse();
      end();
      await Promise.all([leading, left]);
      await turns.check();
      expect(looked).toEqual(['turn']);
    },
  );

  test('is waited for by a stop', async () => {
    const { turns, end } = await endedTurn();
    const order: string[] = [];
    const stopping = turns.stop(0).then(() => order.push('stopped'));
    // Its grace is over.
    await new Promise((resolve) => setTimeout(resolve, 20));
    order.push('ended');
    end();
    await stopping;
    expect(order).toEqual(['ended', 'stopped']);
  });
});

describe('its reply', () => {
  test('is delivered to the last channel, an acknowledgement is not', async () => {
    const channel = new RecordingChannel('telegram');
    const replies = ['HEARTBEAT_OK', '**HEARTBEAT_OK**', 'The disk is full.'];
    const runner = answering(() => ok(replies.shift() ?? ''));
    const house = await openHouse({ channels: [{ channel, to: '9' }], runners: { default: runner } });
    for (const event of ['one', 'two', 'three']) {
      await house.accept(wakeAction(event));
      await expect.poll(async () => (await house.events('consumed')).at(-1)).toBe(event);
    }
    await expect.poll(() => channel.messages).toMatchObject([{ to: '9', text: 'The disk is full.' }]);
    expect(await house.storage.listOutbox({ limit: 10 })).toHaveLength(1);
  });

  test('of several messages goes to one place, though "last" moves in between', async () => {
    const channel = new RecordingChannel('telegram', 12);
    const slack = new RecordingChannel('slack', 12);
    const runner = answering(() => ok('first chunk second one third one'));
    const house = await openHouse({
      channels: [channel, slack],
      gateway: { main: { channel: 'telegram', to: '9' } },
      runners: { default: runner },
    });
    let refusals = 1;
    channel.answer = async ({ key }) => {
      if (!key.endsWith(':1') || refusals-- === 0) return { kind: 'sent' };
      await house.storage.saveLastTarget({ channel: 'slack', to: 'C1' }, Date.now());
      return { kind: 'retry', code: 'status_503', message: 'later' };
    };
    await house.accept(wakeAction('event'));
    await expect.poll(() => [...channel.texts, ...slack.texts]).toContain('third one');
    expect(slack.messages).toEqual([]);
    expect(channel.texts).toEqual(['first chunk', 'second one', 'second one', 'third one']);
  });

  test('that was under way when somebody set another channel leaves it as it was set', async () => {
    const [telegram, slack] = [new RecordingChannel('telegram'), new RecordingChannel('slack')];
    const runner = answering(({ message }) => ok(`heard: ${message}`));
    const house = await openHouse({
      channels: [telegram, slack],
      gateway: { main: { channel: 'telegram', to: '9' } },
      runners: { default: runner },
    });
    const chosen = { channel: 'slack', to: 'C1' };
    telegram.answer = async () => {
      await house.storage.saveLastTarget(chosen, Date.now());
      return { kind: 'sent' };
    };
    await house.accept(wakeAction('first'));
    await expect.poll(() => house.storage.listOutbox({ limit: 9, state: 'completed' })).toHaveLength(1);
    expect(telegram.texts).toEqual(['heard: first']);
    expect(await house.storage.findLastTarget()).toEqual(chosen);
    await house.accept(wakeAction('second'));
    await expect.poll(() => slack.messages).toMatchObject([{ to: 'C1', text: 'heard: second' }]);
  });

  describe('to the summary of a failure', () => {
    const failing = answering((turn) =>
      turn.kind === 'heartbeat'
        ? ok('An order could not be read.')
        : {
            kind: 'completed',
            outcome: 'error',
            reply: '',
            error: { code: 'exit_1', message: 'secret text' },
          },
    );
    const open = (parts: Partial<Parameters<typeof openHouse>[0]>) =>
      openHouse({ runners: { default: failing }, sharedChannel: 'telegram', ...parts });

    test('is not sent to the only channel, which mappings deliver to', async () => {
      const channel = new RecordingChannel('telegram');
      const house = await open({ channels: [{ channel, to: '9' }] });
      await house.accept(agentAction({ wakeMode: 'now', deliver: true, channel: 'telegram', to: '7' }));
      await expect
        .poll(() => house.storage.listOutbox({ limit: 9, state: 'skipped' }))
        .toMatchObject([
          { lastError: { code: 'of_a_failure' }, delivery: { text: 'An order could not be read.' } },
        ]);
      expect(channel.messages).toEqual([]);
      const warned = house.logged.filter(({ message }) => message.startsWith('a reply of the main session'));
      expect(warned).toHaveLength(1);
      expect(JSON.stringify(warned)).not.toContain('order could');
      // What answers something else is sent.
      await house.accept(wakeAction('the disk is full'));
      await expect.poll(() => channel.messages).toHaveLength(1);
    });

    test('is sent where somebody chose the place of the main session', async () => {
      const channel = new RecordingChannel('telegram');
      const house = await open({ channels: [{ channel, to: '9' }] });
      await house.storage.saveLastTarget({ channel: 'telegram', to: '42' }, Date.now());
      await house.accept(agentAction({ wakeMode: 'now' }));
      await expect.poll(() => channel.messages).toMatchObject([{ to: '42' }]);
    });

    test('is sent where alerts go, and leaves "last" as it is', async () => {
      const channel = new RecordingChannel('telegram');
      const house = await open({
        channels: [{ channel, to: '9' }],
        gateway: { alerts: { channel: 'telegram', to: '42', after: 5, replies: true } },
      });
      await house.accept(agentAction({ wakeMode: 'now' }));
      await expect
        .poll(() => channel.messages)
        .toMatchObject([{ to: '42', text: 'An order could not be read.' }]);
      await expect.poll(() => house.storage.listOutbox({ limit: 9, state: 'completed' })).toHaveLength(1);
      expect(await house.storage.findLastTarget()).toBeUndefined();
    });
  });

  test('that cannot be delivered adds its line without asking for another turn', async () => {
    const channel = new RecordingChannel('telegram');
    channel.answer = () => ({ kind: 'failed', code: 'status_403', message: 'blocked' });
    const runner = answering(() => ok('news'));
    const house = await openHouse({ channels: [{ channel, to: '9' }], runners: { default: runner } });
    await house.accept(wakeAction('event'));
    await expect
      .poll(() => house.events('pending'))
      .toEqual(['Hook Heartbeat (delivery failed): status_403: blocked']);
    expect(await house.storage.heartbeatRequested()).toBe(false);
  });

  test('from the echo runner is an acknowledgement', async () => {
    const channel = new RecordingChannel('telegram');
    const house = await openHouse({ channels: [{ channel, to: '9' }] });
    await house.accept(wakeAction('event'));
    await expect.poll(() => house.events('consumed')).toEqual(['event']);
    expect(await house.storage.listOutbox({ limit: 10 })).toEqual([]);
  });
});
