import type * as grammySdk from 'grammy';
import * as z from 'zod';
import type { SendResult } from './channel.ts';
import { type AddressedMessage, commonShape, defineChannel, secretText } from './define-channel.ts';
import { toTelegramHtml } from './markdown.ts';
import { breakMentions } from './plain-text.ts';
import { describe, field, retryDelay, textField, fetchBounded } from '../../base/outgoing/outgoing.ts';
import { refusal, type SendFailure, unreadable } from './send-failure.ts';

/** sendMessage takes this many characters after entities were parsed. */
const MAX_CHARS = 4096;
const JSON_TYPE = { 'content-type': 'application/json' };
const REMEDY = 'check channels.telegram.botToken; @BotFather issues it';

const schema = z.strictObject({ ...commonShape, botToken: secretText });

/** Telegram: the Bot API's sendMessage. */
export const telegram = defineChannel({
  id: 'telegram',
  packages: ['grammy'],
  schema,
  maxChars: MAX_CHARS,
  parseRecipient,
  recipientForms:
    'a Telegram recipient is a chat id (-1001234567890) or @channelname, optionally followed by :topic:<n> or :<n>',
  thread: { form: /^\d{1,10}$/, words: 'the message_thread_id of a topic: digits' },
  connect: async (settings) => {
    const sdk = await import('grammy');
    const apiFor = (signal: AbortSignal): grammySdk.Api => makeApi(sdk, settings, signal);
    return {
      platform: 'Telegram',
      check: async (signal) => {
        const account = textField(await apiFor(signal).getMe(), 'username');
        return account === undefined ? undefined : `@${account}`;
      },
      send: (message, signal) => sendMessage(apiFor(signal), message),
      failureOf: (error) =>
        error instanceof sdk.GrammyError ? telegramRefusal(error, settings.botToken) : undefined,
    };
  },
});

function makeApi(
  sdk: typeof grammySdk,
  { botToken, baseUrl }: z.output<typeof schema>,
  signal: AbortSignal,
): grammySdk.Api {
  return new sdk.Api(botToken, {
    ...(baseUrl === undefined ? {} : { apiRoot: baseUrl }),
    // grammy's own fetch is node-fetch with a foreign AbortSignal; ours is bounded and knows the caller's.
    fetch: (async (url: string, { body }: RequestInit) =>
      fetchBounded(url, { method: 'POST', headers: JSON_TYPE, body: body ?? null, signal })) as never,
  });
}

async function sendMessage(api: grammySdk.Api, message: AddressedMessage<Recipient>): Promise<SendResult> {
  const html = message.plain ? undefined : toTelegramHtml(message.text);
  const topicId = message.thread === undefined ? message.to.topicId : Number(message.thread);
  const sent: unknown = await api.sendMessage(message.to.chatId, html ?? plainText(message), {
    ...(html === undefined ? {} : { parse_mode: 'HTML' as const }),
    ...(topicId === undefined ? {} : { message_thread_id: topicId }),
  });
  const id = field(sent, 'message_id');
  return typeof id === 'number' ? { kind: 'sent', messageId: String(id) } : unreadable('Telegram');
}

/** Without notation only names have a meaning: what was sent to be plain notifies nobody. */
function plainText({ plain, text }: AddressedMessage<Recipient>): string {
  return plain ? breakMentions(text) : text;
}

const UNKNOWN =
  'add the bot to the chat, or let the person send /start to the bot; the id of a supergroup or channel begins with -100';
const UNKNOWN_CHAT = /chat not found|thread not found|chat_id is empty|PEER_ID_INVALID/i;

function telegramRefusal(error: grammySdk.GrammyError, botToken: string): SendFailure {
  const description = describe(error.description, [botToken]);
  const status: unknown = error.error_code;
  if (typeof status !== 'number') return unreadable('Telegram');
  if (status === 400 && /can't parse entities|unsupported start tag|entity/i.test(description ?? '')) {
    return { kind: 'refused-format', message: `Telegram refused the formatting: ${description ?? ''}` };
  }
  if (status === 400 && UNKNOWN_CHAT.test(description ?? '')) {
    const message = `Telegram does not know the chat: ${description ?? ''} (${UNKNOWN})`;
    return { kind: 'failed', code: 'not_found', message };
  }
  const { migrate_to_chat_id: moved } = error.parameters;
  if (moved !== undefined) {
    const message = `the group has become a supergroup, which has another id: write to: "${moved}"`;
    return { kind: 'failed', code: 'not_found', message };
  }
  // An unknown token is answered 404 "Not Found", since the token is part of the path.
  return refusal('Telegram', status === 404 ? 401 : status, {
    description,
    retryAfterMs: retryDelay((error.parameters.retry_after ?? Number.NaN) * 1000),
    remedy: status === 403 ? forbidden(description ?? '') : REMEDY,
  });
}

function forbidden(description: string): string {
  return /initiate|blocked by the user/i.test(description)
    ? 'the person has to send /start to the bot first'
    : 'the bot has to be a member of the chat and not blocked';
}

interface Recipient {
  readonly chatId: number | string;
  readonly topicId?: number;
}

function parseRecipient(to: string): Recipient | undefined {
  const match =
    /^(?:(?:telegram|tg):(?:group:)?)?(?:(-?\d{1,16})|(@[A-Za-z]\w{3,31}))(?::(?:topic:)?(\d{1,10}))?$/i.exec(
      to.trim(),
    );
  if (!match) return undefined;
  const [, chatId, name, topicId] = match;
  return {
    chatId: name ?? Number(chatId),
    ...(topicId === undefined ? {} : { topicId: Number(topicId) }),
  };
}
