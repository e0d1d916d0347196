import type { WebClient } from '@slack/web-api';
import { z } from 'zod';
import type { ChannelAdapter, ChannelMessage, SendResult } from './channel.ts';
import { commonShape, defineChannel, secretText } from './define.ts';
import { escapeHtml, toSlackMrkdwn } from './markdown.ts';
import { describe, field, fetchBounded } from '../outgoing/outgoing.ts';
import { bounded, failedCheck, failureOf, refusal, type SendFailure, unreadable } from './send-failure.ts';

/** `text` is cut at 40,000, a section at 3,000; escaping makes a chunk at most five times as long. */
const MAX_CHARS = 3500;
const REMEDY = 'check channels.slack.botToken: it starts with xoxb- and needs the scope chat:write';

/** Slack answers 200 with an error name; these are told apart, the others are refusals. */
const ERROR_STATUS: Readonly<Record<string, number>> = {
  invalid_auth: 401,
  not_authed: 401,
  account_inactive: 401,
  token_revoked: 401,
  token_expired: 401,
  missing_scope: 403,
  not_in_channel: 403,
  is_archived: 403,
  restricted_action: 403,
  no_permission: 403,
  channel_not_found: 404,
  user_not_found: 404,
  ratelimited: 429,
  rate_limited: 429,
  service_unavailable: 503,
  request_timeout: 503,
};
/** "It's possible some aspect of the operation succeeded before the error was raised." */
const UNCERTAIN = new Set(['internal_error', 'fatal_error']);

const schema = z.strictObject({ ...commonShape, botToken: secretText });

/** Slack: chat.postMessage of the Web API. */
export const slack = defineChannel({
  id: 'slack',
  packages: ['@slack/web-api'],
  schema,
  recipientProblem: (to) =>
    parseRecipient(to)
      ? undefined
      : 'a Slack recipient is a channel, group, direct message or user id (C0123456, G…, D…, U…) or #channel',
  open: async ({ botToken, baseUrl }) => {
    const sdk = await import('@slack/web-api');
    const makeClient = (signal: AbortSignal): WebClient =>
      new sdk.WebClient(botToken, {
        ...(baseUrl === undefined ? {} : { slackApiUrl: `${baseUrl}/` }),
        retryConfig: { retries: 0 },
        rejectRateLimitedCalls: true,
        logger: silentLogger,
        fetch: async (url, init) => fetchBounded(url, { ...init, signal }),
      });
    const fail = (error: unknown): SendFailure => {
      if (error instanceof sdk.WebAPIRateLimitedError) {
        return refusal('Slack', 429, { retryAfterMs: error.retryAfter * 1000 });
      }
      if (error instanceof sdk.WebAPIPlatformError) return slackRefusal(error.data, botToken);
      if (error instanceof sdk.WebAPIHTTPError) return refusal('Slack', error.statusCode, { remedy: REMEDY });
      return failureOf(error, 'Slack');
    };
    return makeAdapter(makeClient, fail);
  },
});

function makeAdapter(
  makeClient: (signal: AbortSignal) => WebClient,
  fail: (error: unknown) => SendFailure,
): ChannelAdapter {
  return {
    id: 'slack',
    maxChars: MAX_CHARS,
    check: async (signal) => {
      try {
        const { user, team } = await makeClient(bounded(signal)).auth.test();
        return { ok: true, account: `${user ?? 'bot'} in ${team ?? 'the workspace'}` };
      } catch (error) {
        return failedCheck(fail(error));
      }
    },
    send: async (message, signal) => {
      try {
        return await postMessage(makeClient(bounded(signal)), message);
      } catch (error) {
        return fail(error);
      }
    },
  };
}

async function postMessage(client: WebClient, message: ChannelMessage): Promise<SendResult> {
  const channel = parseRecipient(message.to);
  if (channel === undefined)
    return { kind: 'failed', code: 'bad_recipient', message: 'the recipient is no Slack id' };
  // Escaped, so that `<!channel>` in an untrusted reply notifies nobody.
  const text = message.plain ? escapeHtml(message.text) : toSlackMrkdwn(message.text);
  const { ts } = await client.chat.postMessage({
    channel,
    text,
    mrkdwn: !message.plain,
    parse: 'none',
    link_names: false,
  });
  return typeof ts === 'string' ? { kind: 'sent', messageId: ts } : unreadable('Slack');
}

function slackRefusal(answer: unknown, botToken: string): SendFailure {
  const error = field(answer, 'error');
  // An answer that is no JSON becomes an error of that text.
  if (typeof error !== 'string' || !/^\w{2,80}$/.test(error)) return unreadable('Slack');
  if (UNCERTAIN.has(error)) {
    return { kind: 'ambiguous', code: 'platform_error', message: `Slack failed half way (${error})` };
  }
  return refusal('Slack', ERROR_STATUS[error] ?? 400, {
    description: describe(error, [botToken]),
    remedy: error === 'not_in_channel' ? 'invite the bot with /invite' : REMEDY,
  });
}

function parseRecipient(to: string): string | undefined {
  const match = /^(?:slack:)?(?:(?:channel|user|group):)?([CGDUW][A-Z0-9]{4,20}|#[^\s#@<>,]{1,80})$/.exec(
    to.trim(),
  );
  return match?.[1];
}

/** The SDK prints to standard output otherwise, and at debug level whole requests. */
const silentLogger = {
  debug: () => undefined,
  info: () => undefined,
  warn: () => undefined,
  error: () => undefined,
  setLevel: () => undefined,
  setName: () => undefined,
  getLevel: () => 'error' as never,
};
