import { createHash } from 'node:crypto';
import * as z from 'zod';
import { type AddressedMessage, commonShape, defineChannel, EMOJI, secretText } from './define-channel.ts';
import { escapeDiscord } from './plain-text.ts';
import { fetchJson, field, type JsonAnswer, textField } from '../../base/outgoing/outgoing.ts';
import { brought, prepare, refusedBy, type SendFailure, sentAs } from './send-failure.ts';

/** Discord refuses 2001; the rest is space for its own counting of custom emoji. */
const MAX_CHARS = 1900;
const PLATFORM_URL = 'https://discord.com/api';
/** The form that Discord asks of every client. */
const USER_AGENT = 'DiscordBot (https://github.com/OWNER/sluice, 1)';
const REMEDY = 'check channels.discord.botToken; the developer portal shows it under Bot';
/** Error codes of the API that mean that the recipient does not exist. */
const UNKNOWN = new Set<unknown>([10003, 10004, 10008, 10013]);

const schema = z.strictObject({ ...commonShape, botToken: secretText });

export const discord = defineChannel({
  id: 'discord',
  schema,
  maxChars: MAX_CHARS,
  parseRecipient,
  recipientForms: 'a Discord recipient is a channel id of 15 to 20 digits, or user:<id> for a direct message',
  thread: { form: /^\d{15,20}$/, words: 'the id of the message that is answered: 15 to 20 digits' },
  message: { field: 'message.id', form: /^(\d{15,20})$/ },
  connect: async ({ botToken, baseUrl = PLATFORM_URL }) => {
    const headers = { authorization: `Bot ${botToken}`, 'user-agent': USER_AGENT };
    const ask = (path: string, signal: AbortSignal, body?: object, method?: 'PUT'): Promise<JsonAnswer> =>
      fetchJson(`${baseUrl}/v10${path}`, { headers, body, signal, ...(method && { method }) });
    const openDirectMessage = async (userId: string, signal: AbortSignal): Promise<string> => {
      const answer = await ask('/users/@me/channels', signal, { recipient_id: userId });
      return brought('Discord', discordRefusal(answer, botToken), textField(answer.body, 'id'));
    };
    return {
      platform: 'Discord',
      check: async (signal) => {
        const answer = await ask('/users/@me', signal);
        return discordRefusal(answer, botToken) ?? textField(answer.body, 'username');
      },
      send: async (message, signal) => {
        const { id, user } = message.to;
        const channelId = user ? await prepare(() => openDirectMessage(id, signal)) : id;
        const path = `/channels/${channelId}/messages`;
        if (message.reaction !== undefined) {
          const { emoji, message: reactedTo } = message.reaction;
          const reaction = `${path}/${reactedTo}/reactions/${encodeURIComponent(EMOJI[emoji])}/@me`;
          const set = await ask(reaction, signal, undefined, 'PUT');
          return discordRefusal(set, botToken) ?? { kind: 'sent' };
        }
        const answer = await ask(path, signal, messageBody(message));
        return discordRefusal(answer, botToken) ?? sentAs('Discord', textField(answer.body, 'id'));
      },
    };
  },
});

function messageBody({ text, plain, key, thread }: AddressedMessage<DiscordRecipient>): object {
  return {
    content: plain ? escapeDiscord(text) : text,
    // An untrusted reply must not ping anyone.
    allowed_mentions: { parse: [] },
    // At most 25 characters; Discord leaves out a repeat of the same nonce for a few minutes.
    nonce: createHash('sha256').update(key).digest('hex').slice(0, 24),
    enforce_nonce: true,
    // A message that was deleted meanwhile is no reason to say nothing.
    ...(thread && { message_reference: { message_id: thread, fail_if_not_exists: false } }),
  };
}

function discordRefusal(answer: JsonAnswer, botToken: string): SendFailure | undefined {
  const { body, retryAfterMs } = answer;
  const isUnknown = UNKNOWN.has(field(body, 'code'));
  const status = isUnknown ? 404 : answer.status;
  return refusedBy(
    'Discord',
    { status, retryAfterMs },
    {
      said: field(body, 'message'),
      secrets: [botToken],
      remedy: status === 403 ? 'invite the bot and let it send messages there' : REMEDY,
      advice: isUnknown
        ? 'the id in "to" has to be that of a channel which the bot can see: "Copy Channel ID" in developer mode; a person is user:<id>'
        : undefined,
    },
  );
}

interface DiscordRecipient {
  readonly id: string;
  readonly user: boolean;
}

function parseRecipient(to: string): DiscordRecipient | undefined {
  const match = /^(?:discord:)?(?:(channel|user):)?(\d{15,20})$/.exec(to.trim());
  return match?.[2] === undefined ? undefined : { id: match[2], user: match[1] === 'user' };
}
