import { HookError } from '../errors.ts';

export const BODY_FORMATS = ['json', 'form', 'text', 'xml', 'cloudevents'] as const;
export type BodyFormat = (typeof BODY_FORMATS)[number];

/** What a body announces itself to be. */
export type AnnouncedFormat = 'json' | 'form' | 'xml' | 'multipart';

const NAMES: Readonly<Record<AnnouncedFormat | 'text', string>> = {
  text: 'a text',
  json: 'JSON',
  form: 'a form',
  xml: 'XML',
  multipart: 'a form in parts (multipart/form-data)',
};

/** What a Content-Type stands for; undefined where it is absent or says none of these. */
export function formatOf(contentType: string | undefined): AnnouncedFormat | undefined {
  const type = mediaType(contentType);
  if (type === 'application/x-www-form-urlencoded') return 'form';
  if (type === 'multipart/form-data') return 'multipart';
  if (type === 'application/json' || type.endsWith('+json')) return 'json';
  return type === 'application/xml' || type === 'text/xml' || type.endsWith('+xml') ? 'xml' : undefined;
}

/** The format of a path that takes such a body; undefined where a Content-Type says nothing of it. */
export function announcedFormat(contentType: string | undefined): BodyFormat | undefined {
  const found = formatOf(contentType);
  if (found !== undefined) return found === 'multipart' ? 'form' : found;
  return mediaType(contentType) === 'text/plain' ? 'text' : undefined;
}

const ANOTHER_TYPE = /,\s*[\w!#$&^.+-]+\/[\w!#$&^.+-]+\s*(?:[;,]|$)/;

/**
 * The one Content-Type of a request whose headers of that name were joined. The same twice is one.
 * @throws HookError `invalid_body` where they differ: nobody knows which is right
 */
export function soleContentType(joined: string | undefined): string | undefined {
  if (joined === undefined || !joined.includes(', ')) return joined;
  const first = joined.slice(0, joined.length / 2 - 1);
  if (joined === `${first}, ${first}`) return first;
  if (!ANOTHER_TYPE.test(joined.replaceAll(/"[^"]*"/g, ''))) return joined;
  throw new HookError(
    'invalid_body',
    'the request has several Content-Type headers, and they differ; let its sender write the right one alone',
  );
}

export function mediaType(contentType: string | undefined): string {
  return contentType?.split(';', 1)[0]?.trim().toLowerCase() ?? '';
}

/** Set where a body is of another format than its path takes. */
export function mismatch(
  bytes: Buffer,
  announced: AnnouncedFormat | undefined,
  expected: 'form' | 'xml',
): Mismatch | undefined {
  const found = announced === expected ? undefined : (announced ?? guess(bytes));
  return found === undefined || found === expected ? undefined : mismatchOf(found, expected);
}

/** A body of another format than its path takes, with the sentence for its sender. */
export interface Mismatch {
  readonly detail: string;
  readonly facts?: FormatFacts;
}

/** Which format the mapping would have to take. */
export interface FormatFacts {
  readonly format: BodyFormat;
  readonly takes: BodyFormat;
  /** True for a form with one field of JSON, which a path that takes forms reads as the body. */
  readonly isWrapped?: true;
}

/** `found` is what came, `takes` what the path takes. */
export function mismatchOf(
  found: AnnouncedFormat | 'text',
  takes: 'json' | 'form' | 'xml',
  isWrapped = false,
): Mismatch {
  const detail = `the body is ${NAMES[found]} and this path takes ${NAMES[takes]}; send ${NAMES[takes]}`;
  const format = found === 'multipart' ? 'form' : found;
  return { detail, facts: { format, takes, ...(isWrapped ? { isWrapped } : {}) } };
}

/** What to do about a Content-Type that does not fit the parts. */
export const SET_BY_LIBRARY =
  'let the sender set no Content-Type of its own: fetch, axios, requests and curl -F write it with the boundary';

/** The sentence for a body in parts whose Content-Type is another; undefined where the body does not begin so. */
export function unannouncedParts(bytes: Buffer, contentType: string | undefined): string | undefined {
  if (isInParts(contentType)) return undefined;
  const begin = bytes.toString('latin1', 0, 400);
  return /^--[^\r\n]{1,200}\r?\nContent-(?:Disposition|Type):/i.test(begin)
    ? `the body is ${NAMES.multipart}, and its Content-Type does not say so; ${SET_BY_LIBRARY}`
    : undefined;
}

/** Whether a Content-Type names parts of any kind. */
export function isInParts(contentType: string | undefined): boolean {
  return mediaType(contentType).startsWith('multipart/');
}

/** What a body that announces nothing may be, where it does not even begin as JSON. */
export function guessOther(text: string): AnnouncedFormat | 'text' | undefined {
  const begin = text.trimStart().slice(0, 100);
  if (begin.startsWith('<')) return 'xml';
  if (/^[\w.%[\]-]{1,80}=/.test(begin)) return 'form';
  return /^\p{L}/u.test(begin) ? 'text' : undefined;
}

/** By the first character, for senders that announce nothing. */
function guess(bytes: Buffer): AnnouncedFormat | undefined {
  const first = bytes.toString('latin1', 0, 64).trimStart()[0];
  if (first === '{' || first === '[') return 'json';
  return first === '<' ? 'xml' : undefined;
}

export interface ReceivedBody {
  readonly bytes: Buffer;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
}
