import { createHash } from 'node:crypto';
import type * as nodemailer from 'nodemailer';
import * as z from 'zod';
import { describe, field } from '../../base/outgoing/outgoing.ts';
import { markedName } from '../../base/marks.ts';
import type { SendResult } from './channel.ts';
import { type AddressedMessage, commonShape, defineChannel, textOrNumber } from './define-channel.ts';
import { failureOf, refusal, SEND_TIMEOUT_MS, type SendFailure } from './send-failure.ts';

const MAX_CHARS = 100_000;
const MAX_SUBJECT_CHARS = 120;
const IMPLICIT_TLS_PORT = 465;
const REMEDY = 'check user and password in channels.email; some providers want a password made for this app';
/** Replies that refuse the credentials, and those that know no such mailbox (RFC 4954, RFC 5321). */
const REFUSED_LOGIN = new Set([530, 534, 535, 538]);
const UNKNOWN_MAILBOX = new Set([550, 551, 553]);

const ADDRESS = /^(?:[^<>\p{C}]{0,200}<)?([^\s<>@,;:"()]{1,64}@[^\s<>@,;:"()]{1,255})>?$/u;
const THREAD = /^(<[^\s<>]{3,250}>)(?: (.*))?$/;

const address = textOrNumber.refine((text) => parseAddress(text) !== undefined, 'must be a mail address');
const schema = z
  .strictObject({
    to: commonShape.to,
    host: textOrNumber,
    port: z.int().min(1).max(65_535).default(IMPLICIT_TLS_PORT),
    tls: z.enum(['implicit', 'starttls', 'none']).optional(),
    user: textOrNumber.optional(),
    password: textOrNumber.optional(),
    from: address,
  })
  .refine(({ tls, host }) => tls !== 'none' || /^(?:localhost|127\.|\[?::1)/.test(host), {
    path: ['tls'],
    message: 'may be none only where the host is this machine: nobody else is to read the password',
  });
type EmailSettings = z.output<typeof schema>;

export const email = defineChannel({
  id: 'email',
  packages: ['nodemailer'],
  schema,
  maxChars: MAX_CHARS,
  parseRecipient: parseAddress,
  recipientForms: 'a recipient of e-mail is one address: bob@example.org, or Bob <bob@example.org>',
  thread: { form: THREAD, words: 'the Message-ID of the mail that is answered, with its subject behind it' },
  connect: async (settings) => {
    const { createTransport } = await import('nodemailer');
    const options = transportOptions(settings);
    return {
      platform: 'the mail server',
      check: async () => {
        await createTransport(options).verify();
        return `${settings.user ?? settings.from} at ${settings.host}`;
      },
      send: async (message) => sendMail(createTransport(options), message, settings),
      failureOf: (error) => smtpFailure(error, settings),
    };
  },
});

function transportOptions({
  host,
  port,
  tls,
  user,
  password,
}: EmailSettings): nodemailer.SMTPTransportOptions {
  const how = tls ?? (port === IMPLICIT_TLS_PORT ? 'implicit' : 'starttls');
  return {
    host,
    port,
    secure: how === 'implicit',
    requireTLS: how === 'starttls',
    ignoreTLS: how === 'none',
    ...(user === undefined ? {} : { auth: { user, pass: password ?? '' } }),
    connectionTimeout: SEND_TIMEOUT_MS,
    greetingTimeout: SEND_TIMEOUT_MS,
    socketTimeout: SEND_TIMEOUT_MS,
    disableFileAccess: true,
    disableUrlAccess: true,
  };
}

async function sendMail(
  transport: Pick<nodemailer.Transporter, 'sendMail'>,
  { to, text, key, runId = 'test', thread }: AddressedMessage<string>,
  { from, password = from }: EmailSettings,
): Promise<SendResult> {
  const [, answered, subject] = THREAD.exec(thread ?? '') ?? [];
  const name = markedName({ runId: `${runId}.${shortHash(key)}`, secret: password });
  const messageId = `<${name}@${parseAddress(from)?.split('@')[1] ?? ''}>`;
  await transport.sendMail({
    from,
    to,
    subject: subject === undefined ? titleOf(text) : subject.replace(/^(?!re:)/i, 'Re: '),
    text,
    messageId,
    ...(answered === undefined ? {} : { inReplyTo: answered, references: answered }),
    // RFC 3834: whoever answers by itself does not answer this.
    headers: { 'auto-submitted': answered === undefined ? 'auto-generated' : 'auto-replied' },
  });
  return { kind: 'sent', messageId };
}

const shortHash = (text: string): string => createHash('sha256').update(text).digest('hex').slice(0, 8);

function titleOf(text: string): string {
  const line = text.split('\n').find((each) => /[\p{L}\p{N}]/u.test(each)) ?? '';
  const bare = line.replaceAll(/^[\s#>*`-]+|[\s#*`]+$/g, '');
  return bare.length > MAX_SUBJECT_CHARS ? `${bare.slice(0, MAX_SUBJECT_CHARS - 1).toWellFormed()}…` : bare;
}

/** What the server's reply means; without a reply, what the failure of the connection means. */
function smtpFailure(error: unknown, { password = '' }: EmailSettings): SendFailure | undefined {
  const code = field(error, 'responseCode');
  const system = field(error, 'originalCode');
  if (typeof system === 'string')
    return failureOf(Object.assign(new Error(system), { code: system }), 'the mail server');
  if (/^(?:CONNECT|GREETING|UPGRADE)_/.test(String(field(error, 'timeoutType')))) {
    const message = 'the mail server does not answer: check host, port and tls in channels.email';
    return { kind: 'retry', code: 'unreachable', message };
  }
  if (typeof code !== 'number') return undefined;
  const description = describe(field(error, 'response'), [password]);
  if (code < 500) return refusal('The mail server', 503, { description });
  const status = REFUSED_LOGIN.has(code) ? 401 : UNKNOWN_MAILBOX.has(code) ? 404 : 400;
  return refusal('The mail server', status, { description, remedy: REMEDY });
}

/** The bare address: nodemailer reads names, and a name may look like another address. */
function parseAddress(to: string): string | undefined {
  return ADDRESS.exec(to.trim())?.[1];
}
