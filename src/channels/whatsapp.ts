import { z } from 'zod';
import type { ChannelAdapter, ChannelMessage, SendResult } from './channel.ts';
import { commonShape, defineChannel, secretText, textOrNumber } from './define.ts';
import { toWhatsapp } from './markdown.ts';
import { parsePhone } from './recipient.ts';
import { describe, fetchJson, field, type JsonAnswer, textField } from '../outgoing/outgoing.ts';
import {
  bounded,
  failedCheck,
  failureOf,
  refusal,
  type SendFailure,
  unreadable,
  unreadableCheck,
} from './send-failure.ts';

/** The Cloud API takes 4096. */
const MAX_CHARS = 4000;
const PLATFORM_URL = 'https://graph.facebook.com';
const API_VERSION = 'v25.0';
const REMEDY =
  'check channels.whatsapp.accessToken; system users in Meta Business Settings issue lasting ones';
/** One message in six seconds to the same person (131056). */
const PAIR_LIMIT_MS = 6000;

const schema = z.strictObject({
  ...commonShape,
  accessToken: secretText,
  phoneNumberId: textOrNumber.pipe(
    z.string().regex(/^\d{5,25}$/, 'must be the number id from Meta, digits only'),
  ),
  apiVersion: z
    .string('must be text')
    .regex(/^v\d{1,3}\.\d{1,2}$/, 'must look like v25.0')
    .default(API_VERSION),
});
type WhatsappSettings = z.output<typeof schema>;

/** WhatsApp: text messages through the Cloud API. */
export const whatsapp = defineChannel({
  id: 'whatsapp',
  schema,
  recipientProblem: (to) =>
    parsePhone(to, 'whatsapp') === undefined
      ? 'a WhatsApp recipient is a phone number with its country code, such as +15551234567'
      : undefined,
  open: async (settings) => makeAdapter(settings),
});

function makeAdapter(settings: WhatsappSettings): ChannelAdapter {
  const { accessToken, apiVersion, baseUrl = PLATFORM_URL, phoneNumberId } = settings;
  const numberUrl = `${baseUrl}/${apiVersion}/${phoneNumberId}`;
  const headers = { authorization: `Bearer ${accessToken}` };
  return {
    id: 'whatsapp',
    maxChars: MAX_CHARS,
    check: async (signal) => {
      try {
        const answer = await fetchJson(`${numberUrl}?fields=display_phone_number,verified_name`, {
          method: 'GET',
          headers,
          signal: bounded(signal),
        });
        const failure = whatsappRefusal(answer, accessToken);
        if (failure) return failedCheck(failure);
        const account = textField(answer.body, 'display_phone_number') ?? textField(answer.body, 'id');
        return account === undefined ? unreadableCheck('WhatsApp') : { ok: true, account };
      } catch (error) {
        return failedCheck(failureOf(error, 'WhatsApp'));
      }
    },
    send: async (message, signal) => {
      const to = parsePhone(message.to, 'whatsapp');
      if (to === undefined)
        return { kind: 'failed', code: 'bad_recipient', message: 'the recipient is no phone number' };
      try {
        const answer = await fetchJson(`${numberUrl}/messages`, {
          headers,
          body: textMessage(to.slice(1), message),
          signal: bounded(signal),
        });
        return whatsappRefusal(answer, accessToken) ?? sentMessage(answer);
      } catch (error) {
        return failureOf(error, 'WhatsApp');
      }
    },
  };
}

function textMessage(to: string, message: ChannelMessage): object {
  return {
    messaging_product: 'whatsapp',
    recipient_type: 'individual',
    to,
    type: 'text',
    text: { preview_url: false, body: message.plain ? message.text : toWhatsapp(message.text) },
  };
}

function sentMessage(answer: JsonAnswer): SendResult {
  const messages = field(answer.body, 'messages');
  const id = Array.isArray(messages) ? field(messages[0], 'id') : undefined;
  return typeof id === 'string' ? { kind: 'sent', messageId: id } : unreadable('WhatsApp');
}

function whatsappRefusal(answer: JsonAnswer, accessToken: string): SendFailure | undefined {
  const error = field(answer.body, 'error');
  if (answer.status < 300 && error === undefined) return undefined;
  const code = field(error, 'code');
  const details = field(field(error, 'error_data'), 'details') ?? field(error, 'message');
  const description = describe(details, [accessToken]);
  if (code === 131_047) {
    return {
      kind: 'failed',
      code: 'outside_window',
      message:
        'WhatsApp delivers free text only within 24 hours after the recipient last wrote (131047): ' +
        'have them write to this number first',
    };
  }
  const status = statusOfCode(code) ?? (answer.status < 300 ? 400 : answer.status);
  const retryAfterMs = answer.retryAfterMs ?? (code === 131_056 ? PAIR_LIMIT_MS : undefined);
  return refusal('WhatsApp', status, { description, retryAfterMs, remedy: REMEDY });
}

/** Error codes of the Cloud API by what they mean; others go by their HTTP status. */
function statusOfCode(code: unknown): number | undefined {
  switch (code) {
    case 4:
    case 80_007:
    case 130_429:
    case 131_048:
    case 131_056:
      return 429;
    case 0:
    case 190:
      return 401;
    case 3:
    case 10:
    case 131_005:
    case 131_031:
      return 403;
    case 131_026:
    case 131_030:
      return 404;
    case 2:
    case 131_016:
      return 503;
    default:
      return undefined;
  }
}
