import { createHash } from 'node:crypto';
import type { SendResult } from './channel.ts';
import type { Connection } from './define-channel.ts';
import type { ImessageRecipient } from './imessage-recipient.ts';
import { describe, fetchJson, field, type JsonAnswer, textField } from '../../base/outgoing/outgoing.ts';
import { refusal, type SendFailure, unreadable } from './send-failure.ts';

const DEFAULT_URL = 'http://127.0.0.1:1234';
const NEEDS = 'BlueBubbles needs a phone number, an e-mail address or chat_guid:<guid> as recipient';
const REMEDY = 'check channels.imessage.password against the BlueBubbles server';

/** iMessage through the REST interface of a BlueBubbles server. */
export function connectBlueBubbles(
  password: string,
  baseUrl: string = DEFAULT_URL,
): Connection<ImessageRecipient> {
  // The server takes its password only in the query, so no message of ours ever shows the URL.
  const address = (path: string): string =>
    `${baseUrl}/api/v1/${path}?password=${encodeURIComponent(password)}`;
  return {
    platform: 'BlueBubbles',
    check: async (signal) => {
      const answer = await fetchJson(address('server/info'), { method: 'GET', signal });
      return refused(answer, password) ?? accountOf(answer);
    },
    send: async ({ to, text, key }, signal) => {
      const chatGuid = chatGuidOf(to);
      if (chatGuid === undefined) return { kind: 'failed', code: 'bad_recipient', message: NEEDS };
      const tempGuid = `temp-${createHash('sha256').update(key).digest('hex').slice(0, 24)}`;
      const body = { chatGuid, tempGuid, message: text };
      const answer = await fetchJson(address('message/text'), { body, signal });
      return refused(answer, password) ?? sentMessage(answer);
    },
  };
}

function accountOf(answer: JsonAnswer): string | undefined {
  const about = field(answer.body, 'data');
  if (typeof about !== 'object' || about === null) return undefined;
  return textField(about, 'detected_imessage') ?? 'BlueBubbles';
}

function sentMessage(answer: JsonAnswer): SendResult {
  const guid = field(field(answer.body, 'data'), 'guid');
  return typeof guid === 'string' ? { kind: 'sent', messageId: guid } : unreadable('BlueBubbles');
}

function refused(answer: JsonAnswer, password: string): SendFailure | undefined {
  if (answer.status < 300) return undefined;
  const description = describe(
    field(field(answer.body, 'error'), 'message') ?? field(answer.body, 'message'),
    [password, encodeURIComponent(password)],
  );
  return refusal('BlueBubbles', answer.status, {
    description,
    retryAfterMs: answer.retryAfterMs,
    remedy: REMEDY,
  });
}

function chatGuidOf(recipient: ImessageRecipient): string | undefined {
  if (recipient?.kind === 'chat-guid') return recipient.guid;
  if (recipient?.kind !== 'address') return undefined;
  return `${recipient.service === 'sms' ? 'SMS' : 'iMessage'};-;${recipient.address}`;
}
