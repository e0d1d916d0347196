/** An emoji on the message that an event tells of: set once, in its order, and never a reason for anything to fail. */
import { expect, test } from 'vitest';
import type { AgentAction } from '../../../src/base/action.ts';
import type { SendResult } from '../../../src/service/channels/channels.ts';
import type { TurnResult } from '../../../src/service/runners/runners.ts';
import {
  agentAction,
  answering,
  HeldRunner,
  type House,
  ok,
  openHouse,
  RecordingChannel,
  temporaryFile,
} from '../../support/gateway-fixture.ts';

const reaction = { seen: 'eyes', done: '+1', failed: 'confused', message: '1.2' } as const;
const heard = (change: Partial<AgentAction> = {}): AgentAction =>
  agentAction({ channel: 'slack', to: 'C1', reaction, ...change });

const failed: TurnResult = { kind: 'completed', outcome: 'error', reply: '' };
const away: TurnResult = { kind: 'not-started', code: 'spawn_failed', message: 'no', final: true };

const emoji = (channel: RecordingChannel): readonly unknown[] =>
  channel.messages.map((message) => message.reaction?.emoji);

const entriesOf = ({ storage }: House) => storage.listOutbox({ limit: 99 });

/** Waits until so many entries have ended, the oldest first. */
async function ended(house: House, count: number) {
  await expect
    .poll(async () => (await entriesOf(house)).filter(({ endedAt }) => endedAt !== undefined).length)
    .toBe(count);
  return (await entriesOf(house)).toReversed();
}

test('the first is set while the run is under way, the second when it has ended', async () => {
  const channel = new RecordingChannel('slack');
  const held = new HeldRunner();
  const house = await openHouse({ channels: [channel], runners: { default: held } });
  const run = heard({ message: 'm', deliver: true });
  await house.accept(run);
  await expect.poll(() => emoji(channel)).toEqual(['eyes']);
  await expect.poll(() => held.messages).toEqual(['m']);
  held.finish('m');
  await ended(house, 3);
  expect(channel.messages).toMatchObject([
    { to: 'C1', reaction: { emoji: 'eyes', message: '1.2' }, runId: run.id },
    expect.anything(),
    expect.anything(),
  ]);
  expect(emoji(channel)).toContain('+1');
  expect(channel.texts).toContain('re: m');
  expect((await entriesOf(house)).map(({ kind }) => kind).sort()).toEqual([
    'delivery',
    'reaction',
    'reaction',
  ]);
});

test.each([
  ['ok', ok('fine'), ['eyes', '+1']],
  ['error', failed, ['eyes', 'confused']],
  ['dead', away, ['eyes', 'confused']],
] as const)('says how the run ended: %s', async (_, result, expected) => {
  const channel = new RecordingChannel('slack');
  const house = await openHouse({
    channels: [channel],
    runners: { default: answering(() => result) },
    options: { retry: { runs: { maxAttempts: 1, baseMs: 1, factor: 1, maxMs: 1 } } },
  });
  await house.accept(heard());
  await ended(house, 2);
  expect(emoji(channel)).toEqual(expected);
});

test('only the times that the mapping names have an emoji', async () => {
  const channel = new RecordingChannel('slack');
  const house = await openHouse({ channels: [channel] });
  const run = heard({ reaction: { seen: 'eyes' } });
  await house.accept(run, agentAction());
  await house.gateway.waitForRun(run.id, 5000);
  await ended(house, 1);
  expect(emoji(channel)).toEqual(['eyes']);
});

test.each<[string, SendResult, number]>([
  ['refused', { kind: 'failed', code: 'forbidden', message: 'no scope' }, 1],
  ['limited for long', { kind: 'retry', code: 'rate_limited', message: 'slow' }, 5],
  ['never answered', { kind: 'ambiguous', code: 'timeout', message: 'no answer' }, 5],
  ['refused for its format', { kind: 'refused-format', message: 'what?' }, 1],
])('one that is %s fails nothing: it is left out with the reason', async (_, answer, attempts) => {
  const channel = new RecordingChannel('slack');
  channel.answer = (message) => (message.reaction === undefined ? { kind: 'sent' } : answer);
  const house = await openHouse({ channels: [channel] });
  const run = heard({ message: 'm', deliver: true, reaction: { seen: 'eyes' }, summary: 'failures' });
  await house.accept(run);
  expect(await house.gateway.waitForRun(run.id, 5000)).toMatchObject({ outcome: 'ok' });
  const entries = await ended(house, 2);
  expect(entries.find(({ kind }) => kind === 'reaction')).toMatchObject({ state: 'skipped', attempts });
  expect(entries.find(({ kind }) => kind === 'delivery')).toMatchObject({ state: 'completed' });
  expect(channel.texts).toContain('m');
  expect(await house.events()).toEqual([]);
  expect(house.logged).toContainEqual(expect.objectContaining({ message: 'reaction left out' }));
});

test('a slow one does not hold the reply, and the emoji of one recipient keep their order', async () => {
  const channel = new RecordingChannel('slack');
  let open = (): void => undefined;
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  channel.answer = async ({ reaction }) => {
    if (reaction?.emoji === 'eyes') await opened;
    return { kind: 'sent' };
  };
  const house = await openHouse({ channels: [channel] });
  await house.accept(heard({ message: 'm', deliver: true }));
  await expect.poll(() => channel.texts).toEqual(['eyes', 'm']);
  open();
  await ended(house, 3);
  expect(emoji(channel)).toEqual(['eyes', undefined, '+1']);
});

test('one under way when the process died is set again by the next', async () => {
  const file = temporaryFile();
  const hanging = new RecordingChannel('slack');
  hanging.answer = (_message, signal) =>
    new Promise((resolve) => {
      const stopped = { kind: 'ambiguous', code: 'timeout', message: 'stopped' } as const;
      signal.addEventListener('abort', () => resolve(stopped), { once: true });
    });
  const first = await openHouse({ file, channels: [hanging] });
  await first.accept(heard({ reaction: { seen: 'eyes' } }));
  await expect.poll(() => emoji(hanging)).toEqual(['eyes']);
  await first.gateway.stop(0);
  await first.storage.close();
  const channel = new RecordingChannel('slack');
  const second = await openHouse({ file, channels: [channel] });
  await ended(second, 1);
  expect(emoji(channel)).toEqual(['eyes']);
});

test('a recipient that is not known leaves it out', async () => {
  const house = await openHouse({ channels: [new RecordingChannel('slack')] });
  await house.accept(agentAction({ channel: 'slack', reaction }));
  const [first] = await ended(house, 2);
  expect(first).toMatchObject({ kind: 'reaction', state: 'skipped', lastError: { code: 'no_recipient' } });
});
