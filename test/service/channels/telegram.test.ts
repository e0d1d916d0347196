import { describe, expect, onTestFinished, test } from 'vitest';
import { telegram } from '../../../src/service/channels/telegram.ts';
import { describeChannel } from '../../support/channel-contract.ts';
import { startPlatform, type PlatformReply, type ReceivedRequest } from '../../support/platform-server.ts';

const TOKEN = '110201543:AAHdqTcvCH1vGWJxfSeofSAs0K5PALDsaw';

const error = (status: number, description: string, parameters?: object): PlatformReply => ({
  status,
  body: { ok: false, error_code: status, description, ...(parameters ? { parameters } : {}) },
});

function accepted(request: ReceivedRequest): PlatformReply {
  if (request.path === `/bot${TOKEN}/getMe`) {
    return {
      status: 200,
      body: { ok: true, result: { id: 1, is_bot: true, first_name: 'S', username: 'sluice_bot' } },
    };
  }
  if (request.path !== `/bot${TOKEN}/sendMessage`) return error(404, 'Not Found');
  return {
    status: 200,
    body: { ok: true, result: { message_id: 77, date: 1, chat: { id: 1, type: 'private' } } },
  };
}

describe('the telegram adapter', () => {
  describeChannel({
    module: telegram,
    settings: (baseUrl) => ({ botToken: TOKEN, baseUrl }),
    to: '-1001234567890',
    badRecipients: ['+15551234567', '#general', '', '@x', '12:topic:x'],
    secrets: [TOKEN, 'AAHdq'],
    sendOf: (request) =>
      request.path.endsWith('/sendMessage')
        ? { text: request.body?.['text'], authorized: request.path.startsWith(`/bot${TOKEN}/`) }
        : undefined,
    accepted,
    thread: { named: '42', threadOf: ({ body }) => body?.['message_thread_id']?.toString() },
    messageId: '77',
    account: '@sluice_bot',
    rateLimited: {
      reply: error(429, 'Too Many Requests: retry after 7', { retry_after: 7 }),
      retryAfterMs: 7000,
    },
    unauthorized: error(401, 'Unauthorized'),
    serverError: { ok: false, error_code: 500, description: 'Internal Server Error' },
    refusedFormat: {
      text: 'a **bold** word',
      reply: error(400, "Bad Request: can't parse entities: Unsupported start tag at byte offset 3"),
    },
  });

  async function sendTo(to: string, text: string): Promise<ReceivedRequest['body']> {
    const platform = await startPlatform(accepted);
    onTestFinished(platform.stop);
    const adapter = await telegram.open({ botToken: TOKEN, baseUrl: platform.url });
    await adapter.send({ to, text, plain: false, key: 'k' }, new AbortController().signal);
    return platform.requests[0]?.body;
  }

  test('reaches a chat, a channel by name and a topic', async () => {
    expect(await sendTo('123456789', 'x')).toEqual({ chat_id: 123456789, text: 'x' });
    expect(await sendTo('@sluice_news', 'x')).toEqual({ chat_id: '@sluice_news', text: 'x' });
    expect(await sendTo('-100123:topic:42', 'x')).toEqual({
      chat_id: -100123,
      message_thread_id: 42,
      text: 'x',
    });
  });

  test.each([
    ['tg:-1001234567890', -1001234567890, undefined],
    ['telegram:group:-1001234567890', -1001234567890, undefined],
    ['TG:group:-1001234567890:topic:7', -1001234567890, 7],
    ['-1001234567890:7', -1001234567890, 7],
    ['telegram:@sluice_news:7', '@sluice_news', 7],
  ])('reaches %s, as OpenClaw writes recipients', async (to, chatId, topic) => {
    expect(await sendTo(to, 'x')).toEqual({
      chat_id: chatId,
      ...(topic === undefined ? {} : { message_thread_id: topic }),
      text: 'x',
    });
  });

  test('sends Markdown as HTML, and text without any as it is', async () => {
    expect(await sendTo('1', 'see **this** & `a<b`\n```ts\nlet x = 1 < 2;\n```')).toEqual({
      chat_id: 1,
      parse_mode: 'HTML',
      text:
        'see <b>this</b> &amp; <code>a&lt;b</code>\n' +
        '<pre><code class="language-ts">let x = 1 &lt; 2;</code></pre>',
    });
    expect(await sendTo('1', '2 < 3 & 4 > 3')).toEqual({ chat_id: 1, text: '2 < 3 & 4 > 3' });
  });

  test('says what is wrong with a chat it cannot reach', async () => {
    for (const [reply, code] of [
      [error(400, 'Bad Request: chat not found'), 'not_found'],
      [error(403, 'Forbidden: bot was blocked by the user'), 'forbidden'],
      [
        error(400, 'Bad Request: group chat was upgraded to a supergroup chat', {
          migrate_to_chat_id: -100123,
        }),
        'not_found',
      ],
      [error(404, 'Not Found'), 'unauthorized'],
      [error(400, 'Bad Request: message text is empty'), 'rejected'],
    ] as const) {
      const platform = await startPlatform(() => reply);
      onTestFinished(platform.stop);
      const adapter = await telegram.open({ botToken: TOKEN, baseUrl: platform.url });
      const result = await adapter.send(
        { to: '5', text: 'x', plain: false, key: 'k' },
        new AbortController().signal,
      );
      expect(result).toMatchObject({ kind: 'failed', code });
    }
  });
});
