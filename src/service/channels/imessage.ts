import { createHash } from 'node:crypto';
import * as z from 'zod';
import { commonShape, type ChannelConnection, defineChannel, parsePhone } from './define-channel.ts';
import { connectImsg, type ImessageRecipient } from './imsg.ts';
import { fetchJson, field, type JsonAnswer, textField } from '../../base/outgoing/outgoing.ts';
import { refusedBy, type SendFailure, sentAs } from './send-failure.ts';

const MAX_CHARS = 4000;
const DEFAULT_URL = 'http://127.0.0.1:1234';
const NEEDS = 'BlueBubbles needs a phone number, an e-mail address or chat_guid:<guid> as recipient';
const REMEDY = 'check channels.imessage.password against the BlueBubbles server';

const schema = z
  .strictObject({
    ...commonShape,
    cliPath: z.string('must be text').min(1, 'must not be empty').optional(),
    password: z.string('must be text').min(1, 'must not be empty').optional(),
  })
  .refine((settings) => (settings.cliPath === undefined) !== (settings.password === undefined), {
    path: ['cliPath'],
    error: 'is required (the imsg program), or else "password" (a BlueBubbles server); not both',
    when: () => true,
  })
  .refine((settings) => settings.baseUrl === undefined || settings.cliPath === undefined, {
    path: ['baseUrl'],
    error: 'belongs to a BlueBubbles server; imsg has none',
    when: () => true,
  });

/** iMessage: the `imsg` program on a Mac (`cliPath`), or a BlueBubbles server (`password`, `baseUrl`). */
export const imessage = defineChannel({
  id: 'imessage',
  schema,
  maxChars: MAX_CHARS,
  parseRecipient: parseImessageRecipient,
  recipientForms:
    'an iMessage recipient is a phone number with its country code, an e-mail address, chat_id:<n>, ' +
    'chat_guid:<guid> or chat_identifier:<id>',
  connect: async ({ baseUrl, cliPath, password }) =>
    cliPath === undefined ? connectBlueBubbles(password ?? '', baseUrl) : connectImsg(cliPath),
});

function connectBlueBubbles(
  password: string,
  baseUrl: string = DEFAULT_URL,
): ChannelConnection<ImessageRecipient> {
  // The server takes its password only in the query, so no message of ours ever shows the URL.
  const address = (path: string): string =>
    `${baseUrl}/api/v1/${path}?password=${encodeURIComponent(password)}`;
  return {
    platform: 'BlueBubbles',
    check: async (signal) => {
      const answer = await fetchJson(address('server/info'), { signal });
      return refused(answer, password) ?? accountOf(answer);
    },
    send: async ({ to, text, key }, signal) => {
      const chatGuid = chatGuidOf(to);
      if (chatGuid === undefined) return { kind: 'failed', code: 'bad_recipient', message: NEEDS };
      const tempGuid = `temp-${createHash('sha256').update(key).digest('hex').slice(0, 24)}`;
      const body = { chatGuid, tempGuid, message: text };
      const answer = await fetchJson(address('message/text'), { body, signal });
      return refused(answer, password) ?? sentAs('BlueBubbles', field(field(answer.body, 'data'), 'guid'));
    },
  };
}

function accountOf(answer: JsonAnswer): string | undefined {
  const about = field(answer.body, 'data');
  if (typeof about !== 'object' || about === null) return undefined;
  return textField(about, 'detected_imessage') ?? 'BlueBubbles';
}

function refused(answer: JsonAnswer, password: string): SendFailure | undefined {
  const said = field(field(answer.body, 'error'), 'message') ?? field(answer.body, 'message');
  const secrets = [password, encodeURIComponent(password)];
  return refusedBy('BlueBubbles', answer, { said, secrets, remedy: REMEDY });
}

function chatGuidOf(recipient: ImessageRecipient): string | undefined {
  if (recipient?.kind === 'chat-guid') return recipient.guid;
  if (recipient?.kind !== 'address') return undefined;
  return `${recipient.service === 'sms' ? 'SMS' : 'iMessage'};-;${recipient.address}`;
}

function parseImessageRecipient(to: string): ImessageRecipient | undefined {
  const text = to.trim();
  const chat = /^(chat_id|chat_guid|chat_identifier):(\S{1,300})$/.exec(text);
  if (chat) {
    const [, form, value = ''] = chat;
    if (form === 'chat_guid') return { kind: 'chat-guid', guid: value };
    if (form === 'chat_identifier') return { kind: 'chat-identifier', identifier: value };
    return /^\d{1,15}$/.test(value) ? { kind: 'chat-id', id: Number(value) } : undefined;
  }
  const [, prefix, bare = ''] = /^(?:(imessage|sms|auto):)?(.*)$/s.exec(text) ?? [];
  const address = /^[^\s@:;]{1,64}@[^\s@:;]{1,190}\.[^\s@:;]{2,}$/.test(bare)
    ? bare
    : parsePhone(bare, 'imessage');
  if (address === undefined) return undefined;
  return { kind: 'address', address, service: prefix === 'imessage' || prefix === 'sms' ? prefix : 'auto' };
}
