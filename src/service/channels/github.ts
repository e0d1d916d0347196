import * as z from 'zod';
import { markComment } from '../../base/marks.ts';
import type { SendResult } from './channel.ts';
import { type AddressedMessage, commonShape, defineChannel, secretText } from './define-channel.ts';
import { quietMentions } from './mentions.ts';
import { escapeGithub } from './plain-text.ts';
import {
  describe,
  field,
  type JsonAnswer,
  listField,
  fetchJson,
  parseRetryAfter,
  retryDelay,
  textField,
} from '../../base/outgoing/outgoing.ts';
import { refusal, type SendFailure, sentAs } from './send-failure.ts';

/**
 * GitHub refuses a body of more than 65,536 characters. A mention that is broken is one longer, so that at the worst
 * (`@a @a …`) a text grows by a third; the mark stands behind it.
 */
const MAX_CHARS = 48_000;
const PLATFORM_URL = 'https://api.github.com';
const HEADERS = {
  accept: 'application/vnd.github+json',
  'user-agent': 'sluice',
  'x-github-api-version': '2022-11-28',
};
/** "If the retry-after header is not present … wait for at least one minute": secondary limits. */
const SECONDARY_WAIT_MS = 60_000;
const REMEDY =
  'check channels.github.token: it needs write access to issues and pull requests of the repository';

const schema = z.strictObject({ ...commonShape, token: secretText });

/** GitHub, and GitHub Enterprise Server by `baseUrl`: a comment on an issue or pull request. */
export const github = defineChannel({
  id: 'github',
  schema,
  maxChars: MAX_CHARS,
  parseRecipient,
  publicHost: 'github.com',
  recipientForms:
    'a GitHub recipient is an issue or pull request: owner/repository#123, or its address on GitHub',
  message: { field: 'comment.url', form: /^$|^https?:\S*\/((?:issues|pulls)\/comments\/\d{1,20})$/ },
  connect: async ({ token, baseUrl = PLATFORM_URL }) => {
    const api = { baseUrl, token };
    return {
      platform: 'GitHub',
      check: (signal) => findAccount(api, signal),
      send: (message, signal) => comment(api, message, signal),
    };
  },
});

interface Api {
  readonly baseUrl: string;
  readonly token: string;
}

async function comment(
  api: Api,
  { to, text, plain, key, runId, reaction }: AddressedMessage<GitHubRecipient>,
  signal: AbortSignal,
): Promise<SendResult> {
  const words = plain ? escapeGithub(text) : quietMentions(text);
  const issue = `issues/${to.number}`;
  const [path, body] = reaction
    ? [`${reaction.message ?? issue}/reactions`, { content: reaction.emoji }]
    : [`${issue}/comments`, { body: markComment(words, { runId: runId ?? key, secret: api.token }) }];
  const answer = await request(api, `/repos/${to.owner}/${to.repository}/${path}`, { body, signal });
  return githubRefusal(answer, api.token) ?? sentAs('GitHub', field(answer.body, 'id'));
}

/** The account of a user's token; the token of an app's installation has none, and says what it may reach. */
async function findAccount(api: Api, signal: AbortSignal): Promise<string | SendFailure | undefined> {
  const user = await request(api, '/user', { signal });
  if (user.status !== 403) return githubRefusal(user, api.token) ?? textField(user.body, 'login');
  const app = await request(api, '/installation/repositories?per_page=1', { signal });
  const count = field(app.body, 'total_count');
  const account = typeof count === 'number' ? `an app installed in ${count} repositories` : undefined;
  return githubRefusal(app, api.token) ?? account;
}

function request(
  { baseUrl, token }: Api,
  path: string,
  { body, signal }: { readonly body?: object; readonly signal: AbortSignal },
): Promise<JsonAnswer> {
  return fetchJson(baseUrl + path, {
    headers: { ...HEADERS, authorization: `Bearer ${token}` },
    body,
    signal,
  });
}

function githubRefusal({ status, headers, body }: JsonAnswer, token: string): SendFailure | undefined {
  if (status < 300) return undefined;
  const description = describe(wordsOf(body), [token]);
  if (isLimited({ status, headers }, description)) {
    return refusal('GitHub', 429, { description, retryAfterMs: waitOf(headers) });
  }
  const notFound = (message: string): SendFailure => ({ kind: 'failed', code: 'not_found', message });
  if (status === 410) {
    const why = description ? `: ${description}` : '';
    return notFound(`GitHub says that the issue is gone, or that issues are turned off${why}`);
  }
  // Without access GitHub answers 404, as it does where there is none.
  if (status === 404) {
    return notFound(`GitHub knows no such issue or pull request, or the token may not see it (${REMEDY})`);
  }
  const remedy = status === 401 ? 'check channels.github.token: it may have expired' : REMEDY;
  return refusal('GitHub', status, { description, remedy });
}

/** Rate limits come as 403 or 429; of 403 the headers, or for a secondary limit the words, tell them from a refusal. */
function isLimited(
  { status, headers }: Pick<JsonAnswer, 'status' | 'headers'>,
  said: string | undefined,
): boolean {
  if (status !== 403) return status === 429;
  const isUsedUp = headers.has('retry-after') || headers.get('x-ratelimit-remaining') === '0';
  return isUsedUp || /rate limit/i.test(said ?? '');
}

/** How long to wait, by the headers in the order that GitHub's documentation asks for. */
function waitOf(headers: Headers): number {
  const asked = parseRetryAfter(headers.get('retry-after'));
  if (asked !== undefined) return asked;
  const reset = Number(headers.get('x-ratelimit-reset') ?? Number.NaN);
  const untilReset = headers.get('x-ratelimit-remaining') === '0' ? reset * 1000 - Date.now() : undefined;
  return retryDelay(untilReset) ?? SECONDARY_WAIT_MS;
}

/** The message of an error, with the first of its details: 422 says there what is wrong. */
function wordsOf(body: unknown): string | undefined {
  const [first] = listField(body, 'errors');
  const detail = typeof first === 'string' ? first : textField(first, 'message');
  return [textField(body, 'message'), detail].filter((words) => words !== undefined).join(': ');
}

interface GitHubRecipient {
  readonly owner: string;
  readonly repository: string;
  readonly number: string;
}

/** `owner/repository#123`, or the address of an issue or pull request. */
function parseRecipient(to: string): GitHubRecipient | undefined {
  const name = String.raw`([A-Za-z\d](?:[\w-]{0,38}))\/((?!\.{1,2}[#/])[\w.-]{1,100})`;
  const short = new RegExp(`^(?:github:)?${name}#(\\d{1,10})$`);
  const address = new RegExp(`^https://[\\w.-]+/${name}/(?:issues|pull)/(\\d{1,10})(?:[/?#].*)?$`);
  const [, owner, repository, number] = short.exec(to.trim()) ?? address.exec(to.trim()) ?? [];
  if (owner === undefined || repository === undefined || number === undefined) return undefined;
  return { owner, repository, number };
}
