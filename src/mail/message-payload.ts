import type { Address, Email } from 'postal-mime';
import { field, textField } from '../outgoing/outgoing.ts';
import { htmlText } from './html-text.ts';
import { headerOf } from './identity.ts';
import type { FetchedMail, MailAttachment, MailContent } from './source.ts';

/** One message as it is delivered: an element of `messages`. Every text is bounded. */
export interface MailMessage {
  readonly id: string;
  /** `Message-ID` as the sender wrote it. */
  readonly messageId?: string;
  /** `Name <address>`. */
  readonly from: string;
  readonly to: readonly string[];
  readonly cc: readonly string[];
  readonly replyTo?: string;
  readonly subject: string;
  /** `Date` as the sender wrote it. */
  readonly date?: string;
  /** When the server got it, ISO 8601. */
  readonly receivedAt: string;
  /** The beginning of the body on one line. */
  readonly snippet: string;
  readonly body: string;
  /** Whether the body is longer than what is here, or the message could not be read to its end. */
  readonly truncated: boolean;
  readonly sizeBytes: number;
  /** What hangs on the message; never its content. */
  readonly attachments: readonly MailAttachment[];
}

/** The body of one delivery. */
export interface MailPayload {
  /** For `match.source`: the protocol the mailbox is read by. */
  readonly source: 'imap' | 'gmail';
  readonly account: string;
  readonly folder: string;
  readonly messages: readonly [MailMessage];
}

const MAX_FIELD_CHARS = 1_000;
const MAX_ADDRESSES = 50;
const MAX_ATTACHMENTS = 50;
const MAX_SNIPPET_CHARS = 200;
/** Of a header block; real ones come to 20 KB. */
const MAX_HEADER_BYTES = 256 * 1024;
const MAX_NESTING = 50;
/** Of a message with parts; real ones have below 100 parts, and signatures and quotes begin alike. */
const MAX_PART_LINES = 2_000;

/** A message's parts as texts. */
interface ReadMail {
  readonly messageId: string | undefined;
  readonly from: string;
  readonly to: readonly string[];
  readonly cc: readonly string[];
  readonly replyTo: string | undefined;
  readonly subject: string;
  readonly date: string | undefined;
  readonly text: string | undefined;
  readonly html: string | undefined;
  readonly attachments: readonly MailAttachment[];
  /** False where the message breaks the rules so badly that only a part of it could be read. */
  readonly whole: boolean;
}

/** Turns a fetched message into what is delivered. Never rejects, whatever the message holds. */
export async function toMessage(
  mail: FetchedMail,
  { maxBodyChars }: { readonly maxBodyChars: number },
): Promise<MailMessage> {
  const read = await readMail(mail.content);
  const body = (await bodyText(read)).trim();
  const cut = cutAt(body, maxBodyChars);
  const isCut = mail.content.kind === 'raw' && mail.content.truncated;
  return {
    id: mail.id,
    ...headerFields(read),
    receivedAt: new Date(mail.receivedAt).toISOString(),
    snippet: maxBodyChars === 0 ? '' : oneLine(body, MAX_SNIPPET_CHARS),
    body: cut,
    truncated: isCut || cut.length < body.length || !read.whole,
    sizeBytes: mail.sizeBytes,
    attachments: read.attachments.slice(0, MAX_ATTACHMENTS).map(shownAttachment),
  };
}

function headerFields(
  read: ReadMail,
): Pick<MailMessage, 'messageId' | 'from' | 'to' | 'cc' | 'replyTo' | 'subject' | 'date'> {
  const { messageId, replyTo, date } = read;
  return {
    ...(messageId === undefined ? {} : { messageId: oneLine(messageId, MAX_FIELD_CHARS) }),
    from: oneLine(read.from, MAX_FIELD_CHARS),
    to: addressTexts(read.to),
    cc: addressTexts(read.cc),
    ...(replyTo === undefined ? {} : { replyTo: oneLine(replyTo, MAX_FIELD_CHARS) }),
    subject: oneLine(read.subject, MAX_FIELD_CHARS),
    ...(date === undefined ? {} : { date: oneLine(date, 100) }),
  };
}

function shownAttachment({ name, type, sizeBytes }: MailAttachment): MailAttachment {
  return { name: oneLine(name, 200), type: oneLine(type, 100), sizeBytes };
}

function addressTexts(addresses: readonly string[]): readonly string[] {
  return addresses.slice(0, MAX_ADDRESSES).map((address) => oneLine(address, MAX_FIELD_CHARS));
}

async function readMail(content: MailContent): Promise<ReadMail> {
  if (content.kind === 'raw') return readRaw(content);
  const { header, text, html, attachments } = content;
  const list = (value: string | undefined): readonly string[] => (value === undefined ? [] : [value]);
  return {
    messageId: header['message-id'],
    from: header['from'] ?? '',
    to: list(header['to']),
    cc: list(header['cc']),
    replyTo: header['reply-to'],
    subject: header['subject'] ?? '',
    date: header['date'],
    text,
    html,
    attachments,
    whole: true,
  };
}

async function readRaw(content: Extract<MailContent, { kind: 'raw' }>): Promise<ReadMail> {
  const source = withinParts(content.source);
  const email = await parse(source);
  if (email !== undefined) return fromEmail(email, content, source.length === content.source.length);
  // What cannot be parsed as a whole has a header all the same.
  const header = await parse(headerOf(content.source).subarray(0, MAX_HEADER_BYTES));
  return fromEmail(header ?? NOTHING, content, false);
}

/** A message of 100,000 parts kept the parser for 15 s: what comes after so many lines that may begin one is cut. */
function withinParts(source: Buffer): Buffer {
  if (!headerOf(source).toString('latin1').toLowerCase().includes('multipart/')) return source;
  let at = -1;
  for (let lines = 0; lines <= MAX_PART_LINES; lines += 1) {
    at = source.indexOf('\n--', at + 1);
    if (at < 0) return source;
  }
  return source.subarray(0, at + 1);
}

const NOTHING: Pick<Email, 'headers' | 'headerLines' | 'attachments'> = {
  headers: [],
  headerLines: [],
  attachments: [],
};

async function parse(source: Buffer): Promise<Email | undefined> {
  const { default: PostalMime } = await import('postal-mime');
  try {
    return await PostalMime.parse(source, {
      maxNestingDepth: MAX_NESTING,
      maxHeadersSize: MAX_HEADER_BYTES,
      rfc822Attachments: true,
    });
  } catch {
    return undefined;
  }
}

function fromEmail(email: Email, content: Extract<MailContent, { kind: 'raw' }>, whole: boolean): ReadMail {
  return {
    messageId: email.messageId,
    from: addressText(email.from ?? email.sender),
    to: (email.to ?? []).map(addressText),
    cc: (email.cc ?? []).map(addressText),
    replyTo: email.replyTo?.[0] === undefined ? undefined : addressText(email.replyTo[0]),
    subject: email.subject ?? '',
    // postal-mime makes an ISO date of it where it can; what a sender wrote beyond that says nothing.
    date: email.date,
    text: email.text,
    html: email.html,
    attachments: content.attachments ?? email.attachments.map(attachmentOf),
    whole,
  };
}

function attachmentOf(part: Email['attachments'][number]): MailAttachment {
  const size = typeof part.content === 'string' ? part.content.length : part.content.byteLength;
  return { name: part.filename ?? '', type: part.mimeType, sizeBytes: size };
}

function addressText(address: Address | undefined): string {
  if (address === undefined) return '';
  const { name } = address;
  const inner = textField(address, 'address');
  if (inner === undefined) {
    const group: unknown = field(address, 'group');
    return `${name}: ${Array.isArray(group) ? String(group.length) : '0'} addresses`;
  }
  return name === '' ? inner : `${name} <${inner}>`;
}

/** The text part where there is one that says something, else the text of the HTML part. */
async function bodyText({ text, html }: ReadMail): Promise<string> {
  if (text !== undefined && text.trim() !== '') return clean(text);
  if (html === undefined || html.trim() === '') return '';
  try {
    return clean(await htmlText(html));
  } catch {
    return '';
  }
}

/** Line ends are `\n`; other control characters say nothing to a reader. */
function clean(text: string): string {
  return text
    .replaceAll(/\r\n?/g, '\n')
    .replaceAll(/(?![\n\t])\p{Cc}/gu, '')
    .toWellFormed();
}

/** At most `length` UTF-16 units, no pair of surrogates cut in two. */
function cutAt(text: string, length: number): string {
  return text.length <= length ? text : text.slice(0, length).replace(/[\ud800-\udbff]$/, '');
}

function oneLine(text: string, length: number): string {
  return cutAt(
    text
      .slice(0, length * 2)
      .replaceAll(/[\s\p{Cc}]+/gu, ' ')
      .toWellFormed()
      .trim(),
    length,
  );
}
