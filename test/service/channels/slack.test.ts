import { describe, expect, onTestFinished, test } from 'vitest';
import { slack } from '../../../src/service/channels/slack.ts';
import { describeChannel } from '../../support/channel-contract.ts';
import { type PlatformReply, type ReceivedRequest, startPlatform } from '../../support/platform-server.ts';

const TOKEN = 'xoxb-1234-5678-abcdefghijkl';
const NEVER = new AbortController().signal;

const refused = (error: string): PlatformReply => ({ status: 200, body: { ok: false, error } });

function accepted(request: ReceivedRequest): PlatformReply {
  if (request.path === '/auth.test') {
    return { status: 200, body: { ok: true, user: 'sluice', team: 'Acme', user_id: 'U1', team_id: 'T1' } };
  }
  if (request.path !== '/chat.postMessage') return refused('unknown_method');
  const { channel, text } = request.body ?? {};
  return { status: 200, body: { ok: true, channel, ts: '1503435956.000247', message: { text } } };
}

async function send(reply: (request: ReceivedRequest) => PlatformReply, text: string, plain = false) {
  const platform = await startPlatform(reply);
  onTestFinished(platform.stop);
  const adapter = await slack.open({ botToken: TOKEN, baseUrl: platform.url });
  const result = await adapter.send({ to: 'C0123456', text, plain, key: 'k' }, NEVER);
  return { result, body: platform.requests[0]?.body };
}

describe('the slack adapter', () => {
  describeChannel({
    module: slack,
    settings: (baseUrl) => ({ botToken: TOKEN, baseUrl }),
    to: 'C0123456',
    badRecipients: ['general', '+15551234567', '123456789012345678', ''],
    secrets: [TOKEN],
    sendOf: (request) =>
      request.path === '/chat.postMessage'
        ? { text: request.body?.['text'], authorized: request.headers['authorization'] === `Bearer ${TOKEN}` }
        : undefined,
    accepted,
    messageId: '1503435956.000247',
    thread: { named: '1482960137.003543', threadOf: ({ body }) => body?.['thread_ts'] },
    account: 'sluice in Acme',
    rateLimited: {
      reply: { status: 429, headers: { 'retry-after': '30' }, body: { ok: false, error: 'ratelimited' } },
      retryAfterMs: 30_000,
    },
    unauthorized: refused('invalid_auth'),
  });

  test('sends mrkdwn in which a reply can notify nobody', async () => {
    const { body } = await send(
      accepted,
      '**Done** <!channel> & [run](https://ci.example/1|2) `a<b` # not\n# Title',
    );
    expect(body).toMatchObject({
      channel: 'C0123456',
      text: '*Done* &lt;!channel&gt; &amp; <https://ci.example/1%7C2|run> `a&lt;b` # not\n*Title*',
      parse: 'none',
      link_names: 'false',
    });
  });

  test('sends a plain text without notation', async () => {
    const { body } = await send(accepted, '**Done** <!here>', true);
    expect(body).toMatchObject({ text: '**Done** &lt;!here&gt;', mrkdwn: 'false' });
  });

  test('tells the errors of the Web API apart', async () => {
    for (const [error, expected] of [
      [
        'channel_not_found',
        { kind: 'failed', code: 'not_found', message: expect.stringContaining('/invite') },
      ],
      [
        'not_allowed_token_type',
        { kind: 'failed', code: 'unauthorized', message: expect.stringContaining('Bot User OAuth Token') },
      ],
      ['not_in_channel', { kind: 'failed', code: 'forbidden', message: expect.stringContaining('/invite') }],
      [
        'missing_scope',
        { kind: 'failed', code: 'forbidden', message: expect.stringContaining('chat:write') },
      ],
      ['msg_too_long', { kind: 'failed', code: 'rejected' }],
      ['service_unavailable', { kind: 'retry', code: 'unavailable' }],
      ['ratelimited', { kind: 'retry', code: 'rate_limited' }],
      ['internal_error', { kind: 'ambiguous', code: 'platform_error' }],
    ] as const) {
      const { result } = await send(() => refused(error), 'hi');
      expect(result).toMatchObject(expected);
    }
  });
});
