import { describe, expect, test } from 'vitest';
import type { SendResult } from '../../../src/service/channels/channels.ts';
import type { Runner } from '../../../src/service/runners/runners.ts';
import { resolveTarget } from '../../../src/service/gateway/delivery-target.ts';
import { notification } from '../../support/storage-builders.ts';
import {
  agentAction,
  answering,
  configurationOf,
  FAST_RETRY,
  ok,
  openHouse,
  RecordingChannel,
  temporaryFile,
  wakeAction,
  type House,
} from '../../support/gateway-fixture.ts';

const retry = { kind: 'retry', code: 'status_503', message: 'try later' } as const;

/** Waits until the only delivery has ended, and gives it. */
async function endedDelivery(house: House) {
  await expect.poll(async () => (await house.storage.listOutbox({ limit: 10 }))[0]?.endedAt).toBeDefined();
  const entries = await house.storage.listOutbox({ limit: 10 });
  return entries.at(-1);
}

const telegram = { channel: 'telegram', to: '1', deliver: true };

describe('a reply', () => {
  test('is delivered where the action says', async () => {
    const channel = new RecordingChannel('telegram');
    const house = await openHouse({ channels: [channel] });
    await house.accept(agentAction({ ...telegram, thread: '7', message: 'hi' }));
    expect(await endedDelivery(house)).toMatchObject({ state: 'completed', attempts: 1 });
    const [run] = await house.storage.listRuns({ limit: 1 });
    expect(channel.messages).toMatchObject([
      { to: '1', thread: '7', text: 'hi', plain: false, runId: run?.id },
    ]);
  });

  test.each(['HEARTBEAT_OK', '**HEARTBEAT_OK**.', '<b>HEARTBEAT_OK</b>', '  '])(
    'that is only %j is not',
    async (message) => {
      const channel = new RecordingChannel('telegram');
      const house = await openHouse({ channels: [channel] });
      const action = agentAction({ ...telegram, message });
      await house.accept(action);
      await house.gateway.waitForRun(action.id, 5000);
      expect(await house.storage.listOutbox({ limit: 10 })).toEqual([]);
    },
  );

  test('to mail that no machine is to answer goes by no mail: by last, as a fallback, or of the main session', async () => {
    const [email, slack] = [new RecordingChannel('email'), new RecordingChannel('slack')];
    slack.answer = () => ({ kind: 'failed', code: 'gone', message: 'no' });
    const house = await openHouse({
      channels: [email, slack],
      gateway: { main: { channel: 'email', to: 'b@example.org' } },
      runners: { default: answering(({ kind, message }) => ok(kind === 'hook' ? message : 'heard')) },
    });
    const origin = { ...agentAction().origin, isAutomatic: true } as const;
    const byLast = agentAction({ deliver: true, message: 'a', wakeMode: 'now', origin });
    const fallback = { channel: 'email', to: 'b@example.org' };
    const bySlack = agentAction({
      channel: 'slack',
      to: 'C1',
      deliver: true,
      message: 'b',
      fallback,
      origin,
    });
    const told = { ...notification({ message: 'c', channel: 'last' }), origin };
    await house.accept(byLast, bySlack, told, wakeAction('d', { origin }));
    const entries = () => house.storage.listOutbox({ limit: 99 });
    const skipped = async () => (await entries()).filter(({ state }) => state === 'skipped');
    // Its three answers, and what the main session says of what it heard.
    await expect.poll(async () => (await skipped()).length).toBeGreaterThanOrEqual(4);
    for (const { lastError } of await skipped()) expect(lastError).toMatchObject({ code: 'auto_submitted' });
    expect(email.texts).toEqual([]);
    expect(slack.texts).toEqual(['b']);
    // What a person wrote is answered.
    const person = agentAction({ deliver: true, message: 'e' });
    await house.accept(person);
    await expect.poll(() => email.texts).toContain('e');
  });

  test('that merely contains an acknowledgement is', async () => {
    const channel = new RecordingChannel('telegram');
    const house = await openHouse({ channels: [channel] });
    await house.accept(agentAction({ ...telegram, message: 'Disk full. HEARTBEAT_OK' }));
    await endedDelivery(house);
    expect(channel.texts).toEqual(['Disk full. HEARTBEAT_OK']);
  });

  test('is not delivered where the action says so', async () => {
    const channel = new RecordingChannel('telegram');
    const house = await openHouse({ channels: [channel] });
    const action = agentAction({ ...telegram, deliver: false });
    await house.accept(action);
    await house.gateway.waitForRun(action.id, 5000);
    expect(await house.storage.listOutbox({ limit: 10 })).toEqual([]);
  });

  test('is skipped where no channel is configured: said with the run and in the summary', async () => {
    const house = await openHouse();
    await house.accept(agentAction({ ...telegram, message: 'x'.repeat(3000) }));
    expect(await endedDelivery(house)).toMatchObject({ state: 'skipped', lastError: { code: 'no_channel' } });
    const [summary] = await house.events();
    expect(summary).toMatch(/ \(not delivered: no channel is configured\)$/);
    expect(house.logged.filter(({ message }) => message.includes('no channel is configured'))).toHaveLength(
      1,
    );
  });

  test('for a channel without settings is dead at once, with a summary of its own', async () => {
    const channel = new RecordingChannel('slack');
    const house = await openHouse({ channels: [channel] });
    await house.accept(agentAction({ ...telegram, message: 'm' }));
    expect(await endedDelivery(house)).toMatchObject({
      state: 'dead',
      attempts: 1,
      lastError: { code: 'not_configured' },
    });
    expect(await house.events()).toEqual([
      'Hook Test: m (its reply is sent to telegram: nothing is left to do)',
      'Hook Test (delivery failed): not_configured: channel telegram has no settings: add channels.telegram',
    ]);
  });

  test.each([
    ['no_recipient', ['slack']],
    ['not_configured', ['slack', 'discord']],
  ])('of the main session for nobody is left, and is no failure (%s)', async (code, names) => {
    const runners = { default: answering(() => ok('The disk is full.')) };
    const channels = names.map((name) => new RecordingChannel(name));
    const house = await openHouse({ runners, channels });
    await house.accept(wakeAction('disk full'));
    const entry = await endedDelivery(house);
    expect(entry).toMatchObject({
      state: 'skipped',
      lastError: { code, message: expect.stringContaining('gateway') },
    });
    expect(house.logged.filter(({ message }) => message.includes('given up'))).toEqual([]);
    expect(await house.events()).toEqual(['disk full']);
  });

  test('for nobody is dead as no_recipient', async () => {
    const house = await openHouse({ channels: [new RecordingChannel('telegram')] });
    await house.accept(agentAction({ deliver: true, channel: 'telegram' }));
    expect(await endedDelivery(house)).toMatchObject({ state: 'dead', lastError: { code: 'no_recipient' } });
  });

  test('for a channel that cannot be opened is tried again, and the message says what to do', async () => {
    const channel = new RecordingChannel('telegram');
    const house = await openHouse({ channels: [channel] });
    const wrong = new Error('channel telegram needs the package grammy: npm install grammy');
    let tries = 0;
    const find = () => ((tries += 1) > 7 ? Promise.resolve(channel) : Promise.reject(wrong));
    house.gateway.reconfigure({ ...configurationOf({ channels: [channel] }), channels: { find } });
    await house.accept(agentAction(telegram));
    expect(await endedDelivery(house)).toMatchObject({
      state: 'dead',
      attempts: 5,
      lastError: { code: 'not_opened', message: wrong.message },
    });
    await house.accept(agentAction({ ...telegram, message: 'later' }));
    await expect.poll(() => channel.texts).toEqual(['later']);
    expect(house.counted.outbox).toMatchObject({ dead: 1, repeated: 6 });
  });
});

describe('a reply to last, where the runner knows the last route', () => {
  const knowing = (message: string): { readonly default: Runner } => ({
    default: answering(() => ({
      kind: 'completed',
      outcome: 'ok',
      reply: message,
      lastRoute: { channel: 'telegram', to: '42' },
    })),
  });
  const toLast = { deliver: true, channel: 'last' };

  test('goes there, whatever gateway.main says', async () => {
    const channels = [new RecordingChannel('telegram'), new RecordingChannel('slack')] as const;
    const gateway = { main: { channel: 'slack', to: 'C0123' } };
    const house = await openHouse({ channels, runners: knowing('m'), gateway });
    await house.accept(agentAction(toLast));
    expect(await endedDelivery(house)).toMatchObject({ state: 'completed' });
    expect(channels[0].messages).toMatchObject([{ to: '42', text: 'm' }]);
    expect(channels[1].messages).toEqual([]);
    expect(await house.events()).toEqual([
      'Hook Test: m (its reply is sent to telegram: nothing is left to do)',
    ]);
  });

  test.each([
    ['always', 'Hook Test: m'],
    ['failures', 'Hook Test (delivery failed): m'],
  ] as const)(
    'is left to the main session where that channel is not set up (summary: %s)',
    async (summary, says) => {
      const slack = new RecordingChannel('slack');
      const house = await openHouse({ channels: [{ channel: slack, to: 'C0123' }], runners: knowing('m') });
      const action = agentAction({ ...toLast, summary });
      await house.accept(action);
      await house.gateway.waitForRun(action.id, 5000);
      expect(await house.storage.listOutbox({ limit: 10 })).toEqual([]);
      expect(await house.events()).toEqual([
        `${says} (not sent: the last channel is telegram, which is not set up in Sluice; pass it on there)`,
      ]);
    },
  );

  test('to a channel of the OpenClaw gateway is left to its main session as well', async () => {
    const slack = new RecordingChannel('slack');
    const theirs = { kind: 'openclaw', command: 'openclaw', passEnv: [], maxReplyBytes: 1_048_576 } as const;
    const house = await openHouse({
      channels: [{ channel: slack, to: 'C0123' }],
      runners: knowing('m'),
      gateway: { runners: { default: theirs } },
    });
    const action = agentAction({ deliver: true, channel: 'feishu', to: 'oc_1' });
    await house.accept(action);
    await house.gateway.waitForRun(action.id, 5000);
    expect(await house.storage.listOutbox({ limit: 10 })).toEqual([]);
    expect(await house.events()).toEqual([
      'Hook Test: m (not sent: its channel is feishu, which is not set up in Sluice; pass it on there)',
    ]);
  });

  test('goes where last leads here, where no summary could tell of it', async () => {
    const slack = new RecordingChannel('slack');
    const house = await openHouse({ channels: [{ channel: slack, to: 'C0123' }], runners: knowing('m') });
    await house.accept(agentAction({ ...toLast, summary: 'never' }));
    expect(await endedDelivery(house)).toMatchObject({ state: 'completed' });
    expect(slack.messages).toMatchObject([{ to: 'C0123', text: 'm' }]);
  });

  test('that names its recipient keeps it', async () => {
    const telegram = new RecordingChannel('telegram');
    const house = await openHouse({ channels: [telegram], runners: knowing('m') });
    await house.accept(agentAction({ ...toLast, to: '7' }));
    await endedDelivery(house);
    expect(telegram.messages).toMatchObject([{ to: '7' }]);
  });
});

describe('a notification', () => {
  const notify = (parts: Parameters<typeof notification>[0]) =>
    notification({ channel: 'telegram', to: '1', name: 'Test', ...parts });

  test('is sent without a turn, as plain text, in chunks that leave room for escapes', async () => {
    const channel = new RecordingChannel('telegram', 24);
    const house = await openHouse({ channels: [channel] });
    await house.accept(notify({ message: 'one **two** three @everyone four' }));
    expect(await endedDelivery(house)).toMatchObject({ state: 'completed', attempts: 1 });
    expect((await endedDelivery(house))?.lastError).toBeUndefined();
    expect(channel.texts).toEqual(['one **two**', 'three', '@everyone', 'four']);
    expect(channel.messages.every(({ plain }) => plain)).toBe(true);
    expect(house.counted.runs['ok']).toBe(0);
    expect(await house.events()).toEqual([]);
  });

  test('that cannot be sent goes to its fallback as plain text, and the main session hears of it', async () => {
    const [telegramChannel, slack] = [new RecordingChannel('telegram'), new RecordingChannel('slack')];
    telegramChannel.answer = () => ({ kind: 'failed', code: 'forbidden', message: 'no' });
    const house = await openHouse({ channels: [telegramChannel, slack] });
    await house.accept(notify({ message: 'm', fallback: { channel: 'slack', to: 'C1' } }));
    await expect.poll(() => slack.messages.length).toBe(1);
    expect(slack.messages[0]).toMatchObject({ to: 'C1', text: 'm', plain: true });
    expect(await house.events()).toEqual(['Hook Test (delivery failed): forbidden: no (sent on to slack)']);
  });
});

describe('chunks', () => {
  const long = 'one two three four five six seven eight nine ten';

  test('go out in order, within the limit, each with its own stable key', async () => {
    const channel = new RecordingChannel('telegram', 12);
    const house = await openHouse({ channels: [channel] });
    await house.accept(agentAction({ ...telegram, message: long }));
    const entry = await endedDelivery(house);
    expect(channel.texts.join(' ').replaceAll(/\s+/g, ' ')).toBe(long);
    expect(Math.max(...channel.texts.map((text) => text.length))).toBeLessThanOrEqual(12);
    expect(channel.messages.map(({ key }) => key)).toEqual(
      channel.texts.map((_, index) => `${entry?.id}:${index}`),
    );
  });

  test('are not repeated when a later one has to be tried again', async () => {
    const channel = new RecordingChannel('telegram', 12);
    let refusals = 2;
    channel.answer = ({ key }) => (key.endsWith(':2') && refusals-- > 0 ? retry : { kind: 'sent' });
    const house = await openHouse({ channels: [channel] });
    await house.accept(agentAction({ ...telegram, message: long }));
    expect(await endedDelivery(house)).toMatchObject({ state: 'completed', attempts: 3 });
    const counts = channel.messages.map(({ key }) => Number(key.split(':')[1]));
    expect(counts.filter((index) => index === 2)).toHaveLength(3);
    expect(counts.filter((index) => index !== 2)).toEqual([
      ...new Set(counts.filter((index) => index !== 2)),
    ]);
  });

  test('resume after a restart where the last one on record ended, at the place they began', async () => {
    const file = temporaryFile();
    const channel = new RecordingChannel('telegram', 12);
    let reached = (): void => {};
    const third = new Promise<void>((resolve) => (reached = resolve));
    channel.answer = ({ key }) => {
      if (!key.endsWith(':2')) return { kind: 'sent' };
      reached();
      return retry;
    };
    const slow = { outbox: { maxAttempts: 5, baseMs: 60_000, factor: 1, maxMs: 60_000 } };
    const main = { channel: 'telegram', to: '7' };
    const before = await openHouse({
      file,
      channels: [channel],
      gateway: { main },
      options: { retry: slow },
    });
    await before.accept(agentAction({ deliver: true, message: long }));
    await third;
    await expect.poll(async () => (await before.storage.listOutbox({ limit: 1 }))[0]?.state).toBe('queued');
    await before.gateway.stop(0);
    const [waiting] = await before.storage.listOutbox({ limit: 1 });
    expect(waiting?.chunksSent).toBe(2);
    await before.storage.retry({ kind: 'all' }, Date.now());
    await before.storage.close();

    const resumed = new RecordingChannel('telegram', 12);
    const after = await openHouse({
      file,
      channels: [resumed],
      gateway: { main: { channel: 'telegram', to: '8' } },
    });
    expect(await endedDelivery(after)).toMatchObject({ state: 'completed' });
    expect([...channel.texts.slice(0, 2), ...resumed.texts].join(' ').replaceAll(/\s+/g, ' ')).toBe(long);
    expect(new Set(resumed.messages.map(({ to }) => to))).toEqual(new Set(['7']));
  });

  test('of a notification for the last channel end where they began, though another is the last one now', async () => {
    const channels = [new RecordingChannel('telegram', 24), new RecordingChannel('slack', 24)];
    const [telegramChannel, slack] = channels as [RecordingChannel, RecordingChannel];
    let refusals = 1;
    const house = await openHouse({ channels, gateway: { main: { channel: 'telegram', to: '7' } } });
    telegramChannel.answer = async ({ key }) => {
      if (!key.endsWith(':1') || refusals-- <= 0) return { kind: 'sent' };
      await house.storage.saveLastTarget({ channel: 'slack', to: 'C1' }, Date.now());
      return retry;
    };
    const { to: _to, ...anywhere } = notification({ channel: 'last' });
    await house.accept({ ...anywhere, message: long });
    expect(await endedDelivery(house)).toMatchObject({
      state: 'completed',
      target: { channel: 'telegram', to: '7' },
    });
    expect(slack.messages).toEqual([]);
  });

  test('that a stop cuts off are put back and sent by the next start, as after a kill', async () => {
    const file = temporaryFile();
    const channel = new RecordingChannel('telegram', 12);
    channel.answer = ({ key }, signal) =>
      key.endsWith(':1')
        ? new Promise((resolve) => {
            const cutOff = { kind: 'ambiguous', code: 'timeout', message: 'no answer' } as const;
            signal.addEventListener('abort', () => resolve(cutOff), { once: true });
          })
        : { kind: 'sent' };
    const before = await openHouse({ file, channels: [channel] });
    await before.accept(agentAction({ ...telegram, message: long }));
    await expect.poll(() => channel.messages.length).toBe(2);
    await before.gateway.stop(10);
    const [waiting] = await before.storage.listOutbox({ limit: 1 });
    expect(waiting).toMatchObject({
      state: 'queued',
      chunksSent: 1,
      attempts: 1,
      lastError: { code: 'interrupted' },
    });
    expect(await before.events()).toHaveLength(1);
    await before.storage.close();

    const resumed = new RecordingChannel('telegram', 12);
    const after = await openHouse({ file, channels: [resumed] });
    expect(await endedDelivery(after)).toMatchObject({ state: 'completed', attempts: 2 });
    expect([...channel.texts.slice(0, 1), ...resumed.texts].join(' ').replaceAll(/\s+/g, ' ')).toBe(long);
  });

  test('of two replies to one recipient never mix, and a slow recipient delays no other', async () => {
    const channel = new RecordingChannel('telegram', 12);
    let release = (): void => {};
    const held = new Promise<void>((resolve) => (release = resolve));
    channel.answer = async ({ to }) => {
      if (to === 'slow') await held;
      return { kind: 'sent' };
    };
    const house = await openHouse({ channels: [channel], gateway: { maxRuns: 30 } });
    const slow = { ...telegram, to: 'slow' };
    for (let index = 0; index < 25; index += 1)
      await house.accept(agentAction({ ...slow, message: `${index} ${long}` }));
    await house.accept(agentAction({ ...telegram, to: 'quick', message: 'quick' }));
    await expect.poll(() => channel.messages.some(({ to }) => to === 'quick')).toBe(true);
    release();
    await expect.poll(() => house.counted.outbox['sent']).toBe(26);
    const deliveries = channel.messages.filter(({ to }) => to === 'slow').map(({ key }) => key.split(':')[0]);
    const changes = deliveries.filter((id, index) => id !== deliveries[index - 1]);
    expect(changes).toHaveLength(25);
  });
});

describe('a refused formatting', () => {
  test('is tried once more as plain text, and the rest goes plain too', async () => {
    const channel = new RecordingChannel('telegram', 12);
    channel.answer = ({ plain }) =>
      plain ? { kind: 'sent' } : { kind: 'refused-format', message: 'bad entity' };
    const house = await openHouse({ channels: [channel] });
    await house.accept(agentAction({ ...telegram, message: 'first part and second part' }));
    expect(await endedDelivery(house)).toMatchObject({
      state: 'completed',
      attempts: 1,
      lastError: { code: 'plain_text' },
    });
    expect(channel.messages.map(({ plain }) => plain)).toEqual([
      false,
      ...channel.messages.slice(1).map(() => true),
    ]);
    expect(channel.messages.length).toBeGreaterThan(2);
  });

  test('of plain text too is a failure', async () => {
    const channel = new RecordingChannel('telegram');
    channel.answer = () => ({ kind: 'refused-format', message: 'never' });
    const house = await openHouse({ channels: [channel] });
    await house.accept(agentAction(telegram));
    expect(await endedDelivery(house)).toMatchObject({
      state: 'dead',
      lastError: { code: 'refused_format' },
    });
    expect(channel.messages).toHaveLength(2);
  });
});

describe('failures', () => {
  test('with proof of non-delivery are tried five times, then given up with a line in the main session', async () => {
    const channel = new RecordingChannel('telegram');
    channel.answer = () => retry;
    const house = await openHouse({ channels: [channel] });
    await house.accept(agentAction({ ...telegram, message: 'm' }));
    expect(await endedDelivery(house)).toMatchObject({
      state: 'dead',
      attempts: 5,
      lastError: { code: 'status_503' },
    });
    expect(channel.messages).toHaveLength(5);
    expect(await house.events()).toEqual([
      'Hook Test: m (its reply is sent to telegram: nothing is left to do)',
      'Hook Test (delivery failed): status_503: try later',
    ]);
  });

  test('wait as long as the platform asks', async () => {
    const channel = new RecordingChannel('telegram');
    channel.answer = () => ({ ...retry, retryAfterMs: 120_000 });
    const house = await openHouse({ channels: [channel] });
    await house.accept(agentAction(telegram));
    await expect
      .poll(async () => (await house.storage.listOutbox({ limit: 1 }))[0]?.lastError?.code)
      .toBe('status_503');
    const [entry] = await house.storage.listOutbox({ limit: 1 });
    expect((entry?.dueAt ?? 0) - Date.now()).toBeGreaterThan(100_000);
  });

  test('a pause the platform asks for holds what else waits for that recipient, and nobody else', async () => {
    const channel = new RecordingChannel('telegram');
    const sentAt: { readonly to: string; readonly at: number }[] = [];
    let refusals = 1;
    channel.answer = ({ to }) => {
      sentAt.push({ to, at: performance.now() });
      return to === '1' && refusals-- > 0 ? { ...retry, retryAfterMs: 2_000 } : { kind: 'sent' };
    };
    const house = await openHouse({ channels: [channel], gateway: { maxRuns: 8 } });
    await house.accept(...Array.from({ length: 6 }, () => agentAction(telegram)));
    await house.accept(agentAction({ ...telegram, to: '2' }));
    await expect.poll(() => house.counted.outbox['sent']).toBe(7);
    const [first, ...rest] = sentAt.filter(({ to }) => to === '1').map(({ at }) => at);
    expect(rest).toHaveLength(6);
    expect(Math.min(...rest) - (first ?? 0)).toBeGreaterThan(1_950);
    expect(sentAt.find(({ to }) => to === '2')?.at).toBeLessThan(Math.min(...rest));
    expect(house.counted.outbox).toMatchObject({ repeated: 1, dead: 0 });
  });

  test('a stop does not wait for such a pause: what waits is put back', async () => {
    const channel = new RecordingChannel('telegram');
    channel.answer = () => ({ ...retry, retryAfterMs: 600_000 });
    const house = await openHouse({ channels: [channel] });
    await house.accept(...Array.from({ length: 3 }, () => agentAction(telegram)));
    await expect.poll(() => house.counted.outbox['repeated']).toBe(1);
    await expect.poll(async () => (await house.storage.backlog()).queuedOutbox).toBe(3);
    await house.gateway.stop(60_000);
    expect(await house.storage.backlog()).toMatchObject({ queuedOutbox: 3 });
    expect(channel.messages).toHaveLength(1);
  });

  test('keep the order of one recipient, from whatever mapping, while others go on; restarts use up no attempt', async () => {
    const file = temporaryFile();
    const channel = new RecordingChannel('telegram');
    const arrived: string[] = [];
    let isDown = false;
    channel.answer = ({ to, text }) => {
      if (isDown && to === '1') return retry;
      arrived.push(text);
      return { kind: 'sent' };
    };
    // The same recipient by name, as the default of the channel, and of a notification.
    const channels = [{ channel, to: '1' }];
    const unaddressed = () => {
      const { to: _, ...rest } = notification({ channel: 'telegram' });
      return rest;
    };
    const origin = (mappingId: string) => ({ ...agentAction().origin, mappingId });
    const forms = (text: string) => [
      agentAction({ ...telegram, message: text, origin: origin('a') }),
      agentAction({ channel: 'telegram', deliver: true, message: text, origin: origin('b') }),
      { ...unaddressed(), message: text, origin: origin('c') },
    ];
    const texts = Array.from({ length: 15 }, (_, index) => String(100 + index));
    const slow = { maxAttempts: 5, baseMs: 600_000, factor: 1, maxMs: 600_000 };
    const open = () =>
      openHouse({
        file,
        channels,
        gateway: { maxRuns: 1 },
        options: { retry: { ...FAST_RETRY, outbox: slow } },
      });
    isDown = true;
    for (let start = 0; start < 5; start += 1) {
      const house = await open();
      for (const [index, text] of texts.slice(start * 3, start * 3 + 3).entries()) {
        await house.accept(forms(text)[index]!);
        await expect
          .poll(async () => (await house.storage.listOutbox({ limit: 99 })).length)
          .toBe(start * 4 + index + 1);
      }
      await house.accept(agentAction({ ...telegram, to: '2', message: `other ${start}` }));
      await expect.poll(() => arrived).toContain(`other ${start}`);
      await house.gateway.stop(60_000);
      const waiting = await house.storage.listOutbox({ limit: 99, state: 'queued' });
      const attempts = waiting.map((entry) => entry.attempts).reverse();
      expect(attempts).toEqual([1, ...Array.from({ length: start * 3 + 2 }, () => 0)]);
      await house.storage.close();
    }
    isDown = false;
    const house = await open();
    await house.storage.retry({ kind: 'all' }, Date.now());
    house.gateway.notify();
    const inOrder = () => arrived.filter((text) => !text.startsWith('other'));
    await expect.poll(inOrder).toEqual(texts);
    await expect.poll(async () => (await house.storage.backlog()).queuedOutbox).toBe(0);
    expect(await house.storage.verify()).toEqual([]);
  });

  test('of one that is given up let the next one go', async () => {
    const channel = new RecordingChannel('telegram');
    channel.answer = ({ text }) => (text === 'bad' ? retry : { kind: 'sent' });
    const house = await openHouse({ channels: [channel], gateway: { maxRuns: 1 } });
    const actions = ['bad', 'good', 'better'].map((message) => agentAction({ ...telegram, message }));
    await house.accept(...actions);
    await expect.poll(() => house.counted.outbox).toMatchObject({ sent: 2, dead: 1 });
    expect(channel.texts).toEqual([...Array.from({ length: 5 }, () => 'bad'), 'good', 'better']);
  });

  test.each([
    ['an ambiguous answer', (): SendResult => ({ kind: 'ambiguous', code: 'timeout', message: 'no answer' })],
    [
      'an adapter that throws',
      (): SendResult => {
        throw new Error('bug');
      },
    ],
    ['an adapter that answers nothing', () => undefined as unknown as SendResult],
    ['an adapter that answers a kind that there is not', () => ({ kind: 'maybe' }) as unknown as SendResult],
    [
      'an adapter that says ambiguous and not why',
      () => ({ kind: 'ambiguous', code: 5 }) as unknown as SendResult,
    ],
  ])('%s is recorded and never repeated, not even on the fallback', async (_, answer) => {
    const channel = new RecordingChannel('telegram');
    const slack = new RecordingChannel('slack');
    channel.answer = answer;
    const house = await openHouse({ channels: [channel, slack] });
    await house.accept(agentAction({ ...telegram, message: 'm', fallback: { channel: 'slack', to: 'C1' } }));
    expect(await endedDelivery(house)).toMatchObject({
      state: 'dead',
      attempts: 1,
      lastError: { code: 'ambiguous' },
    });
    expect([channel.messages.length, slack.messages.length]).toEqual([1, 0]);
    expect((await house.events())[1]).toMatch(
      /^Hook Test \(delivery failed\): ambiguous: it may or may not have arrived/,
    );
  });

  test('for good go on to the fallback, once', async () => {
    const channel = new RecordingChannel('telegram');
    const slack = new RecordingChannel('slack');
    channel.answer = () => ({ kind: 'failed', code: 'status_403', message: 'blocked' });
    const house = await openHouse({ channels: [channel, slack] });
    await house.accept(agentAction({ ...telegram, message: 'm', fallback: { channel: 'slack', to: 'C1' } }));
    await expect.poll(() => slack.messages).toMatchObject([{ to: 'C1', text: 'm' }]);
    expect(channel.messages).toHaveLength(1);
    expect((await house.events())[1]).toBe(
      'Hook Test (delivery failed): status_403: blocked (sent on to slack)',
    );
  });
});

describe('last', () => {
  const settings = (channels: readonly string[], main: { channel?: string; to?: string } = {}) =>
    configurationOf({
      channels: channels.map((id) => ({ channel: new RecordingChannel(id), to: `${id}-default` })),
      gateway: { main },
    }).settings;
  const last = { channel: 'last' };

  test.each([
    [
      'the one the main session used',
      { channel: 'slack', to: 'C1' },
      ['telegram', 'slack'],
      {},
      'slack',
      'C1',
    ],
    [
      'gateway.main before it used one',
      undefined,
      ['telegram', 'slack'],
      { channel: 'slack', to: 'C2' },
      'slack',
      'C2',
    ],
    ['the only one there is', undefined, ['telegram'], {}, 'telegram', 'telegram-default'],
    [
      'whatsapp where nothing is known',
      undefined,
      ['telegram', 'whatsapp'],
      {},
      'whatsapp',
      'whatsapp-default',
    ],
  ])('is %s', (_, used, channels, main, channel, to) => {
    expect(resolveTarget(last, used, settings(channels, main))).toEqual({ kind: 'target', channel, to });
  });

  test('takes a recipient only from the same channel', () => {
    const used = { channel: 'slack', to: 'C1' };
    const both = settings(['telegram', 'slack']);
    expect(resolveTarget({ channel: 'slack' }, used, both)).toMatchObject({ to: 'C1' });
    expect(resolveTarget({ channel: 'telegram' }, used, both)).toMatchObject({ to: 'telegram-default' });
    expect(resolveTarget({ channel: 'slack', to: 'C9' }, used, both)).toMatchObject({ to: 'C9' });
  });

  test('is not configured where whatsapp stands in without settings', () => {
    expect(resolveTarget(last, undefined, settings(['telegram', 'slack']))).toMatchObject({
      kind: 'problem',
      code: 'not_configured',
    });
    expect(resolveTarget(last, undefined, settings([]))).toEqual({ kind: 'no-channel' });
  });

  test('is moved by the main session alone, never by a hook', async () => {
    const channel = new RecordingChannel('telegram');
    const slack = new RecordingChannel('slack');
    const house = await openHouse({
      channels: [channel, slack],
      gateway: { main: { channel: 'slack', to: 'C1' } },
      runners: { default: answering((turn) => ok(turn.kind === 'heartbeat' ? 'from main' : 'from hook')) },
    });
    await house.accept(agentAction(telegram));
    await endedDelivery(house);
    expect(await house.storage.findLastTarget()).toBeUndefined();
    await house.accept(wakeAction('event'));
    await expect.poll(() => house.storage.findLastTarget()).toEqual({ channel: 'slack', to: 'C1' });
    expect(slack.texts).toEqual(['from main']);
  });
});
