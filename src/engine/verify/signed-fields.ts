/**
 * Reads single fields out of a body that is not proved yet, for the schemes that sign fields. Nothing is built but the
 * fields asked for; time is linear in the body, memory is bounded by the limits below, and nothing recurses.
 */

import { isUtf8 } from 'node:buffer';
import { readJson } from '../../base/json.ts';

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
interface ByteRange {
  readonly start: number;
  readonly end: number;
}

/** The pairs of a form in their order, or undefined where it has too many or text that is not UTF-8. */
export function readFormPairs(body: Buffer): readonly (readonly [string, string])[] | undefined {
  const items = isUtf8(body) ? body.toString('utf8').split('&', MAX_PAIRS + 1) : [];
  if (items.length === 0 || items.length > MAX_PAIRS) return undefined;
  const decode = (text: string): string => decodeURIComponent(text.replaceAll('+', ' '));
  try {
    return items
      .filter((item) => item !== '')
      .map((item) => {
        const [name = '', ...value] = item.split('=');
        return [decode(name), decode(value.join('='))] as const;
      });
  } catch {
    return undefined;
  }
}

/**
 * The text or number under a path of member names in a JSON body, as text; undefined where it is not there, is of
 * another kind, is longer than 1024 bytes, or where a name on the way is there twice.
 */
export function readJsonMember(body: Buffer, path: readonly string[]): string | undefined {
  const last = path.length - 1;
  return readJsonMembers(body, path.slice(0, last), path.slice(last))[0];
}

/** The same of several members of the object under a path. */
export function readJsonMembers(
  body: Buffer,
  path: readonly string[],
  names: readonly string[],
): readonly (string | undefined)[] {
  let object: ByteRange | undefined = { start: 0, end: body.length };
  for (const name of path) object &&= findMember(body, object, name);
  return names.map((name) => {
    const range = object && findMember(body, object, name);
    return range && readScalar(body, range);
  });
}

function readScalar(body: Buffer, { start, end }: ByteRange): string | undefined {
  if (end - start > MAX_MEMBER_BYTES) return undefined;
  const text = body.toString('utf8', start, end).trim();
  if (/^-?\d{1,20}(?:\.\d{1,20})?$/.test(text)) return text;
  const value = body[start] === QUOTE ? readJson(text) : undefined;
  return typeof value === 'string' ? value : undefined;
}

/** The value of a member of the object that fills `within`. */
function findMember(body: Buffer, within: ByteRange, name: string): ByteRange | undefined {
  let at = skipBlank(body, within.start);
  if (body[at] !== OPEN_OBJECT) return undefined;
  const wanted = Buffer.from(name, 'utf8');
  let found: ByteRange | undefined;
  at = skipBlank(body, at + 1);
  while (at < within.end && body[at] === QUOTE) {
    const keyEnd = skipText(body, at);
    if (keyEnd < 0) return undefined;
    const isWanted = isKey(body, at, keyEnd, wanted);
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

/**
 * Whether a key in its quotes is this name (its bytes): compared byte by byte and up to the first that differs, so that
 * a body full of keys, escaped or not, costs no more than its length.
 */
function isKey(body: Buffer, start: number, end: number, name: Buffer): boolean {
  let at = start + 1;
  for (const wanted of name) {
    let byte = body[at];
    at += 1;
    if (byte === BACKSLASH) {
      if (wanted >= 0x80) return readJson(body.toString('utf8', start, end)) === name.toString('utf8');
      byte = ESCAPED.get(body[at] as number);
      at += 1;
      if (byte === LETTER_U) {
        byte = Number.parseInt(body.toString('latin1', at, at + 4), 16);
        at += 4;
      }
    }
    if (byte !== wanted) return false;
  }
  return at === end - 1;
}

const LETTER_U = 0x75;
/** What stands behind a backslash in JSON, and what it means; `u` begins a number. */
const ESCAPED: ReadonlyMap<number, number> = new Map([
  [QUOTE, QUOTE],
  [BACKSLASH, BACKSLASH],
  [0x2f, 0x2f],
  [0x62, 0x08],
  [0x66, 0x0c],
  [0x6e, 0x0a],
  [0x72, 0x0d],
  [0x74, 0x09],
  [LETTER_U, LETTER_U],
]);

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
