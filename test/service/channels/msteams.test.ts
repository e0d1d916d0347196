import { describe, expect, onTestFinished, test } from 'vitest';
import { msteams } from '../../../src/service/channels/msteams.ts';
import { describeChannel } from '../../support/channel-contract.ts';
import { type PlatformReply, type ReceivedRequest, startPlatform } from '../../support/platform-server.ts';

const APP = '11111111-2222-3333-4444-555555555555';
const TENANT = '99999999-8888-7777-6666-555555555555';
const SECRET = 'Q~very.secret+value/=';
const TOKEN = 'eyJhbGciOiJub25lIn0.eyJhcHBpZCI6IjExIn0.c2ln';
const TO = '19:a1b2c3@thread.v2';
const NEVER = new AbortController().signal;

const isToken = (request: ReceivedRequest): boolean => request.path === `/${TENANT}/oauth2/v2.0/token`;

function accepted(request: ReceivedRequest): PlatformReply {
  if (!isToken(request)) return { status: 201, body: { id: '1700000000001' } };
  const { client_id: id, client_secret: secret, grant_type: grant, scope } = request.body ?? {};
  const isRight =
    id === APP &&
    secret === SECRET &&
    grant === 'client_credentials' &&
    scope === 'https://api.botframework.com/.default';
  return isRight
    ? { status: 200, body: { token_type: 'Bearer', expires_in: 3599, access_token: TOKEN } }
    : { status: 400, body: { error: 'invalid_client' } };
}

const settings = (baseUrl: string) => ({ appId: APP, appPassword: SECRET, tenantId: TENANT, baseUrl });

async function openOn(reply: (request: ReceivedRequest) => PlatformReply) {
  const platform = await startPlatform(reply);
  onTestFinished(platform.stop);
  return { platform, adapter: await msteams.open(settings(platform.url)) };
}

describe('the msteams adapter', () => {
  describeChannel({
    module: msteams,
    settings,
    to: TO,
    badRecipients: ['General', '+15551234567', 'C0123456', ''],
    secrets: [SECRET, TOKEN],
    sendOf: (request) =>
      decodeURIComponent(request.path).replace(/;messageid=\d+/, '') === `/v3/conversations/${TO}/activities`
        ? { text: request.body?.['text'], authorized: request.headers['authorization'] === `Bearer ${TOKEN}` }
        : undefined,
    accepted,
    thread: {
      named: '1481567603816',
      threadOf: ({ path }) => /;messageid=(\d+)\/activities/.exec(decodeURIComponent(path))?.[1],
    },
    messageId: '1700000000001',
    account: APP,
    rateLimited: {
      reply: {
        status: 429,
        headers: { 'retry-after': '12' },
        body: { error: { code: 'TooManyRequests', message: 'slow' } },
      },
      retryAfterMs: 12_000,
    },
    unauthorized: {
      status: 401,
      body: { error: 'invalid_client', error_description: `AADSTS7000215: ${SECRET}` },
    },
    serverError: { error: { code: 'ServiceError', message: 'Unknown' } },
  });

  test('keeps its token, and gets a new one after it was refused', async () => {
    let isRevoked = false;
    const { adapter, platform } = await openOn((request) =>
      isRevoked && !isToken(request)
        ? { status: 401, body: { message: 'Authorization has been denied' } }
        : accepted(request),
    );
    const message = { to: TO, text: '**hi**', plain: false, key: 'k' };
    await adapter.send(message, NEVER);
    await adapter.send({ ...message, plain: true }, NEVER);
    expect(platform.requests.filter(isToken)).toHaveLength(1);
    expect(platform.requests.slice(1).map(({ body }) => body)).toMatchObject([
      { type: 'message', text: '**hi**', textFormat: 'markdown' },
      { type: 'message', text: '**hi**', textFormat: 'plain' },
    ]);
    isRevoked = true;
    expect(await adapter.send(message, NEVER)).toMatchObject({ kind: 'failed', code: 'unauthorized' });
    isRevoked = false;
    expect(await adapter.send(message, NEVER)).toMatchObject({ kind: 'sent' });
    expect(platform.requests.filter(isToken)).toHaveLength(2);
  });

  test('sends with a new token where Microsoft has ended the old one before its time', async () => {
    let minted = 0;
    const { adapter, platform } = await openOn((request) => {
      if (isToken(request))
        return { status: 200, body: { expires_in: 3599, access_token: `t${(minted += 1)}` } };
      const isAlive = request.headers['authorization'] === `Bearer t${platform.requests.length > 3 ? 2 : 1}`;
      return isAlive ? { status: 201, body: { id: '1' } } : { status: 401, body: {} };
    });
    const message = { to: TO, text: 'hi', plain: false, key: 'k' };
    for (let sent = 0; sent < 3; sent += 1)
      expect(await adapter.send(message, NEVER)).toMatchObject({ kind: 'sent' });
    expect(minted).toBe(2);
  });

  test('may repeat when it was cut off before the message itself', async () => {
    const { adapter } = await openOn(() => 'cut');
    expect(await adapter.send({ to: TO, text: 'hi', plain: false, key: 'k' }, NEVER)).toMatchObject({
      kind: 'retry',
    });
  });

  test('tells the errors of the connector apart', async () => {
    for (const [status, code, expected] of [
      [403, 'BotNotInConversationRoster', { kind: 'failed', code: 'forbidden' }],
      [404, 'ConversationNotFound', { kind: 'failed', code: 'not_found' }],
      [413, 'MessageSizeTooBig', { kind: 'failed', code: 'rejected' }],
      [412, 'PreconditionFailed', { kind: 'retry', code: 'unavailable' }],
    ] as const) {
      const { adapter } = await openOn((request) =>
        isToken(request) ? accepted(request) : { status, body: { error: { code, message: code } } },
      );
      expect(await adapter.send({ to: TO, text: 'hi', plain: false, key: 'k' }, NEVER)).toMatchObject(
        expected,
      );
    }
  });
});
