import * as z from 'zod';
import type { SendResult } from './channel.ts';
import { type AddressedMessage, commonShape, defineChannel, secretText } from './define-channel.ts';
import { breakMentions, escapeDiscord } from './plain-text.ts';
import { fetchJson, type JsonAnswer, textField } from '../../base/outgoing/outgoing.ts';
import { brought, prepare, refusedBy, type SendFailure, sentAs } from './send-failure.ts';

/** Servers before 5.0 take 4000 characters, later ones 16,383. */
const MAX_CHARS = 4000;
const REMEDY = 'check channels.mattermost.botToken';
/** What notifies everybody; an untrusted reply must not, and a zero-width space takes the power away. */
const GROUP_MENTION = /@(?=(?:channel|all|here)\b)/gi;

const schema = z.strictObject({
  ...commonShape,
  baseUrl: commonShape.baseUrl.unwrap(),
  botToken: secretText,
});

export const mattermost = defineChannel({
  id: 'mattermost',
  schema,
  maxChars: MAX_CHARS,
  parseRecipient,
  recipientForms:
    'a Mattermost recipient is a channel id of 26 letters and digits, or user:<id> for a direct message',
  connect: async (settings) => ({
    platform: 'Mattermost',
    check: async (signal) => {
      const answer = await request(settings, '/users/me', { signal });
      const account = textField(answer.body, 'username');
      return refusalOf(answer, settings) ?? (account === undefined ? undefined : `@${account}`);
    },
    send: (message, signal) => createPost(settings, message, signal),
  }),
});

type Server = z.output<typeof schema>;

function request(
  { baseUrl, botToken }: Server,
  path: string,
  { body, signal }: { readonly body?: unknown; readonly signal: AbortSignal },
): Promise<JsonAnswer> {
  const headers = { authorization: `Bearer ${botToken}` };
  return fetchJson(`${baseUrl}/api/v4${path}`, { headers, body, signal });
}

async function createPost(
  server: Server,
  { to, text, plain, key }: AddressedMessage<MattermostRecipient>,
  signal: AbortSignal,
): Promise<SendResult> {
  const channelId = to.isUser ? await prepare(() => openDirectChannel(server, to.id, signal)) : to.id;
  // In a notification no name at all is a mention; in a reply the agent may address one person.
  const words = plain ? breakMentions(escapeDiscord(text)) : text.replaceAll(GROUP_MENTION, '@\u200b');
  // The server drops a repeat of the same pending_post_id.
  const post = { channel_id: channelId, message: words, pending_post_id: key };
  const answer = await request(server, '/posts', { body: post, signal });
  return refusalOf(answer, server) ?? sentAs('Mattermost', textField(answer.body, 'id'));
}

async function openDirectChannel(server: Server, userId: string, signal: AbortSignal): Promise<string> {
  const me = await request(server, '/users/me', { signal });
  const body = [textField(me.body, 'id'), userId];
  const channel = await request(server, '/channels/direct', { body, signal });
  const failure = refusalOf(me, server) ?? refusalOf(channel, server);
  return brought('Mattermost', failure, textField(channel.body, 'id'));
}

function refusalOf(answer: JsonAnswer, { botToken }: Server): SendFailure | undefined {
  const said = textField(answer.body, 'message');
  return refusedBy('Mattermost', answer, { said, secrets: [botToken], remedy: REMEDY });
}

interface MattermostRecipient {
  readonly id: string;
  readonly isUser: boolean;
}

function parseRecipient(to: string): MattermostRecipient | undefined {
  const [, kind, id] = /^(?:mattermost:)?(?:(channel|user):)?([a-z0-9]{26})$/.exec(to.trim()) ?? [];
  return id === undefined ? undefined : { id, isUser: kind === 'user' };
}
