import { expect, test } from 'vitest';
import type { Turn, TurnResult } from '../../../src/service/runners/runners.ts';
import { openMetrics } from '../../../src/base/telemetry/telemetry.ts';
import {
  agentAction,
  answering,
  FAST_RETRY,
  ok,
  openHouse,
  RecordingChannel,
  wakeAction,
} from '../../support/gateway-fixture.ts';

const FAILED: TurnResult = {
  kind: 'completed',
  outcome: 'error',
  reply: '',
  error: { code: 'exit_1', message: 'the command exited with code 1\nits own words' },
};
const FAILED_OTHERWISE: TurnResult = {
  ...FAILED,
  error: { code: 'timeout', message: 'it took too long' },
};
const alerts = { channel: 'ops', to: '7', after: 2 };

test('one message goes out when a runner keeps failing, and one when it works again', async () => {
  let answer: (turn: Turn) => TurnResult = () => FAILED;
  const channel = new RecordingChannel('ops', 500);
  const house = await openHouse({
    channels: [channel],
    runners: { default: answering((turn) => answer(turn)) },
    gateway: { alerts },
  });
  const run = async (): Promise<void> => {
    const action = agentAction({ origin: { requestId: 'r', path: 'agent', trusted: false } });
    await house.accept(action);
    await house.gateway.waitForRun(action.id, 5_000);
  };
  await run();
  expect(channel.texts).toEqual([]);
  for (let count = 0; count < 3; count += 1) await run();
  const failing =
    'Sluice: runner default has failed 2 times in a row: exit_1: the command exited with code 1';
  await expect.poll(() => channel.texts).toEqual([failing]);
  answer = () => ok('fine');
  await run();
  await run();
  await expect.poll(() => channel.texts).toEqual([failing, 'Sluice: runner default works again.']);
  expect(channel.messages.every(({ to }) => to === '7')).toBe(true);
  const warned = house.logged.filter(({ message }) => message.startsWith('run failed'));
  expect(warned[0]?.fields).toMatchObject({ code: 'exit_1', reason: 'the command exited with code 1' });
});

test('a turn of the main session that fails as the run before it is no warning of its own', async () => {
  const house = await openHouse({ runners: { default: answering(() => FAILED) } });
  await house.accept(agentAction({ wakeMode: 'now' }));
  const said = (words: string): boolean => house.logged.some(({ message }) => message.startsWith(words));
  await expect.poll(() => said('heartbeat put off: ')).toBe(true);
  expect(said('heartbeat failed')).toBe(false);
});

test('a mapping and a channel have messages of their own, and a failing alert stops nothing', async () => {
  const ops = new RecordingChannel('ops', 500);
  const broken = new RecordingChannel('telegram', 500);
  broken.answer = () => ({ kind: 'failed', code: 'forbidden', message: 'the bot was blocked' });
  const house = await openHouse({
    channels: [ops, { channel: broken, to: '1' }],
    gateway: { alerts: { ...alerts, after: 1 } },
  });
  const action = agentAction({ deliver: true, channel: 'telegram' });
  await house.accept(action);
  await expect
    .poll(() => ops.texts)
    .toEqual(['Sluice: channel telegram has failed once: forbidden: the bot was blocked']);
  expect(house.logged.find(({ message }) => message === 'delivery given up')?.fields).toMatchObject({
    channel: 'telegram',
    code: 'forbidden',
  });
  ops.answer = () => ({ kind: 'failed', code: 'unauthorized', message: 'no' });
  broken.answer = () => ({ kind: 'sent' });
  const next = agentAction({ deliver: true, channel: 'telegram' });
  await house.accept(next);
  await expect
    .poll(() => house.logged.some(({ message }) => message === 'an alert was not delivered'))
    .toBe(true);
});

test('a mapping whose deliveries all fail is told, though others reach the channel, and once when they arrive', async () => {
  const ops = new RecordingChannel('ops', 500);
  const shared = new RecordingChannel('telegram', 500);
  const refused = { kind: 'failed', code: 'bad_recipient', message: 'there is no such chat' } as const;
  let isThere = false;
  shared.answer = ({ to }) => (to === '2' && !isThere ? refused : { kind: 'sent' });
  const house = await openHouse({ channels: [ops, { channel: shared, to: '1' }], gateway: { alerts } });
  const deliver = async (mappingId: string, to: string): Promise<void> => {
    const before = shared.messages.length;
    const origin = { requestId: 'r', path: 'agent', mappingId, trusted: false };
    await house.accept(agentAction({ deliver: true, channel: 'telegram', to, origin }));
    await expect.poll(() => shared.messages.length).toBeGreaterThan(before);
    await expect
      .poll(async () => (await house.storage.listOutbox({ limit: 9, state: 'queued' })).length)
      .toBe(0);
  };
  for (let round = 0; round < 3; round += 1) {
    await deliver('lost', '2');
    await deliver('fine', '1');
  }
  const told =
    'Sluice: delivery of mapping lost has failed 2 times in a row: bad_recipient: there is no such chat';
  await expect.poll(() => ops.texts).toEqual([told]);
  isThere = true;
  await deliver('lost', '2');
  await expect.poll(() => ops.texts).toEqual([told, 'Sluice: delivery of mapping lost works again.']);
});

test('what goes to the last channel is told of the channel that it led to, each time that one fails', async () => {
  const metrics = await openMetrics({ backlog: () => Promise.reject(new Error('not asked')) });
  const ops = new RecordingChannel('ops', 500);
  const slack = new RecordingChannel('slack', 500);
  const away = { kind: 'retry', code: 'unreachable', message: 'no answer' } as const;
  const gateway = { alerts: { ...alerts, after: 1 }, main: { channel: 'slack', to: 'C1' } };
  const options = { metrics: metrics.gateway };
  const house = await openHouse({ channels: [ops, slack], gateway, options });
  const told = async (isWell: boolean): Promise<void> => {
    slack.answer = () => (isWell ? { kind: 'sent' } : away);
    const { id, name, sessionKey, owner, origin } = agentAction();
    const parts = { message: 'to people', wakeMode: 'now', summary: 'failures', channel: 'last' } as const;
    await house.accept({ kind: 'notify', id, name, sessionKey, owner, origin, ...parts });
    const state = isWell ? 'completed' : 'dead';
    await expect.poll(async () => (await house.storage.listOutbox({ limit: 1, state }))[0]?.runId).toBe(id);
  };
  const failing = 'Sluice: channel slack has failed once: unreachable: no answer';
  const works = 'Sluice: channel slack works again.';
  for (const isWell of [false, true, false]) await told(isWell);
  await expect.poll(() => ops.texts).toEqual([failing, works, failing]);
  const { text } = await metrics.render();
  for (const counted of ['sent"} 1', 'repeated"} 8', 'dead"} 2'])
    expect(text).toContain(`sluice_deliveries_total{channel="slack",result="${counted}`);
  expect(text).not.toContain('channel="last"');
});

test('where the last channel is none, the deliveries are told of, and once when they arrive', async () => {
  const ops = new RecordingChannel('ops', 500);
  const house = await openHouse({
    channels: [ops, new RecordingChannel('slack', 500)],
    gateway: { alerts: { ...alerts, after: 1 } },
  });
  const origin = { requestId: 'r', path: 'agent', trusted: false };
  await house.accept(agentAction({ deliver: true, origin }));
  const failing =
    'Sluice: delivery without a mapping has failed once: not_configured: the channel "last" leads';
  await expect.poll(() => ops.texts).toEqual([expect.stringContaining(failing)]);
  await house.accept(agentAction({ deliver: true, channel: 'slack', to: 'C1', origin }));
  await expect.poll(() => ops.texts.slice(1)).toEqual(['Sluice: delivery without a mapping works again.']);
});

test('runs, deliveries and agents that are away are counted', async () => {
  const metrics = await openMetrics({ backlog: () => Promise.reject(new Error('not asked')) });
  const away: TurnResult = {
    kind: 'not-started',
    code: 'connection_refused',
    message: 'no',
    final: false,
    affects: 'runner',
  };
  let answer: (turn: Turn) => TurnResult = () => away;
  const holds = { maxAttempts: Infinity, baseMs: 20, factor: 1, maxMs: 20 };
  const house = await openHouse({
    channels: [{ channel: new RecordingChannel('telegram'), to: '1' }],
    runners: { default: answering((turn) => answer(turn)) },
    options: { metrics: metrics.gateway, retry: { ...FAST_RETRY, holds } },
  });
  const action = agentAction({ deliver: true, channel: 'telegram' });
  await house.accept(action);
  const text = async (): Promise<string> => (await metrics.render()).text;
  await expect.poll(text).toContain('sluice_runner_away{runner="default"} 1');
  const usage = { inputTokens: 7, outputTokens: 2 };
  answer = () => ({ kind: 'completed', outcome: 'ok', reply: 'done', usage });
  await house.gateway.waitForRun(action.id, 5_000);
  await expect.poll(text).toContain('sluice_tokens_total{runner="default",turn="hook",direction="input"} 7');
  await expect.poll(text).toContain('sluice_deliveries_total{channel="telegram",result="sent"} 1');
  await house.accept(wakeAction('look'));
  const ofMain = 'sluice_tokens_total{runner="default",turn="heartbeat",direction="output"}';
  await expect.poll(text).toContain(ofMain);
  expect(await text()).toContain('sluice_runs_total{runner="default",mapping="test",result="ok"} 1');
  expect(await text()).toMatch(/sluice_run_seconds_count\{runner="default"\} 1/);
  expect(await text()).not.toContain('sluice_runner_away{');
});

test('one cause is one message, though the runner and its mappings fail by it', async () => {
  let answer: (turn: Turn) => TurnResult = () => FAILED;
  const channel = new RecordingChannel('ops', 500);
  const house = await openHouse({
    channels: [channel],
    runners: { default: answering((turn) => answer(turn)) },
    gateway: { alerts },
  });
  const run = async (mappingId: string): Promise<void> => {
    const action = agentAction({ origin: { requestId: 'r', path: 'agent', mappingId, trusted: false } });
    await house.accept(action);
    await house.gateway.waitForRun(action.id, 5_000);
  };
  for (const mappingId of ['one', 'two', 'one', 'two', 'one']) await run(mappingId);
  const first = 'Sluice: runner default has failed 2 times in a row: exit_1: the command exited with code 1';
  await expect.poll(() => channel.texts).toEqual([first]);
  // Another cause, of one mapping alone, is another message.
  answer = ({ message }) => (message === 'well' ? ok('fine') : FAILED_OTHERWISE);
  await run('two');
  await expect.poll(() => channel.texts.length).toBe(2);
  expect(channel.texts[1]).toBe('Sluice: mapping two has failed 3 times in a row: timeout: it took too long');
});
