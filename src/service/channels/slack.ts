import type * as slackSdk from '@slack/web-api';
import * as z from 'zod';
import type { SendResult } from './channel.ts';
import { type AddressedMessage, commonShape, defineChannel, secretText } from './define-channel.ts';
import { escapeText } from '../../base/telemetry/telemetry.ts';
import { toSlackMrkdwn } from './markdown.ts';
import { describe, field, fetchBounded } from '../../base/outgoing/outgoing.ts';
import { refusal, type SendFailure, unreadable } from './send-failure.ts';

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
  not_allowed_token_type: 401,
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
/** What to do, by Slack's name of the error. */
const ADVICE: Readonly<Record<string, string>> = {
  not_allowed_token_type:
    'botToken has to be the "Bot User OAuth Token" of the app, which starts with xoxb-: xoxp- and xapp- are other ones',
  missing_scope:
    'add the scope chat:write to the bot at api.slack.com/apps, under "OAuth & Permissions", and install the app again',
  not_in_channel: 'invite the bot with /invite',
  channel_not_found:
    'a private channel is found once the bot was invited with /invite; of a public one check the name, or write its id C… in "to"',
  is_archived: 'the channel is archived: write another one in "to"',
  user_not_found: 'write the member id U… of the profile in "to"',
};
/** "It's possible some aspect of the operation succeeded before the error was raised." */
const UNCERTAIN = new Set(['internal_error', 'fatal_error']);

const schema = z.strictObject({ ...commonShape, botToken: secretText });

/** Slack: chat.postMessage of the Web API. */
export const slack = defineChannel({
  id: 'slack',
  packages: ['@slack/web-api'],
  schema,
  maxChars: MAX_CHARS,
  parseRecipient,
  recipientForms:
    'a Slack recipient is a channel, group, direct message or user id (C0123456, G…, D…, U…) or #channel',
  thread: { form: /^\d{1,12}\.\d{1,8}$/, words: 'the ts of its first message, such as 1503435956.000247' },
  connect: async (settings) => {
    const sdk = await import('@slack/web-api');
    const clientFor = (signal: AbortSignal): slackSdk.WebClient => makeClient(sdk, settings, signal);
    return {
      platform: 'Slack',
      check: async (signal) => {
        const { user, team } = await clientFor(signal).auth.test();
        return `${user ?? 'bot'} in ${team ?? 'the workspace'}`;
      },
      send: (message, signal) => postMessage(clientFor(signal), message),
      failureOf: (error) => sdkFailure(sdk, error, settings.botToken),
    };
  },
});

function makeClient(
  sdk: typeof slackSdk,
  { botToken, baseUrl }: z.output<typeof schema>,
  signal: AbortSignal,
): slackSdk.WebClient {
  return new sdk.WebClient(botToken, {
    ...(baseUrl === undefined ? {} : { slackApiUrl: `${baseUrl}/` }),
    retryConfig: { retries: 0 },
    rejectRateLimitedCalls: true,
    logger: silentLogger,
    fetch: async (url, init) => fetchBounded(url, { ...init, signal }),
  });
}

function sdkFailure(sdk: typeof slackSdk, error: unknown, botToken: string): SendFailure | undefined {
  if (error instanceof sdk.WebAPIRateLimitedError)
    return refusal('Slack', 429, { retryAfterMs: error.retryAfter * 1000 });
  if (error instanceof sdk.WebAPIPlatformError) return slackRefusal(error.data, botToken);
  return error instanceof sdk.WebAPIHTTPError
    ? refusal('Slack', error.statusCode, { remedy: REMEDY })
    : undefined;
}

async function postMessage(
  client: slackSdk.WebClient,
  message: AddressedMessage<string>,
): Promise<SendResult> {
  // Escaped, so that `<!channel>` in an untrusted reply notifies nobody.
  const text = message.plain ? escapeText(message.text) : toSlackMrkdwn(message.text);
  const { ts } = await client.chat.postMessage({
    channel: message.to,
    text,
    mrkdwn: !message.plain,
    parse: 'none',
    link_names: false,
    ...(message.thread === undefined ? {} : { thread_ts: message.thread }),
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
    remedy: REMEDY,
    advice: Object.hasOwn(ADVICE, error) ? ADVICE[error] : undefined,
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
