import { createHash } from 'node:crypto';
import type { DiscordAPIError, RateLimitError, REST } from '@discordjs/rest';
import { z } from 'zod';
import type { ChannelAdapter, ChannelMessage, SendResult } from './channel.ts';
import { commonShape, defineChannel, secretText } from './define.ts';
import { describe, field, retryDelay, textField, fetchBounded } from '../outgoing/outgoing.ts';
import {
  beforeSending,
  bounded,
  failedCheck,
  failureOf,
  notSent,
  refusal,
  SEND_TIMEOUT_MS,
  type SendFailure,
  unreadable,
  unreadableCheck,
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
  recipientProblem: (to) =>
    parseRecipient(to)
      ? undefined
      : 'a Discord recipient is a channel id of 15 to 20 digits, or user:<id> for a direct message',
  open: async ({ botToken, baseUrl }) => {
    const sdk = await import('@discordjs/rest');
    const rest = new sdk.REST({
      ...(baseUrl === undefined ? {} : { api: baseUrl }),
      retries: 0,
      offset: 0,
      timeout: SEND_TIMEOUT_MS,
      // Without it a 429 is repeated without bound, whatever `retries` says.
      rejectOnRateLimit: () => true,
      // Its dispatcher belongs to another version of undici and is left out.
      makeRequest: async (url, init) => fetchBounded(url, { ...init, dispatcher: undefined } as object),
    });
    const fail = (error: unknown): SendFailure => {
      if (error instanceof sdk.RateLimitError) return rateLimited(error);
      if (error instanceof sdk.DiscordAPIError) return discordRefusal(error, botToken);
      return failureOf(error, 'Discord');
    };
    // A 401 makes the SDK forget the token: it is set before every use.
    return makeAdapter(() => rest.setToken(botToken), fail);
  },
});

function makeAdapter(connect: () => REST, fail: (error: unknown) => SendFailure): ChannelAdapter {
  return {
    id: 'discord',
    maxChars: MAX_CHARS,
    check: async (signal) => {
      try {
        const me = await connect().get('/users/@me', { signal: bounded(signal) });
        const account = textField(me, 'username');
        return account === undefined ? unreadableCheck('Discord') : { ok: true, account };
      } catch (error) {
        return failedCheck(fail(error));
      }
    },
    send: async (message, signal) => {
      const recipient = parseRecipient(message.to);
      if (!recipient)
        return { kind: 'failed', code: 'bad_recipient', message: 'the recipient is no Discord id' };
      if (signal.aborted) return notSent();
      const within = bounded(signal);
      let channelId: string | undefined;
      try {
        channelId = recipient.user ? await openDirectMessage(connect(), recipient.id, within) : recipient.id;
      } catch (error) {
        return beforeSending(fail(error));
      }
      if (channelId === undefined) return beforeSending(unreadable('Discord'));
      try {
        return await post(connect(), { channelId, message, signal: within });
      } catch (error) {
        return fail(error);
      }
    },
    stop: async () => {
      const rest = connect();
      rest.clearHashSweeper();
      rest.clearHandlerSweeper();
    },
  };
}

async function openDirectMessage(
  rest: REST,
  userId: string,
  signal: AbortSignal,
): Promise<string | undefined> {
  const channel = await rest.post('/users/@me/channels', { body: { recipient_id: userId }, signal });
  return textField(channel, 'id');
}

async function post(
  rest: REST,
  what: { channelId: string; message: ChannelMessage; signal: AbortSignal },
): Promise<SendResult> {
  const { channelId, message, signal } = what;
  const sent = await rest.post(`/channels/${channelId}/messages`, {
    body: {
      content: message.text,
      // An untrusted reply must not ping anyone.
      allowed_mentions: { parse: [] },
      // At most 25 characters; Discord leaves out a repeat of the same nonce for a few minutes.
      nonce: createHash('sha256').update(message.key).digest('hex').slice(0, 24),
      enforce_nonce: true,
    },
    signal,
  });
  const id = field(sent, 'id');
  return typeof id === 'string' ? { kind: 'sent', messageId: id } : unreadable('Discord');
}

function rateLimited(error: RateLimitError): SendFailure {
  const waitMs = Math.max(
    error.retryAfter,
    error.sublimitTimeout,
    error.retryAfter > 0 ? 0 : error.timeToReset,
  );
  return refusal('Discord', 429, { retryAfterMs: retryDelay(waitMs) });
}

function discordRefusal(error: DiscordAPIError, botToken: string): SendFailure {
  return refusal('Discord', UNKNOWN.has(error.code) ? 404 : error.status, {
    description: describe(field(error.rawError, 'message'), [botToken]),
    remedy: error.status === 403 ? 'invite the bot and let it send messages there' : REMEDY,
  });
}

function parseRecipient(to: string): { id: string; user: boolean } | undefined {
  const match = /^(?:discord:)?(?:(channel|user):)?(\d{15,20})$/.exec(to.trim());
  return match?.[2] === undefined ? undefined : { id: match[2], user: match[1] === 'user' };
}
