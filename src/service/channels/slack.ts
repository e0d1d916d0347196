import * as z from 'zod';
import { type AddressedMessage, commonShape, defineChannel, secretText } from './define-channel.ts';
import { escapeText } from '../../base/telemetry/telemetry.ts';
import { toSlackMrkdwn } from './markdown.ts';
import { describe, fetchJson, type JsonAnswer, textField } from '../../base/outgoing/outgoing.ts';
import { refusal, type SendFailure, sentAs } from './send-failure.ts';

/** `text` is cut at 40,000, a section at 3,000; escaping makes a chunk at most five times as long. */
const MAX_CHARS = 3500;
const PLATFORM_URL = 'https://slack.com/api';
const REMEDY = 'check channels.slack.botToken: it starts with xoxb- and needs the scope chat:write';

/** Slack answers 200 with an error name; the names that are not listed here are refusals. */
const ERRORS: ReadonlyMap<string, readonly [status: number, advice?: string]> = new Map([
  ['invalid_auth', [401]],
  ['not_authed', [401]],
  ['account_inactive', [401]],
  ['token_revoked', [401]],
  ['token_expired', [401]],
  [
    'not_allowed_token_type',
    [
      401,
      'botToken has to be the "Bot User OAuth Token" of the app, which starts with xoxb-: xoxp- and xapp- are other ones',
    ],
  ],
  [
    'missing_scope',
    [
      403,
      'add the scope chat:write (for reactions, reactions:write) to the bot at api.slack.com/apps, under "OAuth & Permissions", and install the app again',
    ],
  ],
  ['not_in_channel', [403, 'invite the bot with /invite']],
  ['is_archived', [403, 'the channel is archived: write another one in "to"']],
  ['restricted_action', [403]],
  ['no_permission', [403]],
  [
    'channel_not_found',
    [
      404,
      'a private channel is found once the bot was invited with /invite; of a public one check the name, or write its id C… in "to"',
    ],
  ],
  ['user_not_found', [404, 'write the member id U… of the profile in "to"']],
  ['ratelimited', [429]],
  ['rate_limited', [429]],
  ['service_unavailable', [503]],
  ['request_timeout', [503]],
]);
/** "It's possible some aspect of the operation succeeded before the error was raised." */
const UNCERTAIN = new Set(['internal_error', 'fatal_error']);

const schema = z.strictObject({ ...commonShape, botToken: secretText });

export const slack = defineChannel({
  id: 'slack',
  schema,
  maxChars: MAX_CHARS,
  parseRecipient,
  recipientForms:
    'a Slack recipient is a channel, group, direct message or user id (C0123456, G…, D…, U…) or #channel',
  message: { field: 'event.ts', form: /^(\d{1,12}\.\d{1,8})$/ },
  thread: { form: /^\d{1,12}\.\d{1,8}$/, words: 'the ts of its first message, such as 1503435956.000247' },
  connect: async ({ botToken, baseUrl = PLATFORM_URL }) => {
    const headers = { authorization: `Bearer ${botToken}` };
    const ask = (
      method: string,
      form: Readonly<Record<string, string>>,
      signal: AbortSignal,
    ): Promise<JsonAnswer> =>
      fetchJson(`${baseUrl}/${method}`, { headers, body: new URLSearchParams(form), signal });
    return {
      platform: 'Slack',
      check: async (signal) => {
        const answer = await ask('auth.test', {}, signal);
        const [user, team] = [textField(answer.body, 'user'), textField(answer.body, 'team')];
        const account = user === undefined ? undefined : `${user} in ${team ?? 'the workspace'}`;
        return slackRefusal(answer, botToken) ?? account;
      },
      send: async (message, signal) => {
        if (message.reaction !== undefined) {
          const { emoji: name, message: timestamp = '' } = message.reaction;
          const added = await ask('reactions.add', { channel: message.to, timestamp, name }, signal);
          const isThere = textField(added.body, 'error') === 'already_reacted';
          return (isThere ? undefined : slackRefusal(added, botToken)) ?? { kind: 'sent' };
        }
        const answer = await ask('chat.postMessage', messageForm(message), signal);
        return slackRefusal(answer, botToken) ?? sentAs('Slack', textField(answer.body, 'ts'));
      },
    };
  },
});

function messageForm({ to, text, plain, thread }: AddressedMessage<string>): Record<string, string> {
  return {
    channel: to,
    // Escaped, so that `<!channel>` in an untrusted reply notifies nobody.
    text: plain ? escapeText(text) : toSlackMrkdwn(text),
    mrkdwn: String(!plain),
    parse: 'none',
    link_names: 'false',
    ...(thread === undefined ? {} : { thread_ts: thread }),
  };
}

function slackRefusal({ status, body, retryAfterMs }: JsonAnswer, botToken: string): SendFailure | undefined {
  const error = textField(body, 'error');
  if (status < 300 && error === undefined) return undefined;
  if (error !== undefined && UNCERTAIN.has(error))
    return { kind: 'ambiguous', code: 'platform_error', message: `Slack failed half way (${error})` };
  const [meant = status < 300 ? 400 : status, advice] = ERRORS.get(error ?? '') ?? [];
  return refusal('Slack', meant, {
    description: describe(error, [botToken]),
    retryAfterMs,
    remedy: REMEDY,
    advice,
  });
}

function parseRecipient(to: string): string | undefined {
  const match = /^(?:slack:)?(?:(?:channel|user|group):)?([CGDUW][A-Z0-9]{4,20}|#[^\s#@<>,]{1,80})$/.exec(
    to.trim(),
  );
  return match?.[1];
}
