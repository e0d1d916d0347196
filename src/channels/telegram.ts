import type { Api, GrammyError } from 'grammy';
import { z } from 'zod';
import type { ChannelAdapter, ChannelMessage, SendResult } from './channel.ts';
import { commonShape, defineChannel, secretText } from './define.ts';
import { toTelegramHtml } from './markdown.ts';
import { describe, field, retryDelay, textField, fetchBounded } from '../outgoing/outgoing.ts';
import {
  bounded,
  failedCheck,
  failureOf,
  refusal,
  type SendFailure,
  unreadable,
  unreadableCheck,
} from './send-failure.ts';

/** sendMessage takes this many characters after entities were parsed. */
const MAX_CHARS = 4096;
const REMEDY = 'check channels.telegram.botToken; @BotFather issues it';

const schema = z.strictObject({ ...commonShape, botToken: secretText });

/** Telegram: the Bot API's sendMessage. */
export const telegram = defineChannel({
  id: 'telegram',
  packages: ['grammy'],
  schema,
  recipientProblem: (to) =>
    parseRecipient(to)
      ? undefined
      : 'a Telegram recipient is a chat id (-1001234567890) or @channelname, optionally followed by :topic:<n>',
  open: async ({ botToken, baseUrl }) => {
    const grammy = await import('grammy');
    const makeApi = (signal: AbortSignal): Api =>
      new grammy.Api(botToken, {
        ...(baseUrl === undefined ? {} : { apiRoot: baseUrl }),
        // grammy's own fetch is node-fetch with a foreign AbortSignal; ours is bounded and knows the caller's.
        fetch: (async (url: string, init: RequestInit) =>
          fetchBounded(url, {
            method: 'POST',
            headers: { 'content-type': 'application/json' },
            body: init.body ?? null,
            signal,
          })) as never,
      });
    const fail = (error: unknown): SendFailure =>
      error instanceof grammy.GrammyError ? telegramRefusal(error, botToken) : failureOf(error, 'Telegram');
    return makeAdapter(makeApi, fail);
  },
});

function makeAdapter(
  makeApi: (signal: AbortSignal) => Api,
  fail: (error: unknown) => SendFailure,
): ChannelAdapter {
  return {
    id: 'telegram',
    maxChars: MAX_CHARS,
    check: async (signal) => {
      try {
        const me = await makeApi(bounded(signal)).getMe();
        const account = textField(me, 'username');
        return account === undefined ? unreadableCheck('Telegram') : { ok: true, account: `@${account}` };
      } catch (error) {
        return failedCheck(fail(error));
      }
    },
    send: async (message, signal) => {
      try {
        return await sendMessage(makeApi(bounded(signal)), message);
      } catch (error) {
        return fail(error);
      }
    },
  };
}

async function sendMessage(api: Api, message: ChannelMessage): Promise<SendResult> {
  const recipient = parseRecipient(message.to);
  if (!recipient)
    return { kind: 'failed', code: 'bad_recipient', message: 'the recipient is no Telegram chat' };
  const html = message.plain ? undefined : toTelegramHtml(message.text);
  const sent: unknown = await api.sendMessage(recipient.chatId, html ?? message.text, {
    ...(html === undefined ? {} : { parse_mode: 'HTML' as const }),
    ...(recipient.topicId === undefined ? {} : { message_thread_id: recipient.topicId }),
  });
  const id = field(sent, 'message_id');
  return typeof id === 'number' ? { kind: 'sent', messageId: String(id) } : unreadable('Telegram');
}

function telegramRefusal(error: GrammyError, botToken: string): SendFailure {
  const description = describe(error.description, [botToken]);
  const status: unknown = error.error_code;
  if (typeof status !== 'number') return unreadable('Telegram');
  if (status === 400 && /can't parse entities|unsupported start tag|entity/i.test(description ?? '')) {
    return { kind: 'refused-format', message: `Telegram refused the formatting: ${description ?? ''}` };
  }
  if (
    status === 400 &&
    /chat not found|thread not found|chat_id is empty|PEER_ID_INVALID/i.test(description ?? '')
  ) {
    return {
      kind: 'failed',
      code: 'not_found',
      message: `Telegram does not know the chat: ${description ?? ''}`,
    };
  }
  // An unknown token is answered 404 "Not Found", since the token is part of the path.
  return refusal('Telegram', status === 404 ? 401 : status, {
    description,
    retryAfterMs: retryDelay((error.parameters.retry_after ?? Number.NaN) * 1000),
    remedy: status === 403 ? 'the bot has to be a member of the chat and not blocked' : REMEDY,
  });
}

interface Recipient {
  readonly chatId: number | string;
  readonly topicId?: number;
}

function parseRecipient(to: string): Recipient | undefined {
  const match = /^(?:telegram:)?(?:(-?\d{1,16})|(@[A-Za-z]\w{3,31}))(?::topic:(\d{1,10}))?$/.exec(to.trim());
  if (!match) return undefined;
  const [, chatId, name, topicId] = match;
  return {
    chatId: name ?? Number(chatId),
    ...(topicId === undefined ? {} : { topicId: Number(topicId) }),
  };
}
