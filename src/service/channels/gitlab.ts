import * as z from 'zod';
import { markComment } from '../../base/marks.ts';
import type { SendResult } from './channel.ts';
import { type AddressedMessage, commonShape, defineChannel, secretText } from './define-channel.ts';
import { quietMentions } from './mentions.ts';
import { escapeGithub } from './plain-text.ts';
import {
  fetchJson,
  field,
  type JsonAnswer,
  type JsonRequest,
  textField,
} from '../../base/outgoing/outgoing.ts';
import { refusedBy, type SendFailure, sentAs } from './send-failure.ts';

/** GitLab takes a million characters; more than this is read by nobody, and the mark is not looked for in it. */
const MAX_CHARS = 100_000;
const PLATFORM_URL = 'https://gitlab.com';
const REMEDY =
  'check channels.gitlab.token: it needs the scope api, and the role Reporter or more in the project';
/**
 * GitLab performs lines such as `/close` and `/merge`, which an untrusted reply must not do: a zero-width space before
 * them leaves a line that looks the same. A path (`/usr/bin`) is none.
 */
const QUICK_ACTION = /^([ \t>]*)(?=\/[a-z_]+(?:[ \t]|\r?$))/gim;

const schema = z.strictObject({ ...commonShape, token: secretText });

/** GitLab, and a server of one's own by `baseUrl`: a note on an issue or merge request (REST API v4, notes and discussions). */
export const gitlab = defineChannel({
  id: 'gitlab',
  schema,
  maxChars: MAX_CHARS,
  parseRecipient,
  publicHost: 'gitlab.com',
  recipientForms:
    'a GitLab recipient is an issue or merge request: group/project#12, group/project!34, or its address',
  thread: { form: /^[\da-f]{40}$/, words: 'the id of a discussion: 40 digits from 0 to f' },
  message: { field: 'object_attributes.url', form: /^$|^https?:[^\s#]*(?:#note_(\d{1,20}))?$/ },
  connect: async ({ token, baseUrl = PLATFORM_URL }) => {
    const ask = (path: string, options: AskOptions): Promise<JsonAnswer> =>
      fetchJson(`${baseUrl}/api/v4${path}`, { headers: { 'private-token': token }, ...options });
    return {
      platform: 'GitLab',
      check: async (signal) => {
        const answer = await ask('/user', { signal });
        return gitlabRefusal(answer, token) ?? textField(answer.body, 'username');
      },
      send: (message, signal) => addNote(ask, message, { token, signal }),
    };
  },
});

type AskOptions = Pick<JsonRequest, 'body' | 'signal'>;

async function addNote(
  ask: (path: string, options: AskOptions) => Promise<JsonAnswer>,
  { to, text, plain, key, runId, thread, reaction }: AddressedMessage<GitLabRecipient>,
  { token, signal }: { readonly token: string; readonly signal: AbortSignal },
): Promise<SendResult> {
  const words = (plain ? escapeGithub(text) : quietMentions(text)).replaceAll(QUICK_ACTION, '$1\u200b');
  const about = `/projects/${encodeURIComponent(to.project)}/${to.kind}/${to.number}`;
  const discussion = thread === undefined ? '' : `/discussions/${thread}`;
  const note = reaction?.message === undefined ? '' : `/notes/${reaction.message}`;
  const [path, body] = reaction
    ? [`${note}/award_emoji`, { name: reaction.emoji.replace('+1', 'thumbsup').replace('-1', 'thumbsdown') }]
    : [`${discussion}/notes`, { body: markComment(words, { runId: runId ?? key, secret: token }) }];
  const answer = await ask(about + path, { body, signal });
  if (reaction && /already been taken/.test(textField(answer.body, 'message') ?? '')) return { kind: 'sent' };
  return gitlabRefusal(answer, token) ?? sentAs('GitLab', field(answer.body, 'id'));
}

function gitlabRefusal(answer: JsonAnswer, token: string): SendFailure | undefined {
  const { status, body } = answer;
  const said = textField(body, 'message') ?? textField(body, 'error');
  // Without access GitLab answers 404, as it does where there is none.
  const advice = status === 404 ? `or the token may not see it: ${REMEDY}` : undefined;
  return refusedBy('GitLab', answer, { said, secrets: [token], remedy: REMEDY, advice });
}

interface GitLabRecipient {
  readonly project: string;
  readonly kind: 'issues' | 'merge_requests';
  readonly number: string;
}

/** `group/project#12`, `group/project!34`, or the address of an issue or merge request. */
function parseRecipient(to: string): GitLabRecipient | undefined {
  const project = String.raw`((?:[\w][\w.-]{0,254}/){1,20}[\w][\w.-]{0,254})`;
  const short = new RegExp(String.raw`^(?:gitlab:)?${project}([#!])(\d{1,10})$`);
  const address = new RegExp(
    String.raw`^https?://[\w.:-]+/${project}/-/(issues|work_items|merge_requests)/(\d{1,10})(?:[/?#].*)?$`,
  );
  const [, path, mark, number] = short.exec(to.trim()) ?? address.exec(to.trim()) ?? [];
  if (path === undefined || number === undefined) return undefined;
  const isMerge = mark === '!' || mark === 'merge_requests';
  return { project: path, kind: isMerge ? 'merge_requests' : 'issues', number };
}
