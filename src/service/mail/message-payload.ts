import type { Email, PostalMimeOptions } from 'postal-mime';
import { headerOf } from './identity.ts';
import { textOfCharset } from './mail-charset.ts';
import { addressOf, headerFields, MAX_HEADER_BYTES, type MailHeader, readHeader } from './mail-header.ts';
import { domainOf, type MailProof, proofOf, type ProofOptions, serverProof } from './mail-proof.ts';
import type { FetchedMail, MailAttachment, MailContent } from './source.ts';

/** One message as it is delivered: an element of `messages`. Every text is bounded. */
export interface MailMessage {
  readonly id: string;
  /** `Message-ID` as the sender wrote it. */
  readonly messageId?: string;
  /** `Auto-Submitted` (RFC 3834), or the field by which a bounce, bulk mail or a list is known; else absent. */
  readonly autoSubmitted?: string;
  /** `Name <address>`. */
  readonly from: string;
  readonly to: readonly string[];
  readonly cc: readonly string[];
  readonly replyTo?: string;
  /** How far it is proved who wrote the mail. */
  readonly proof: MailProof;
  /** The address to answer: `Reply-To` in the proved domain, or `From`; absent unless the mail is verified. */
  readonly answerTo?: string;
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
  /** The attachments of the message, without their content. */
  readonly attachments: readonly MailAttachment[];
}

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
const MAX_NESTING = 50;
/** How many lines of a message may look like borders of parts: real ones have below 100, and quotes begin alike. */
const MAX_PART_LINES = 2_000;

/** A message's parts as texts. */
interface ReadMail {
  readonly text?: string | undefined;
  readonly html?: string | undefined;
  readonly attachments: readonly MailAttachment[];
  /** False where the message breaks the rules so badly that only a part of it could be read. */
  readonly whole: boolean;
}

/** Turns a fetched message into its payload. Never rejects, whatever is in the message. */
export async function toMessage(
  mail: FetchedMail,
  { maxBodyChars, ...proofs }: { readonly maxBodyChars: number } & ProofOptions,
): Promise<MailMessage> {
  const read = await readMail(mail.content);
  const body = (await bodyText(read)).trim();
  const cut = cutAt(body, maxBodyChars);
  const isCut = mail.content.kind === 'raw' && mail.content.truncated;
  return {
    ...(await bodiless(mail, proofs)),
    snippet: maxBodyChars === 0 ? '' : shortLine(body, MAX_SNIPPET_CHARS),
    body: cut,
    truncated: isCut || cut.length < body.length || !read.whole,
    attachments: read.attachments.slice(0, MAX_ATTACHMENTS).map(shownAttachment),
  };
}

/** A message of which only the header is read: for one whose body takes more time or memory than a message may. */
export async function bodiless(
  { id, receivedAt, sizeBytes, content, headerOnly = false }: FetchedMail,
  proofs: ProofOptions = {},
): Promise<MailMessage> {
  const { decodeWords } = await import('postal-mime');
  const fields = content.kind === 'raw' ? headerFields(content.source) : content.header;
  const header = readHeader(fields, decodeWords);
  const proof = headerOnly ? serverProof(fields, proofs.own ?? []) : await proofOf(content, fields, proofs);
  return {
    id,
    ...shownHeader(header),
    proof,
    ...(proof.level === 'verified' ? { answerTo: shortLine(answerTo(header, proof), MAX_FIELD_CHARS) } : {}),
    receivedAt: new Date(receivedAt).toISOString(),
    snippet: '',
    body: '',
    truncated: true,
    sizeBytes,
    attachments: (content.attachments ?? []).slice(0, MAX_ATTACHMENTS).map(shownAttachment),
  };
}

/** A `Reply-To` of another domain is not proved: whoever copies a signed mail can put one on top. */
function answerTo({ from, replyTo }: MailHeader, { domain }: MailProof): string {
  const address = addressOf(replyTo ?? '');
  return domainOf(address) === domain ? address : addressOf(from);
}

function shownHeader(
  read: MailHeader,
): Pick<MailMessage, 'messageId' | 'autoSubmitted' | 'from' | 'to' | 'cc' | 'replyTo' | 'subject' | 'date'> {
  const { messageId, autoSubmitted = 'no', replyTo, date } = read;
  return {
    ...(messageId === undefined ? {} : { messageId: shortLine(messageId, MAX_FIELD_CHARS) }),
    ...(/^no\b/i.test(autoSubmitted) ? {} : { autoSubmitted: shortLine(autoSubmitted, 100) }),
    from: shortLine(read.from, MAX_FIELD_CHARS),
    to: addressTexts(read.to),
    cc: addressTexts(read.cc),
    ...(replyTo === undefined ? {} : { replyTo: shortLine(replyTo, MAX_FIELD_CHARS) }),
    subject: shortLine(read.subject, MAX_FIELD_CHARS),
    ...(date === undefined ? {} : { date: shortLine(date, 100) }),
  };
}

function shownAttachment({ name, type, sizeBytes }: MailAttachment): MailAttachment {
  return { name: shortLine(name, 200), type: shortLine(type, 100), sizeBytes };
}

function addressTexts(addresses: readonly string[]): readonly string[] {
  return addresses.slice(0, MAX_ADDRESSES).map((address) => shortLine(address, MAX_FIELD_CHARS));
}

async function readMail(content: MailContent): Promise<ReadMail> {
  if (content.kind === 'parts') return { ...content, whole: true };
  const source = withinParts(content.source);
  const email = await parse(source);
  const attachments = content.attachments ?? email?.attachments.map(attachmentOf) ?? [];
  if (email === undefined) return { attachments, whole: false };
  const isAll = source.length === content.source.length;
  return { ...(await textsOf(email)), attachments, whole: isAll && !isUnread(email, source) };
}

/** Whether nothing was found in a body, as where its parts have another boundary than the header names. */
function isUnread({ text, html, attachments }: Email, source: Buffer): boolean {
  if (text !== undefined || html !== undefined || attachments.length > 0) return false;
  return source.toString('latin1', headerOf(source).length).trim() !== '';
}

/** The texts of a mail, also of one that is nothing but a message or a calendar entry. */
async function textsOf(email: Email): Promise<Pick<ReadMail, 'text' | 'html'>> {
  const { text, html, attachments } = email;
  const [lone, ...more] = attachments;
  if (text !== undefined || html !== undefined || lone === undefined || more.length > 0)
    return { text, html };
  const { content, mimeType } = lone;
  const bytes = bytesOf(content);
  if (mimeType === 'text/calendar') return { text: bytes.toString('utf8'), html };
  const inner = mimeType === 'message/rfc822' ? await parse(withinParts(bytes)) : undefined;
  return { text: inner?.text, html: inner?.html };
}

/** A message of 100,000 parts kept the parser for 15 s: the message is cut after so many lines that may begin one. */
function withinParts(source: Buffer): Buffer {
  if (!headerOf(source).toString('latin1').toLowerCase().includes('multipart/')) return source;
  let at = -1;
  for (let lines = 0; lines <= MAX_PART_LINES; lines += 1) {
    at = source.indexOf('\n--', at + 1);
    if (at < 0) return source;
  }
  return source.subarray(0, at + 1);
}

/** How deep messages within messages are read. */
const MAX_MESSAGES_DEEP = 10;

async function parse(source: Buffer): Promise<Email | undefined> {
  const { default: PostalMime } = await import('postal-mime');
  const options = {
    maxNestingDepth: MAX_NESTING,
    maxHeadersSize: MAX_HEADER_BYTES,
    maxRfc822NestingDepth: MAX_MESSAGES_DEEP,
    rfc822Attachments: true,
  };
  class Reader extends (PostalMime as unknown as ParserClass) {
    override collectNode(part: ParsedPart, ...rest: readonly unknown[]): Promise<void> {
      decodePart(part);
      return super.collectNode(part, ...rest);
    }
  }
  try {
    return await new Reader(options).parse(source);
  } catch {
    return undefined;
  }
}

function bytesOf(content: ArrayBuffer | Uint8Array | string): Buffer {
  return typeof content === 'string' ? Buffer.from(content) : Buffer.from(new Uint8Array(content));
}

/** A part whose bytes are unpacked and whose text is not yet decoded. */
interface ParsedPart {
  content: ArrayBuffer | Uint8Array | null;
  readonly contentType: {
    readonly parsed: { readonly value: string; readonly params: { charset?: string } };
  };
  readonly contentDisposition: { readonly parsed: { readonly value: string } };
}

/** The parser with the private steps that see each part before its text is decoded. */
type ParserClass = new (options: PostalMimeOptions) => {
  parse(source: Buffer): Promise<Email>;
  collectNode(part: ParsedPart, ...rest: readonly unknown[]): Promise<void>;
};

/** Gives a text in UTF-8 to the parser where it would not find the charset. */
function decodePart(part: ParsedPart): void {
  const { value, params } = part.contentType.parsed;
  if (part.content === null || part.contentDisposition.parsed.value === 'attachment') return;
  if (value !== 'text/plain' && value !== 'text/html' && value !== 'text/calendar') return;
  const text = textOfCharset(Buffer.from(part.content as ArrayBuffer), params.charset, value === 'text/html');
  if (text === undefined) return;
  part.content = new TextEncoder().encode(text);
  params.charset = 'utf-8';
}

function attachmentOf(part: Email['attachments'][number]): MailAttachment {
  const size = typeof part.content === 'string' ? part.content.length : part.content.byteLength;
  return { name: part.filename ?? '', type: part.mimeType, sizeBytes: size };
}

/** The text part where there is one that says something, else the text of the HTML part. */
async function bodyText({ text, html }: Pick<ReadMail, 'text' | 'html'>): Promise<string> {
  if (text !== undefined && text.trim() !== '') return clean(text);
  if (html === undefined || html.trim() === '') return '';
  try {
    return clean(await htmlText(html));
  } catch {
    return '';
  }
}

/** Makes line ends `\n` and removes other control characters. */
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

function shortLine(text: string, length: number): string {
  return cutAt(
    text
      .slice(0, length * 2)
      .replaceAll(/[\s\p{Cc}]+/gu, ' ')
      .toWellFormed()
      .trim(),
    length,
  );
}

/** Longer HTML is cut before it is read: the rest is still enough for the longest body. */
const MAX_HTML_CHARS = 250_000;
/** Deeper elements are left out; newsletters come to about 60. */
const MAX_DEPTH = 200;
const MAX_CHILDREN = 5_000;
/** 100,000 nested open elements kept the parser busy for 6 s, 2,000 for 10 ms. */
const MAX_OPEN = 2_000;
const VOID = /^(?:area|base|br|col|embed|hr|img|input|link|meta|source|track|wbr|p|li|td|tr|th|[!?].*)$/i;

/** The readable text of an HTML body, without images and with the address of every link. */
export async function htmlText(html: string): Promise<string> {
  const { convert } = await import('html-to-text');
  const source = html.slice(0, MAX_HTML_CHARS);
  // HTML that is nested like this was made to hurt: only its words stay.
  if (openElements(source) > MAX_OPEN) return source.replaceAll(/<[^<>]*>/g, ' ');
  return convert(source, {
    wordwrap: false,
    limits: { maxInputLength: MAX_HTML_CHARS, maxDepth: MAX_DEPTH, maxChildNodes: MAX_CHILDREN },
    selectors: [
      { selector: 'img', format: 'skip' },
      { selector: 'a', options: { hideLinkHrefIfSameAsText: true } },
      ...['h1', 'h2', 'h3', 'h4', 'h5', 'h6'].map((selector) => ({
        selector,
        options: { uppercase: false },
      })),
    ],
  });
}

/** About how many elements are open at once at most, without counting end tags that may be left out. */
function openElements(html: string): number {
  let open = 0;
  let most = 0;
  for (const [, end, name = ''] of html.matchAll(/<(\/?)([a-z!?][a-z0-9]*)/gi)) {
    if (VOID.test(name)) continue;
    open = end === '/' ? Math.max(0, open - 1) : open + 1;
    most = Math.max(most, open);
  }
  return most;
}
