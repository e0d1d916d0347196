import { randomUUID } from 'node:crypto';
import { expect, onTestFinished, test } from 'vitest';
import type { AgentAction } from '../../../src/base/action.ts';
import type { Settings } from '../../../src/engine/config/config.ts';
import { createRunners } from '../../../src/service/runners/runners.ts';
import { Gateway } from '../../../src/service/gateway/gateway.ts';
import { loadChannelCatalog, openChannels } from '../../../src/service/channels/channels.ts';
import { openStorage, type Storage } from '../../../src/engine/storage/storage.ts';
import { agentAction, FAST_RETRY, temporaryFile } from '../../support/gateway-fixture.ts';
import { gatewaySettings } from '../../support/gateway-settings.ts';
import {
  type PlatformReply,
  type PlatformServer,
  type ReceivedRequest,
  startPlatform,
} from '../../support/platform-server.ts';

const TOKEN = '1:token';

/** A platform whose n-th message (from 0) is answered by `answers[n]`, later ones with success. */
async function startTelegram(answers: Record<number, PlatformReply> = {}): Promise<PlatformServer> {
  const platform = await startPlatform((_, index) => {
    const sent = { ok: true, result: { message_id: index + 1, date: 1, chat: { id: 1, type: 'private' } } };
    return answers[index] ?? { status: 200, body: sent };
  });
  onTestFinished(platform.stop);
  return platform;
}

/** A local OpenAI-compatible server that always gives the same reply. */
async function startModel(content: string): Promise<PlatformServer> {
  const platform = await startPlatform(() => ({
    status: 200,
    body: {
      id: 'c',
      object: 'chat.completion',
      created: 1,
      model: 'm',
      choices: [{ index: 0, message: { role: 'assistant', content }, finish_reason: 'stop' }],
      usage: { prompt_tokens: 5, completion_tokens: 9, total_tokens: 14 },
    },
  }));
  onTestFinished(platform.stop);
  return platform;
}

async function openStore(file: string): Promise<Storage> {
  return openStorage(`sqlite:${file}`, { fsync: false });
}

/** The gateway with its own runners and channels, as a service wires them. */
async function startGateway(
  storage: Storage,
  where: { model: string; channels: Settings['channels'] },
): Promise<Gateway> {
  const settings = {
    gateway: gatewaySettings({
      runners: {
        default: {
          kind: 'model',
          providers: { local: { kind: 'openai-compatible', baseUrl: `${where.model}/v1`, reasoning: false } },
        },
      },
    }),
    agents: {
      defaults: {
        model: 'local/m',
        models: undefined,
        aliases: {},
        timeoutSeconds: 20,
        maxTimeoutSeconds: 3600,
      },
    },
    channels: where.channels,
  };
  const channels = openChannels(await loadChannelCatalog([], '/'), where.channels);
  const log = (): void => undefined;
  const gateway = new Gateway({
    storage,
    configuration: { settings, runners: createRunners(settings, {}), channels },
    log: { info: log, warn: log, error: log },
    retry: FAST_RETRY,
  });
  onTestFinished(async () => {
    await gateway.stop(0);
    await channels.stop();
  });
  await gateway.start();
  return gateway;
}

async function accept(storage: Storage, gateway: Gateway, action: AgentAction): Promise<void> {
  await storage.accept({ requestId: randomUUID(), receivedAt: Date.now(), actions: [action], warnings: [] });
  gateway.notify();
}

async function endedDeliveries(storage: Storage, count: number) {
  const ended = async () =>
    (await storage.listOutbox({ limit: 10 })).filter((entry) => entry.endedAt !== undefined);
  await expect.poll(async () => (await ended()).length).toBe(count);
  return ended();
}

const textsOf = (requests: readonly ReceivedRequest[]): unknown[] =>
  requests.map(({ body }) => body?.['text']);
const paragraph = (name: string): string => `${name} ${'word '.repeat(700)}`.trim();
const LONG_REPLY = ['One', 'Two', 'Three'].map(paragraph).join('\n\n');

test('a long answer of a model reaches a chat whole, each part once, through a rate limit and refused formatting', async () => {
  const model = await startModel(LONG_REPLY.replace('Three', '**Three**'));
  const telegram = await startTelegram({
    1: {
      status: 429,
      body: { ok: false, error_code: 429, description: 'Too Many Requests', parameters: { retry_after: 0 } },
    },
    3: {
      status: 400,
      body: { ok: false, error_code: 400, description: "Bad Request: can't parse entities" },
    },
  });
  const storage = await openStore(temporaryFile());
  onTestFinished(() => storage.close());
  const channels = { telegram: { botToken: TOKEN, baseUrl: telegram.url } };
  const gateway = await startGateway(storage, { model: model.url, channels });
  await accept(storage, gateway, agentAction({ channel: 'telegram', to: '42', deliver: true }));
  expect(await endedDeliveries(storage, 1)).toMatchObject([{ state: 'completed', attempts: 2 }]);
  const texts = textsOf(telegram.requests);
  expect(texts).toEqual([
    paragraph('One'),
    paragraph('Two'),
    paragraph('Two'),
    paragraph('<b>Three</b>'),
    paragraph('**Three**'),
  ]);
  const [run] = await storage.listRuns({ limit: 1 });
  expect(run).toMatchObject({ outcome: 'ok', usage: { inputTokens: 5, outputTokens: 9 } });
});

test('a part that may have arrived is not sent again, and the rest is not sent at all', async () => {
  const model = await startModel(LONG_REPLY);
  const telegram = await startTelegram({ 1: 'cut' });
  const storage = await openStore(temporaryFile());
  onTestFinished(() => storage.close());
  const channels = { telegram: { botToken: TOKEN, baseUrl: telegram.url } };
  const gateway = await startGateway(storage, { model: model.url, channels });
  await accept(storage, gateway, agentAction({ channel: 'telegram', to: '42', deliver: true }));
  const [entry] = await endedDeliveries(storage, 1);
  expect(entry).toMatchObject({ state: 'dead', chunksSent: 1 });
  expect(textsOf(telegram.requests)).toEqual([paragraph('One'), paragraph('Two')]);
  const events = await storage.listEvents({ limit: 10 });
  expect(events.map(({ text }) => text).join('\n')).toContain('(delivery failed)');
});

test('a reply refused on one channel goes to the other', async () => {
  const model = await startModel('Disk full');
  const telegram = await startTelegram({
    0: { status: 400, body: { ok: false, error_code: 400, description: 'Bad Request: chat not found' } },
  });
  const slack = await startPlatform(() => ({
    status: 200,
    body: { ok: true, ts: '1.2', channel: 'C0123456' },
  }));
  onTestFinished(slack.stop);
  const storage = await openStore(temporaryFile());
  onTestFinished(() => storage.close());
  const channels = {
    telegram: { botToken: TOKEN, baseUrl: telegram.url },
    slack: { botToken: 'xoxb-1', baseUrl: slack.url, to: 'C0123456' },
  };
  const gateway = await startGateway(storage, { model: model.url, channels });
  const fallback = { channel: 'slack', to: 'C0123456' };
  await accept(storage, gateway, agentAction({ channel: 'telegram', to: '42', deliver: true, fallback }));
  const entries = await endedDeliveries(storage, 2);
  expect(entries.map(({ state }) => state).toSorted((a, b) => a.localeCompare(b))).toEqual([
    'completed',
    'dead',
  ]);
  expect(textsOf(slack.requests)).toEqual(['Disk full']);
});
