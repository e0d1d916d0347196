import { createHash } from 'node:crypto';
import type { ChannelAdapter, SendResult } from './channel.ts';
import { type ImessageRecipient, parseImessageRecipient } from './imessage-recipient.ts';
import { describe, fetchJson, field, type JsonAnswer } from '../outgoing/outgoing.ts';
import {
  bounded,
  failedCheck,
  failureOf,
  refusal,
  type SendFailure,
  unreadable,
  unreadableCheck,
} from './send-failure.ts';

const MAX_CHARS = 4000;
const DEFAULT_URL = 'http://127.0.0.1:1234';
const REMEDY = 'check channels.imessage.password against the BlueBubbles server';

/** iMessage through the REST interface of a BlueBubbles server. */
export function openBlueBubbles(password: string, baseUrl: string = DEFAULT_URL): ChannelAdapter {
  // The server takes its password only in the query, so no message of ours ever shows the URL.
  const address = (path: string): string =>
    `${baseUrl}/api/v1/${path}?password=${encodeURIComponent(password)}`;
  return {
    id: 'imessage',
    maxChars: MAX_CHARS,
    check: async (signal) => {
      try {
        const answer = await fetchJson(address('server/info'), { method: 'GET', signal: bounded(signal) });
        const failure = refused(answer, password);
        if (failure) return failedCheck(failure);
        const about = field(answer.body, 'data');
        if (typeof about !== 'object' || about === null) return unreadableCheck('BlueBubbles');
        const account = field(about, 'detected_imessage');
        return { ok: true, account: typeof account === 'string' ? account : 'BlueBubbles' };
      } catch (error) {
        return failedCheck(failureOf(error, 'BlueBubbles'));
      }
    },
    send: async (message, signal) => {
      const chatGuid = chatGuidOf(parseImessageRecipient(message.to));
      if (chatGuid === undefined) {
        const what = 'BlueBubbles needs a phone number, an e-mail address or chat_guid:<guid> as recipient';
        return { kind: 'failed', code: 'bad_recipient', message: what };
      }
      const tempGuid = `temp-${createHash('sha256').update(message.key).digest('hex').slice(0, 24)}`;
      try {
        const answer = await fetchJson(address('message/text'), {
          body: { chatGuid, tempGuid, message: message.text },
          signal: bounded(signal),
        });
        return refused(answer, password) ?? sentMessage(answer);
      } catch (error) {
        return failureOf(error, 'BlueBubbles');
      }
    },
  };
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

function chatGuidOf(recipient: ImessageRecipient | undefined): string | undefined {
  if (recipient?.kind === 'chat-guid') return recipient.guid;
  if (recipient?.kind !== 'address') return undefined;
  return `${recipient.service === 'sms' ? 'SMS' : 'iMessage'};-;${recipient.address}`;
}
