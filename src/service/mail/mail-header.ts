import { headerOf } from './identity.ts';

/** A field of a header: its name in lower case, and its value. */
export type HeaderField = readonly [name: string, value: string];

export const valuesOf = (fields: readonly HeaderField[], wanted: string): readonly string[] =>
  fields.flatMap(([name, value]) => (name === wanted ? [value] : []));

/** Who wrote what to whom, as texts. */
export interface MailHeader {
  readonly messageId: string | undefined;
  readonly autoSubmitted: string | undefined;
  readonly from: string;
  readonly to: readonly string[];
  readonly cc: readonly string[];
  readonly replyTo: string | undefined;
  readonly subject: string;
  readonly date: string | undefined;
}

/** Fields beside `Auto-Submitted` of mail that no machine should answer (RFC 3834, section 2): bounces, bulk, lists. */
const NO_ANSWER: readonly (readonly [name: string, value: RegExp])[] = [
  ['return-path', /^<>$/],
  ['precedence', /^(?:bulk|junk|list|auto_reply)$/i],
  ['list-id', /./],
];

/** Decodes encoded words (RFC 2047). */
type DecodeWords = (text: string) => string;

/** How much of a header block is read; real ones come to 20 KB. */
export const MAX_HEADER_BYTES = 256 * 1024;
/** How much of one field is read: 300 recipients. */
const MAX_FIELD_CHARS = 32 * 1024;

/** The fields of a raw message from the top: names in lower case, lines unfolded. */
export function headerFields(source: Buffer): readonly HeaderField[] {
  const lines = decodeHeader(headerOf(source).subarray(0, MAX_HEADER_BYTES)).split(/\r?\n(?![ \t])/);
  return lines.map((line) => {
    const colon = line.indexOf(':');
    const name = line.slice(0, Math.max(0, colon)).trim().toLowerCase();
    return [name, line.slice(colon + 1).replaceAll(/\r?\n/g, '')];
  });
}

function decodeHeader(bytes: Buffer): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    return bytes.toString('latin1');
  }
}

/** Reads the fields in time that grows with their length, whatever a sender wrote. */
export function readHeader(fields: readonly HeaderField[], decode: DecodeWords): MailHeader {
  const first = new Map(fields.toReversed());
  // Only To and Cc may come several times; of other fields the first counts.
  for (const several of ['to', 'cc']) first.set(several, valuesOf(fields, several).join(', '));
  const text = (name: string): string | undefined => first.get(name)?.slice(0, MAX_FIELD_CHARS).trim();
  const list = (name: string): readonly string[] => readAddresses(text(name) ?? '', decode);
  const [id, date] = [text('message-id'), text('date')];
  const [sign] = NO_ANSWER.find(([name, value]) => value.test(text(name) ?? '')) ?? [];
  return {
    messageId: id === undefined ? undefined : decode(id),
    autoSubmitted: text('auto-submitted') ?? (sign && `${sign}: ${text(sign)}`),
    from: list('from')[0] ?? list('sender')[0] ?? '',
    to: list('to'),
    cc: list('cc'),
    replyTo: list('reply-to')[0],
    subject: decode(text('subject') ?? ''),
    // Only the time counts of what is a date.
    date: date === undefined || Number.isNaN(Date.parse(date)) ? date : new Date(date).toISOString(),
  };
}

/**
 * The parts of an address list (RFC 5322, section 3.4): an encoded word, a quoted text, a comment, an address in angle
 * brackets, what ends an entry or the name of a group, and other text. What is inside of an encoded word is a name, and
 * never an address (RFC 2047, section 5). Bounded, because one that has no end is looked for again and again.
 */
const PART =
  /(=\?[^\s?]{1,60}\?[bq]\?[^\r\n?]{0,1000}\?=)|"((?:[^"\\]|\\.){0,1000})"|\(([^()]{0,1000})\)|<([^<>]{0,1000})>|([,;:])|([^=",;:(<]+|.)/gis;

interface AddressEntry {
  name: string;
  /** Text that may have an address without brackets. */
  plain: string;
  comment: string;
  address?: string;
}

const newEntry = (): AddressEntry => ({ name: '', plain: '', comment: '' });

/** Every address as `Name <address>`; members of groups one by one. The last brackets of an entry have its address. */
export function readAddresses(text: string, decode: DecodeWords): readonly string[] {
  const found: string[] = [];
  let entry = newEntry();
  const end = (): void => {
    const shown = entryText(entry, decode);
    if (shown !== '') found.push(shown);
    entry = newEntry();
  };
  for (const [, word, quoted, comment, address, stop, plain = ''] of text.matchAll(PART)) {
    if (stop === ':' && !entry.plain.includes('@')) entry = newEntry();
    else if (stop === ',' || stop === ';') end();
    else {
      entry.name += word ?? quoted?.replaceAll(/\\(.)/gs, '$1') ?? stop ?? plain;
      entry.plain += stop ?? (plain === '' ? ' ' : plain);
      entry.comment += comment ?? '';
      if (address !== undefined) entry = { ...entry, address, name: `${entry.name} ${entry.address ?? ''}` };
    }
  }
  end();
  return found;
}

function entryText({ name, plain, comment, address }: AddressEntry, decode: DecodeWords): string {
  const bare = plain.split(/\s+/).findLast((word) => word.includes('@')) ?? '';
  const inner = nameText(address ?? bare);
  const rest = address === undefined && bare !== '' ? name.replace(bare, ' ') : name;
  const shown = nameText(decode(rest.trim())) || nameText(decode(comment));
  return shown === '' ? inner : `${shown} <${inner}>`;
}

/** The address in the text of one, which is in the last brackets, or all of it. */
export const addressOf = (text: string): string => (/<([^<>]*)>\s*$/.exec(text)?.[1] ?? text).trim();

/** No name has brackets, in which it could show another address. */
const nameText = (text: string): string => text.replaceAll(/[\s\p{Cc}<>]+/gu, ' ').trim();
