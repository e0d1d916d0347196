import { describe, expect, onTestFinished, test } from 'vitest';
import { signal } from '../../../src/service/channels/signal.ts';
import { describeChannel } from '../../support/channel-contract.ts';
import { type PlatformReply, type ReceivedRequest, startPlatform } from '../../support/platform-server.ts';

const ACCOUNT = '+15550001111';
const NEVER = new AbortController().signal;

const error = (code: number, message: string, data?: object): PlatformReply => ({
  status: 200,
  body: { jsonrpc: '2.0', error: { code, message, ...(data ? { data } : {}) }, id: 'x' },
});

function accepted(request: ReceivedRequest): PlatformReply {
  const { id, method } = request.body ?? {};
  const result =
    method === 'listAccounts'
      ? [{ number: '+15559990000' }, { number: ACCOUNT }]
      : {
          timestamp: 1_700_000_000_123,
          results: [{ recipientAddress: { number: '+15551234567' }, type: 'SUCCESS' }],
        };
  return { status: 200, body: { jsonrpc: '2.0', result, id } };
}

async function send(reply: (request: ReceivedRequest) => PlatformReply, to: string) {
  const platform = await startPlatform(reply);
  onTestFinished(platform.stop);
  const adapter = await signal.open({ account: ACCOUNT, baseUrl: platform.url });
  const result = await adapter.send({ to, text: 'hi', plain: false, key: 'k' }, NEVER);
  return { result, body: platform.requests[0]?.body };
}

describe('the signal adapter', () => {
  describeChannel({
    module: signal,
    settings: (baseUrl) => ({ account: ACCOUNT, baseUrl }),
    to: '+15551234567',
    badRecipients: ['@alice', 'group:x', '', '-1001234567890', 'bob@example.org'],
    secrets: [],
    sendOf: ({ body, path }) => {
      if (path !== '/api/v1/rpc' || body?.['method'] !== 'send') return undefined;
      const params = body['params'] as { message: string; account: string };
      return { text: params.message, authorized: params.account === ACCOUNT };
    },
    accepted,
    messageId: '1700000000123',
    account: ACCOUNT,
    rateLimited: {
      reply: error(-5, 'Rate limit exceeded', {
        response: { results: [{ type: 'RATE_LIMIT_FAILURE', retryAfterSeconds: 90 }] },
      }),
      retryAfterMs: 90_000,
    },
    unauthorized: error(-1, 'Specified account does not exist'),
  });

  test('reaches a group, a username and someone without a number', async () => {
    const group = 'group:dGVzdC1ncm91cC1pZC1mb3ItdGVzdHM=';
    const uuid = '6f2a7a1e-0f7b-4c1c-9d55-0a6c5c3f9b11';
    expect((await send(accepted, group)).body?.['params']).toEqual({
      account: ACCOUNT,
      groupId: group.slice('group:'.length),
      message: 'hi',
    });
    expect((await send(accepted, `uuid:${uuid}`)).body?.['params']).toMatchObject({ recipient: [uuid] });
    expect((await send(accepted, 'username:alice.42')).body?.['params']).toMatchObject({
      username: ['alice.42'],
    });
  });

  test('tells the errors of signal-cli apart', async () => {
    const failed = { timestamp: 1, results: [{ type: 'UNREGISTERED_FAILURE' }] };
    for (const [reply, expected] of [
      [error(-3, 'Failed to send: Connection closed'), { kind: 'ambiguous', code: 'connection_lost' }],
      [error(-4, 'Untrusted identity'), { kind: 'failed', code: 'rejected' }],
      [
        { status: 200, body: { jsonrpc: '2.0', result: failed, id: 'k' } },
        { kind: 'failed', code: 'not_found' },
      ],
    ] as const) {
      expect((await send(() => reply, '+15551234567')).result).toMatchObject(expected);
    }
  });

  test('checks that the daemon serves the account, or serves just one', async () => {
    for (const [reply, expected] of [
      [
        { status: 200, body: { result: [{ number: '+15559990000' }] } },
        { ok: false, code: 'unauthorized' },
      ],
      [error(-32601, 'Method not implemented'), { ok: true, account: ACCOUNT }],
    ] as const) {
      const platform = await startPlatform(() => reply);
      onTestFinished(platform.stop);
      const adapter = await signal.open({ account: '+1 555 000 1111', baseUrl: platform.url });
      expect(await adapter.check(NEVER)).toMatchObject(expected);
    }
  });
});
