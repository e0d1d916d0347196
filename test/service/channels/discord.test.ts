import { field } from '../../../src/base/outgoing/outgoing.ts';
import { describe, expect, onTestFinished, test } from 'vitest';
import { discord } from '../../../src/service/channels/discord.ts';
import { describeChannel } from '../../support/channel-contract.ts';
import { type PlatformReply, type ReceivedRequest, startPlatform } from '../../support/platform-server.ts';

const TOKEN = 'MTk4NjIyNDgzNDcxOTI1MjQ4.Cl2FMQ.ZnCjm1XVW7vRze4b7Cq4se7kKWs';
const CHANNEL = '123456789012345678';
const NEVER = new AbortController().signal;

function accepted(request: ReceivedRequest): PlatformReply {
  if (request.path === '/v10/users/@me') return { status: 200, body: { id: '1', username: 'sluice' } };
  if (request.path === '/v10/users/@me/channels')
    return { status: 200, body: { id: '987654321098765432', type: 1 } };
  return { status: 200, body: { id: '333', channel_id: CHANNEL, content: request.body?.['content'] } };
}

async function openOn(reply: (request: ReceivedRequest) => PlatformReply) {
  const platform = await startPlatform(reply);
  const adapter = await discord.open({ botToken: TOKEN, baseUrl: platform.url });
  onTestFinished(async () => {
    await adapter.stop?.();
    await platform.stop();
  });
  return { adapter, platform };
}

describe('the discord adapter', () => {
  describeChannel({
    module: discord,
    settings: (baseUrl) => ({ botToken: TOKEN, baseUrl }),
    to: CHANNEL,
    badRecipients: ['#general', '+15551234567', 'C0123456', '', 'user:bob'],
    secrets: [TOKEN],
    sendOf: (request) =>
      request.path === `/v10/channels/${CHANNEL}/messages`
        ? { text: request.body?.['content'], authorized: request.headers['authorization'] === `Bot ${TOKEN}` }
        : undefined,
    accepted,
    thread: {
      named: '1098765432109876543',
      threadOf: ({ body }) => field(body?.['message_reference'], 'message_id'),
    },
    messageId: '333',
    account: 'sluice',
    rateLimited: {
      reply: {
        status: 429,
        headers: { 'retry-after': '3', 'x-ratelimit-scope': 'shared' },
        body: { message: 'You are being rate limited.', retry_after: 3, global: false },
      },
      retryAfterMs: 3000,
    },
    unauthorized: { status: 401, body: { message: '401: Unauthorized', code: 0 } },
    serverError: { message: '500: Internal Server Error', code: 0 },
  });

  test('lets no reply mention anyone, and marks repeats', async () => {
    const { adapter, platform } = await openOn(accepted);
    await adapter.send({ to: CHANNEL, text: '@everyone', plain: false, key: 'a' }, NEVER);
    await adapter.send({ to: CHANNEL, text: '@everyone', plain: false, key: 'b' }, NEVER);
    const [first, second] = platform.requests.map((request) => request.body);
    expect(first).toEqual({
      content: '@everyone',
      allowed_mentions: { parse: [] },
      nonce: expect.stringMatching(/^.{1,25}$/),
      enforce_nonce: true,
    });
    expect(second?.['nonce']).not.toBe(first?.['nonce']);
  });

  test('opens a direct message for a user', async () => {
    const { adapter, platform } = await openOn(accepted);
    const result = await adapter.send({ to: `user:${CHANNEL}`, text: 'hi', plain: false, key: 'a' }, NEVER);
    expect(result).toEqual({ kind: 'sent', messageId: '333' });
    expect(platform.requests.map(({ path }) => path)).toEqual([
      '/v10/users/@me/channels',
      '/v10/channels/987654321098765432/messages',
    ]);
    expect(platform.requests[0]?.body).toEqual({ recipient_id: CHANNEL });
  });

  test('may repeat when it was cut off before the message itself', async () => {
    const { adapter } = await openOn(() => 'cut');
    expect(
      await adapter.send({ to: `user:${CHANNEL}`, text: 'hi', plain: false, key: 'a' }, NEVER),
    ).toMatchObject({
      kind: 'retry',
    });
  });

  test('sends nothing where the channel for a user cannot be read', async () => {
    const { adapter, platform } = await openOn(() => ({ status: 200, body: {} }));
    const message = { to: `user:${CHANNEL}`, text: 'hi', plain: false, key: 'a' };
    expect(await adapter.send(message, NEVER)).toMatchObject({ kind: 'retry', code: 'malformed_answer' });
    expect(platform.requests).toHaveLength(1);
  });

  test('names a channel that is not there or not allowed', async () => {
    for (const [status, code, message, expected] of [
      [404, 10003, 'Unknown Channel', 'not_found'],
      [403, 50001, 'Missing Access', 'forbidden'],
      [400, 50035, 'Invalid Form Body', 'rejected'],
    ] as const) {
      const { adapter } = await openOn(() => ({ status, body: { message, code } }));
      const result = await adapter.send({ to: CHANNEL, text: 'hi', plain: false, key: 'a' }, NEVER);
      expect(result).toMatchObject({
        kind: 'failed',
        code: expected,
        message: expect.stringContaining(message),
      });
    }
  });

  test('sends again after its token was refused and mended', async () => {
    let isRevoked = true;
    const { adapter } = await openOn((request) =>
      isRevoked ? { status: 401, body: { message: '401: Unauthorized', code: 0 } } : accepted(request),
    );
    const message = { to: CHANNEL, text: 'hi', plain: false, key: 'a' };
    expect(await adapter.send(message, NEVER)).toMatchObject({ code: 'unauthorized' });
    isRevoked = false;
    expect(await adapter.send(message, NEVER)).toMatchObject({ kind: 'sent' });
  });
});
