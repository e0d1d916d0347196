/**
 * Reads single fields out of a body that is not proved yet, for the schemes that sign fields. Nothing is built but the
 * fields asked for; time is linear in the body, memory is bounded by the limits below, and nothing recurses.
 */

import { readJson } from '../json.ts';

/** A form with more fields than this is refused; Twilio's largest known one has about 60. */
const MAX_PAIRS = 1000;
/** A member that is asked for is a token, a time or a signature. */
const MAX_MEMBER_BYTES = 1024;

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COLON = 0x3a;
const COMMA = 0x2c;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;
const OPEN_ARRAY = 0x5b;
const CLOSE_ARRAY = 0x5d;

/** A part of a body: from `start` to before `end`. */
interface Range {
  readonly start: number;
  readonly end: number;
}

/** The pairs of a form in their order, or undefined where it has too many or text that is not UTF-8. */
export function readFormPairs(body: Buffer): readonly (readonly [string, string])[] | undefined {
  if (body.length === 0) return [];
  const items = body.toString('latin1').split('&', MAX_PAIRS + 1);
  if (items.length > MAX_PAIRS) return undefined;
  const pairs: (readonly [string, string])[] = [];
  for (const item of items) {
    if (item === '') continue;
    const equals = item.indexOf('=');
    const name = decodeFormText(equals < 0 ? item : item.slice(0, equals));
    const value = equals < 0 ? '' : decodeFormText(item.slice(equals + 1));
    if (name === undefined || value === undefined) return undefined;
    pairs.push([name, value]);
  }
  return pairs;
}

/** Percent escapes and `+` of a form; undefined where the bytes are not UTF-8. */
function decodeFormText(latin1: string): string | undefined {
  try {
    // The bytes outside ASCII are escaped first, so that they too have to be UTF-8.
    const escaped = latin1.replaceAll(/[\x80-\xff]/g, (byte) => `%${byte.charCodeAt(0).toString(16)}`);
    return decodeURIComponent(escaped.replaceAll('+', ' '));
  } catch {
    return undefined;
  }
}

/**
 * The text or number under a path of member names in a JSON body, as text; undefined where it is not there, is of
 * another kind, is longer than 1024 bytes, or where a name on the way is there twice.
 */
export function readJsonMember(body: Buffer, path: readonly string[]): string | undefined {
  let range: Range | undefined = { start: 0, end: body.length };
  for (const name of path) {
    range = findMember(body, range, name);
    if (range === undefined) return undefined;
  }
  if (range.end - range.start > MAX_MEMBER_BYTES) return undefined;
  const text = body.toString('utf8', range.start, range.end).trim();
  if (/^-?\d{1,20}(?:\.\d{1,20})?$/.test(text)) return text;
  const value = body[range.start] === QUOTE ? readJson(text) : undefined;
  return typeof value === 'string' ? value : undefined;
}

/** The value of a member of the object that fills `within`. */
function findMember(body: Buffer, within: Range, name: string): Range | undefined {
  let at = skipBlank(body, within.start);
  if (body[at] !== OPEN_OBJECT) return undefined;
  let found: Range | undefined;
  at = skipBlank(body, at + 1);
  while (at < within.end && body[at] === QUOTE) {
    const keyEnd = skipText(body, at);
    if (keyEnd < 0) return undefined;
    const isWanted = keyEnd - at <= MAX_MEMBER_BYTES && readJson(body.toString('utf8', at, keyEnd)) === name;
    at = skipBlank(body, keyEnd);
    if (body[at] !== COLON) return undefined;
    const start = skipBlank(body, at + 1);
    const end = skipValue(body, start);
    if (end < 0) return undefined;
    if (isWanted && found !== undefined) return undefined;
    if (isWanted) found = { start, end };
    at = skipBlank(body, end);
    if (body[at] !== COMMA) break;
    at = skipBlank(body, at + 1);
  }
  return found;
}

function skipBlank(body: Buffer, from: number): number {
  let at = from;
  while (at < body.length && isBlank(body[at] as number)) at += 1;
  return at;
}

function isBlank(byte: number): boolean {
  return byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09;
}

/** The place after a text that begins at `from`, or -1 where it does not end. */
function skipText(body: Buffer, from: number): number {
  for (let at = from + 1; at < body.length; at += 1) {
    if (body[at] === BACKSLASH) at += 1;
    else if (body[at] === QUOTE) return at + 1;
  }
  return -1;
}

/** The place after a value. Brackets are counted, not checked: the payload's own parser judges the JSON later. */
function skipValue(body: Buffer, from: number): number {
  let depth = 0;
  let at = from;
  while (at < body.length) {
    const byte = body[at] as number;
    if (byte === QUOTE) {
      at = skipText(body, at);
      if (at < 0 || depth === 0) return at;
      continue;
    }
    if (byte === OPEN_OBJECT || byte === OPEN_ARRAY) depth += 1;
    else if (byte === CLOSE_OBJECT || byte === CLOSE_ARRAY) {
      if (depth === 0) return at;
      depth -= 1;
      if (depth === 0) return at + 1;
    } else if (depth === 0 && (byte === COMMA || isBlank(byte))) return at;
    at += 1;
  }
  return depth === 0 ? at : -1;
}
