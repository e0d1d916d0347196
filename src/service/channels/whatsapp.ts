import * as z from 'zod';
import type { ChannelMessage } from './channel.ts';
import { commonShape, defineChannel, parsePhone, secretText, textOrNumber } from './define-channel.ts';
import { toWhatsapp } from './markdown.ts';
import { escapeWhatsapp } from './plain-text.ts';
import {
  describe,
  fetchJson,
  field,
  type JsonAnswer,
  listField,
  textField,
} from '../../base/outgoing/outgoing.ts';
import { refusal, type SendFailure, sentAs } from './send-failure.ts';

const MAX_CHARS = 4000;
const PLATFORM_URL = 'https://graph.facebook.com';
const API_VERSION = 'v25.0';
const REMEDY =
  'check channels.whatsapp.accessToken; system users in Meta Business Settings issue lasting ones';
/** One message in six seconds to the same person (131056). */
const PAIR_LIMIT_MS = 6000;

/** Error codes of the Cloud API by what they mean, as HTTP statuses; others go by the status of the answer. */
const CODES_OF_STATUS: readonly (readonly [status: number, codes: readonly number[]])[] = [
  [429, [4, 80_007, 130_429, 131_048, 131_056]],
  [401, [0, 190]],
  [403, [3, 10, 131_005, 131_031]],
  [404, [131_026, 131_030]],
  [503, [2, 131_016]],
];
const STATUS_OF_CODE: ReadonlyMap<unknown, number> = new Map(
  CODES_OF_STATUS.flatMap(([status, codes]) => codes.map((code) => [code, status] as const)),
);

const schema = z.strictObject({
  ...commonShape,
  accessToken: secretText,
  phoneNumberId: textOrNumber.pipe(
    z
      .string()
      .regex(
        /^\d{5,25}$/,
        'must be the "Phone number ID" that Meta shows under WhatsApp, "API Setup", digits only: it is not the phone number',
      ),
  ),
  apiVersion: z
    .string('must be text')
    .regex(/^v\d{1,3}\.\d{1,2}$/, 'must look like v25.0')
    .default(API_VERSION),
});

export const whatsapp = defineChannel({
  id: 'whatsapp',
  schema,
  maxChars: MAX_CHARS,
  parseRecipient: (to) => parsePhone(to, 'whatsapp'),
  recipientForms: 'a WhatsApp recipient is a phone number with its country code, such as +15551234567',
  connect: async ({ accessToken, apiVersion, baseUrl = PLATFORM_URL, phoneNumberId }) => {
    const numberUrl = `${baseUrl}/${apiVersion}/${phoneNumberId}`;
    const headers = { authorization: `Bearer ${accessToken}` };
    return {
      platform: 'WhatsApp',
      check: async (signal) => {
        const url = `${numberUrl}?fields=display_phone_number,verified_name`;
        const answer = await fetchJson(url, { headers, signal });
        const account = textField(answer.body, 'display_phone_number') ?? textField(answer.body, 'id');
        return whatsappRefusal(answer, accessToken) ?? account;
      },
      send: async (message, signal) => {
        const body = textMessage(message.to.slice(1), message);
        const answer = await fetchJson(`${numberUrl}/messages`, { headers, body, signal });
        const [sent] = listField(answer.body, 'messages');
        return whatsappRefusal(answer, accessToken) ?? sentAs('WhatsApp', textField(sent, 'id'));
      },
    };
  },
});

function textMessage(to: string, message: Pick<ChannelMessage, 'plain' | 'text'>): object {
  return {
    messaging_product: 'whatsapp',
    recipient_type: 'individual',
    to,
    type: 'text',
    text: {
      preview_url: false,
      body: message.plain ? escapeWhatsapp(message.text) : toWhatsapp(message.text),
    },
  };
}

const NOT_ALLOWED =
  'a test number sends only to numbers that were added to its list: in the app at developers.facebook.com, WhatsApp, "API Setup", field "To"';
const OUTSIDE_WINDOW =
  'WhatsApp delivers free text only within 24 hours after the recipient last wrote (131047): have them write to this number first';

function whatsappRefusal(answer: JsonAnswer, accessToken: string): SendFailure | undefined {
  const error = field(answer.body, 'error');
  if (answer.status < 300 && error === undefined) return undefined;
  const code = field(error, 'code');
  const details = field(field(error, 'error_data'), 'details') ?? field(error, 'message');
  const description = describe(details, [accessToken]);
  if (code === 131_047) return { kind: 'failed', code: 'outside_window', message: OUTSIDE_WINDOW };
  const status = STATUS_OF_CODE.get(code) ?? (answer.status < 300 ? 400 : answer.status);
  const retryAfterMs = answer.retryAfterMs ?? (code === 131_056 ? PAIR_LIMIT_MS : undefined);
  const advice = code === 131_030 ? NOT_ALLOWED : undefined;
  return refusal('WhatsApp', status, { description, retryAfterMs, remedy: REMEDY, advice });
}
