/*
 * Mattermost as a plugin: it is loaded by `loadPlugin` like a third party's module and uses nothing of Sluice but the
 * types of the public contract, so it also serves as the long form of the example in `docs/channels.md`.
 */
import type { Client4 } from '@mattermost/client';
import { connectionText } from '../outgoing/outgoing.ts';
import * as z from 'zod';
import type { ChannelAdapter, ChannelCheck, ChannelMessage, ChannelModule, SendResult } from './channel.ts';

type Failure = Exclude<SendResult, { kind: 'sent' | 'refused-format' }>;
/** An answer of the server; `body` is undefined where it is not JSON. */
interface Answer {
  readonly status: number;
  readonly retryAfter: string | null;
  readonly body: Readonly<Record<string, unknown>> | undefined;
}

/** Servers before 5.0 take 4000 characters, later ones 16,383. */
const MAX_CHARS = 4000;
/** The client library has no timeout of its own. */
const TIMEOUT_MS = 30_000;
const RECIPIENT = /^(?:mattermost:)?(?:(channel|user):)?([a-z0-9]{26})$/;
/** What notifies everybody; an untrusted reply must not, and a zero-width space takes the power away. */
const GROUP_MENTION = /@(?=(?:channel|all|here)\b)/gi;
const MENTION = /(?<![\p{L}\p{N}])@(?=\w)/gu;
/** What Markdown gives a meaning, but not inside an address. */
const MARK = /[\\`*_[\]#~|>]|(?<=^[ \t]*)[-+](?=\s)/gm;
const ADDRESS = /(\bhttps?:\/\/[^\s<>`]+)/;
const UNSENT = new Set([
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'UND_ERR_CONNECT_TIMEOUT',
]);

const UNREADABLE: Failure = {
  kind: 'ambiguous',
  code: 'malformed_answer',
  message: 'Mattermost gave an answer that cannot be read',
};

const schema = z.strictObject({
  baseUrl: z.url({ protocol: /^https?$/, error: 'must be the http or https URL of the Mattermost server' }),
  botToken: z.string('must be text').regex(/^\S+$/, 'must not be empty or contain white space'),
  to: z
    .string('must be text')
    .regex(RECIPIENT, 'must be a channel id of 26 characters, or user:<id>')
    .optional(),
});

const mattermost: ChannelModule = {
  id: 'mattermost',
  packages: ['@mattermost/client'],
  settingsProblems: (settings) => {
    const parsed = schema.safeParse(settings);
    if (parsed.success) return [];
    const known = Object.keys(schema.shape);
    return parsed.error.issues.flatMap((issue) =>
      issue.code === 'unrecognized_keys'
        ? issue.keys.map((key) => ({ key, message: 'is not a setting of this channel', known }))
        : [{ key: issue.path.join('.'), message: issue.message }],
    );
  },
  recipientProblem: (to) =>
    RECIPIENT.test(to.trim())
      ? undefined
      : 'a Mattermost recipient is a channel id of 26 letters and digits, or user:<id> for a direct message',
  open: async (settings) => {
    const { baseUrl, botToken } = schema.parse(settings);
    const { Client4: Client } = await import('@mattermost/client');
    const client = new Client();
    client.setUrl(baseUrl.replace(/\/+$/, ''));
    client.setToken(botToken);
    return makeAdapter(client, botToken);
  },
};
export default mattermost;

function makeAdapter(client: Client4, secret: string): ChannelAdapter {
  return {
    id: 'mattermost',
    maxChars: MAX_CHARS,
    check: (signal) => checkAccount(client, secret, signal),
    send: (message, signal) => sendMessage(client, message, { secret, signal }),
  };
}

async function checkAccount(client: Client4, secret: string, signal: AbortSignal): Promise<ChannelCheck> {
  try {
    const answer = await request(client, { url: client.getUserRoute('me'), signal });
    const failure = failureOfAnswer(answer, secret);
    if (failure) return { ok: false, code: failure.code, message: failure.message };
    const account = answer.body?.['username'];
    if (typeof account === 'string') return { ok: true, account: `@${account}` };
    const message = 'what answers there is not Mattermost: the answer cannot be read (check baseUrl)';
    return { ok: false, code: 'malformed_answer', message };
  } catch (error) {
    const { code, message } = failureOfError(error);
    return { ok: false, code, message };
  }
}

interface SendContext {
  readonly secret: string;
  readonly signal: AbortSignal;
}

async function sendMessage(
  client: Client4,
  message: ChannelMessage,
  context: SendContext,
): Promise<SendResult> {
  const [, kind, id] = RECIPIENT.exec(message.to.trim()) ?? [];
  if (id === undefined)
    return { kind: 'failed', code: 'bad_recipient', message: 'the recipient is not a Mattermost id' };
  if (context.signal.aborted)
    return { kind: 'retry', code: 'not_sent', message: 'stopped before the request was sent' };
  try {
    const channelId = kind === 'user' ? await openDirectChannel(client, id, context) : id;
    if (typeof channelId !== 'string') return channelId;
    return await createPost(client, { channelId, message }, context);
  } catch (error) {
    return failureOfError(error);
  }
}

/** In a notification no name at all is a mention; in a reply the agent may address one person. */
function textOf({ plain, text }: ChannelMessage): string {
  if (!plain) return text;
  const parts = text
    .split(ADDRESS)
    .map((part, index) => (index % 2 === 1 ? part : part.replaceAll(MARK, '\\$&')));
  return parts.join('').replaceAll(MENTION, '@\u200b');
}

async function createPost(
  client: Client4,
  { channelId, message }: { channelId: string; message: ChannelMessage },
  { secret, signal }: SendContext,
): Promise<SendResult> {
  // The server drops a repeat of the same pending_post_id.
  const post = {
    channel_id: channelId,
    message: textOf(message).replaceAll(GROUP_MENTION, '@\u200b'),
    pending_post_id: message.key,
  };
  const answer = await request(client, { url: client.getPostsRoute(), body: post, signal });
  const failure = failureOfAnswer(answer, secret);
  if (failure) return failure;
  const id = answer.body?.['id'];
  return typeof id === 'string' ? { kind: 'sent', messageId: id } : UNREADABLE;
}

/** The id of the direct channel with a user. A failure here is before the message: it may always be repeated. */
async function openDirectChannel(
  client: Client4,
  userId: string,
  { secret, signal }: SendContext,
): Promise<string | SendResult> {
  try {
    const me = await request(client, { url: client.getUserRoute('me'), signal });
    const url = `${client.getChannelsRoute()}/direct`;
    const channel = await request(client, { url, body: [me.body?.['id'], userId], signal });
    const failure = failureOfAnswer(me, secret) ?? failureOfAnswer(channel, secret);
    const id = channel.body?.['id'];
    if (failure !== undefined || typeof id === 'string') return failure ?? String(id);
    return { kind: 'retry', code: 'malformed_answer', message: 'Mattermost named no channel for the user' };
  } catch (error) {
    return { ...failureOfError(error), kind: 'retry' };
  }
}

/** One request with the client's own headers; its high-level calls lose the status of an answer that is not JSON. */
async function request(
  client: Client4,
  what: { url: string; body?: unknown; signal: AbortSignal },
): Promise<Answer> {
  const options =
    what.body === undefined ? { method: 'get' } : { method: 'post', body: JSON.stringify(what.body) };
  // A connection that is used twice may be closed for being idle just as a post leaves.
  const own = client.getOptions({ ...options, headers: { connection: 'close' } }) as RequestInit;
  const response = await fetch(what.url, {
    ...own,
    redirect: 'manual',
    signal: AbortSignal.any([what.signal, AbortSignal.timeout(TIMEOUT_MS)]),
  });
  const text = await response.text();
  return {
    status: response.status,
    retryAfter: response.headers.get('retry-after'),
    body: parseObject(text),
  };
}

function parseObject(text: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : undefined;
  } catch {
    return undefined;
  }
}

function failureOfAnswer(answer: Answer, secret: string): Failure | undefined {
  const { body, status } = answer;
  if (status < 300) return undefined;
  const said = wordsOf(body?.['message'], secret);
  if (status === 504)
    return { kind: 'ambiguous', code: 'timeout', message: 'a gateway before Mattermost timed out' };
  if (status === 429) return rateLimited(answer.retryAfter);
  if (status >= 500)
    return { kind: 'retry', code: 'unavailable', message: `Mattermost answered ${status}${said}` };
  if (status === 401) {
    const message = `Mattermost refused the credentials${said} (check channels.mattermost.botToken)`;
    return { kind: 'failed', code: 'unauthorized', message };
  }
  const code = status === 403 ? 'forbidden' : status === 404 ? 'not_found' : 'rejected';
  return { kind: 'failed', code, message: `Mattermost answered ${status}${said}` };
}

/** What the server says about a refusal, without the token. */
function wordsOf(message: unknown, secret: string): string {
  return typeof message === 'string' ? `: ${message.replaceAll(secret, '***').slice(0, 300)}` : '';
}

function rateLimited(retryAfter: string | null): Failure {
  const seconds = Number(retryAfter ?? Number.NaN);
  const delay = Number.isFinite(seconds) ? { retryAfterMs: seconds * 1000 } : {};
  return { kind: 'retry', code: 'rate_limited', message: 'Mattermost asks to slow down', ...delay };
}

function failureOfError(error: unknown): Failure {
  const name = error instanceof Error ? error.name : '';
  const code = ((error as { cause?: { code?: unknown } }).cause?.code ?? '') as string;
  if (UNSENT.has(code)) {
    const how = code === 'ECONNREFUSED' ? 'connection_refused' : 'unreachable';
    return { kind: 'retry', code: how, message: `Mattermost cannot be reached (${connectionText(code)})` };
  }
  if (name === 'TimeoutError' || name === 'AbortError') {
    return { kind: 'ambiguous', code: 'timeout', message: 'Mattermost did not answer in time' };
  }
  return { kind: 'ambiguous', code: 'connection_lost', message: 'the connection to Mattermost broke off' };
}
