import { createHash } from 'node:crypto';
import type * as discordSdk from '@discordjs/rest';
import * as z from 'zod';
import type { SendResult } from './channel.ts';
import { type AddressedMessage, commonShape, defineChannel, secretText } from './define-channel.ts';
import { escapeDiscord } from './plain-text.ts';
import { describe, field, retryDelay, textField, fetchBounded } from '../../base/outgoing/outgoing.ts';
import {
  prepare,
  PreparationError,
  refusal,
  SEND_TIMEOUT_MS,
  type SendFailure,
  unreadable,
} from './send-failure.ts';

/** Discord refuses 2001; the rest is room for its own counting of custom emoji. */
const MAX_CHARS = 1900;
const REMEDY = 'check channels.discord.botToken; the developer portal shows it under Bot';
/** Error codes of the API that mean a recipient that is not there. */
const UNKNOWN = new Set<number | string>([10003, 10004, 10008, 10013]);

const schema = z.strictObject({ ...commonShape, botToken: secretText });

/** Discord: messages of a bot through the REST API. */
export const discord = defineChannel({
  id: 'discord',
  packages: ['@discordjs/rest'],
  schema,
  maxChars: MAX_CHARS,
  parseRecipient,
  recipientForms: 'a Discord recipient is a channel id of 15 to 20 digits, or user:<id> for a direct message',
  thread: { form: /^\d{15,20}$/, words: 'the id of the message that is answered: 15 to 20 digits' },
  connect: async ({ botToken, baseUrl }) => {
    const sdk = await import('@discordjs/rest');
    const rest = makeRest(sdk, baseUrl);
    return {
      platform: 'Discord',
      // A 401 makes the SDK forget the token: it is set before every use.
      check: async (signal) =>
        textField(await rest.setToken(botToken).get('/users/@me', { signal }), 'username'),
      send: (message, signal) => sendMessage(rest.setToken(botToken), message, signal),
      failureOf: (error) => sdkFailure(sdk, error, botToken),
      stop: async () => {
        rest.clearHashSweeper();
        rest.clearHandlerSweeper();
      },
    };
  },
});

function sdkFailure(sdk: typeof discordSdk, error: unknown, botToken: string): SendFailure | undefined {
  if (error instanceof sdk.RateLimitError) return rateLimited(error);
  return error instanceof sdk.DiscordAPIError ? discordRefusal(error, botToken) : undefined;
}

function makeRest(sdk: typeof discordSdk, baseUrl: string | undefined): discordSdk.REST {
  return new sdk.REST({
    ...(baseUrl === undefined ? {} : { api: baseUrl }),
    retries: 0,
    offset: 0,
    timeout: SEND_TIMEOUT_MS,
    // Without it a 429 is repeated without bound, whatever `retries` says.
    rejectOnRateLimit: () => true,
    // Its dispatcher belongs to another version of undici and is left out.
    makeRequest: async (url, init): Promise<discordSdk.ResponseLike> => {
      const response: unknown = await fetchBounded(url, { ...init, dispatcher: undefined } as object);
      // Whose type of a stream is taken for the body depends on the order in which types are read.
      return response as discordSdk.ResponseLike;
    },
  });
}

async function sendMessage(
  rest: discordSdk.REST,
  message: AddressedMessage<Recipient>,
  signal: AbortSignal,
): Promise<SendResult> {
  const { id, user } = message.to;
  const channelId = user ? await prepare(() => openDirectMessage(rest, id, signal)) : id;
  const sent = await rest.post(`/channels/${channelId}/messages`, { body: messageBody(message), signal });
  const messageId = textField(sent, 'id');
  return messageId === undefined ? unreadable('Discord') : { kind: 'sent', messageId };
}

function messageBody({ text, plain, key, thread }: AddressedMessage<Recipient>): object {
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

async function openDirectMessage(
  rest: discordSdk.REST,
  userId: string,
  signal: AbortSignal,
): Promise<string> {
  const channel = await rest.post('/users/@me/channels', { body: { recipient_id: userId }, signal });
  const id = textField(channel, 'id');
  if (id === undefined) throw new PreparationError(unreadable('Discord'));
  return id;
}

function rateLimited(error: discordSdk.RateLimitError): SendFailure {
  const waitMs = Math.max(
    error.retryAfter,
    error.sublimitTimeout,
    error.retryAfter > 0 ? 0 : error.timeToReset,
  );
  return refusal('Discord', 429, { retryAfterMs: retryDelay(waitMs) });
}

function discordRefusal(error: discordSdk.DiscordAPIError, botToken: string): SendFailure {
  return refusal('Discord', UNKNOWN.has(error.code) ? 404 : error.status, {
    description: describe(field(error.rawError, 'message'), [botToken]),
    remedy: error.status === 403 ? 'invite the bot and let it send messages there' : REMEDY,
    advice: UNKNOWN.has(error.code)
      ? 'the id in "to" has to be that of a channel which the bot can see: "Copy Channel ID" in developer mode; a person is user:<id>'
      : undefined,
  });
}

interface Recipient {
  readonly id: string;
  readonly user: boolean;
}

function parseRecipient(to: string): Recipient | undefined {
  const match = /^(?:discord:)?(?:(channel|user):)?(\d{15,20})$/.exec(to.trim());
  return match?.[2] === undefined ? undefined : { id: match[2], user: match[1] === 'user' };
}
