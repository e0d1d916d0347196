import { describe, expect, onTestFinished, test } from 'vitest';
import { mattermost } from '../../../src/service/channels/mattermost.ts';
import { describeChannel } from '../../support/channel-contract.ts';
import { type PlatformReply, type ReceivedRequest, startPlatform } from '../../support/platform-server.ts';

const TOKEN = 'g6rpjc7w6tbqfjn9yxxmsa1bzy';
const CHANNEL = 'ep5ioqf7jfyxzfwjk1cwgnjgqa';
const USER = 'uxn8w5zwejyb3kwz8umhrkt1mo';

const error = (status: number, id: string, message: string): PlatformReply => ({
  status,
  body: { id, message, detailed_error: '', request_id: 'r', status_code: status },
});

function accepted(request: ReceivedRequest): PlatformReply {
  if (request.path === '/api/v4/users/me') return { status: 200, body: { id: 'me', username: 'sluice' } };
  if (request.path === '/api/v4/channels/direct') return { status: 201, body: { id: CHANNEL, type: 'D' } };
  return {
    status: 201,
    body: { id: 'post1', channel_id: request.body?.['channel_id'], message: request.body?.['message'] },
  };
}

describe('the mattermost adapter', () => {
  describeChannel({
    module: mattermost,
    settings: (baseUrl) => ({ botToken: TOKEN, baseUrl }),
    to: CHANNEL,
    badRecipients: ['town-square', '+15551234567', '', '@alice'],
    secrets: [TOKEN],
    sendOf: (request) =>
      request.path === '/api/v4/posts'
        ? {
            text: request.body?.['message'],
            authorized: request.headers['authorization'] === `Bearer ${TOKEN}`,
          }
        : undefined,
    accepted,
    messageId: 'post1',
    account: '@sluice',
    rateLimited: {
      reply: {
        status: 429,
        headers: { 'retry-after': '2', 'content-type': 'text/plain' },
        body: 'limit exceeded',
      },
      retryAfterMs: 2000,
    },
    unauthorized: error(401, 'api.context.session_expired.app_error', `Invalid or expired session ${TOKEN}`),
    serverError: { id: 'app.error', message: 'Internal', status_code: 500 },
  });

  test('opens a direct channel for a user', async () => {
    const platform = await startPlatform(accepted);
    onTestFinished(platform.stop);
    const adapter = await mattermost.open({ botToken: TOKEN, baseUrl: `${platform.url}/` });
    const never = new AbortController().signal;
    const result = await adapter.send(
      { to: `user:${USER}`, text: 'hi @channel @bob', plain: false, key: 'k' },
      never,
    );
    expect(result).toEqual({ kind: 'sent', messageId: 'post1' });
    expect(platform.requests.map(({ body, path }) => [path, body])).toEqual([
      ['/api/v4/users/me', undefined],
      ['/api/v4/channels/direct', ['me', USER]],
      ['/api/v4/posts', { channel_id: CHANNEL, message: 'hi @\u200bchannel @bob', pending_post_id: 'k' }],
    ]);
  });
});
