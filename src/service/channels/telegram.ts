import * as z from 'zod';
import type { Reaction } from '../../base/action.ts';
import { type AddressedMessage, commonShape, defineChannel, EMOJI, secretText } from './define-channel.ts';
import { toTelegramHtml } from './markdown.ts';
import { breakMentions } from './plain-text.ts';
import {
  describe,
  fetchJson,
  field,
  type JsonAnswer,
  retryDelay,
  textField,
} from '../../base/outgoing/outgoing.ts';
import { refusal, type SendFailure, sentAs } from './send-failure.ts';

/** sendMessage takes this many characters after entities were parsed. */
const MAX_CHARS = 4096;
const PLATFORM_URL = 'https://api.telegram.org';
const REMEDY = 'check channels.telegram.botToken; @BotFather issues it';

const schema = z.strictObject({ ...commonShape, botToken: secretText });

export const telegram = defineChannel({
  id: 'telegram',
  schema,
  maxChars: MAX_CHARS,
  parseRecipient,
  recipientForms:
    'a Telegram recipient is a chat id (-1001234567890) or @channelname, optionally followed by :topic:<n> or :<n>',
  thread: { form: /^\d{1,10}$/, words: 'the message_thread_id of a topic: digits' },
  message: { field: 'message.message_id', form: /^(\d{1,15})$/ },
  connect: async ({ botToken, baseUrl = PLATFORM_URL }) => {
    const ask = (method: string, body: object, signal: AbortSignal): Promise<JsonAnswer> =>
      fetchJson(`${baseUrl}/bot${botToken}/${method}`, { body, signal });
    return {
      platform: 'Telegram',
      check: async (signal) => {
        const answer = await ask('getMe', {}, signal);
        const account = textField(field(answer.body, 'result'), 'username');
        return telegramRefusal(answer, botToken) ?? (account === undefined ? undefined : `@${account}`);
      },
      send: async (message, signal) => {
        if (message.reaction !== undefined) {
          const set = await ask('setMessageReaction', reactionBody(message.to, message.reaction), signal);
          return telegramRefusal(set, botToken) ?? { kind: 'sent' };
        }
        const answer = await ask('sendMessage', messageBody(message), signal);
        const id = field(field(answer.body, 'result'), 'message_id');
        return telegramRefusal(answer, botToken) ?? sentAs('Telegram', id);
      },
    };
  },
});

function reactionBody({ chatId }: TelegramRecipient, { emoji: name, message }: Reaction): object {
  // A bot may set few emoji, and of these none is nearer to "confused".
  const emoji = { ...EMOJI, confused: '🤔' }[name];
  return { chat_id: chatId, message_id: Number(message), reaction: [{ type: 'emoji', emoji }] };
}

function messageBody(message: AddressedMessage<TelegramRecipient>): object {
  const html = message.plain ? undefined : toTelegramHtml(message.text);
  const topicId = message.thread === undefined ? message.to.topicId : Number(message.thread);
  return {
    chat_id: message.to.chatId,
    text: html ?? plainText(message),
    ...(html === undefined ? {} : { parse_mode: 'HTML' }),
    ...(topicId === undefined ? {} : { message_thread_id: topicId }),
  };
}

/** Without notation only names have a meaning: what was sent to be plain notifies nobody. */
function plainText({ plain, text }: AddressedMessage<TelegramRecipient>): string {
  return plain ? breakMentions(text) : text;
}

const UNKNOWN =
  'add the bot to the chat, or let the person send /start to the bot; the id of a supergroup or channel begins with -100';
const UNKNOWN_CHAT = /chat not found|thread not found|chat_id is empty|PEER_ID_INVALID/i;

function telegramRefusal({ status: answered, body }: JsonAnswer, botToken: string): SendFailure | undefined {
  if (answered < 300 && field(body, 'ok') !== false) return undefined;
  const description = describe(field(body, 'description'), [botToken]);
  const code = field(body, 'error_code');
  const status = typeof code === 'number' ? code : Math.max(answered, 400);
  const parameters = field(body, 'parameters');
  if (status === 400 && /can't parse entities|unsupported start tag|entity/i.test(description ?? '')) {
    return { kind: 'refused-format', message: `Telegram refused the formatting: ${description ?? ''}` };
  }
  if (status === 400 && UNKNOWN_CHAT.test(description ?? '')) {
    const message = `Telegram does not know the chat: ${description ?? ''} (${UNKNOWN})`;
    return { kind: 'failed', code: 'not_found', message };
  }
  const moved = field(parameters, 'migrate_to_chat_id');
  if (typeof moved === 'number') {
    const message = `the group has become a supergroup, which has another id: write to: "${moved}"`;
    return { kind: 'failed', code: 'not_found', message };
  }
  // An unknown token is answered 404 "Not Found", since the token is part of the path.
  return refusal('Telegram', status === 404 ? 401 : status, {
    description,
    retryAfterMs: retryDelay(Number(field(parameters, 'retry_after')) * 1000),
    remedy: status === 403 ? forbidden(description ?? '') : REMEDY,
  });
}

function forbidden(description: string): string {
  return /initiate|blocked by the user/i.test(description)
    ? 'the person has to send /start to the bot first'
    : 'the bot has to be a member of the chat and not blocked';
}

interface TelegramRecipient {
  readonly chatId: number | string;
  readonly topicId?: number;
}

function parseRecipient(to: string): TelegramRecipient | undefined {
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
