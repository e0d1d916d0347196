/**
 * JSON as Sluice keeps it: exact.
 *
 * JavaScript's numbers are doubles. Shopify's id 820982911946154508 is read as …500, and 1e400 as Infinity. So
 * `parseJson` keeps the text of each number whose decimal value differs from its double printed again, as an
 * `ExactNumber`; every other number stays a plain one. `JSON.stringify`, `String` and templates print the text,
 * conditions compare the decimal value, arithmetic takes the nearest double.
 */
import { randomUUID } from 'node:crypto';

export type JsonValue = null | boolean | number | string | ExactNumber | readonly JsonValue[] | JsonObject;
/** A JSON object; keys come from outside, so reads go through `Object.hasOwn`. */
export interface JsonObject {
  readonly [key: string]: JsonValue;
}

const TEXT: unique symbol = Symbol('text');

/**
 * A number that a double cannot hold, as its text. It has no property with a name, so that no path of a payload leads
 * into it. Make one with `exactNumber`.
 */
export class ExactNumber {
  /** Own and enumerable, so that deep comparisons see it. */
  readonly [TEXT]: string;

  constructor(text: string) {
    this[TEXT] = text;
  }

  /** The number as it was sent, e.g. `820982911946154508`. */
  toString(): string {
    return this[TEXT];
  }

  /** What `JSON.stringify` prints: the text, without quotes. */
  toJSON(): unknown {
    return rawJson(this[TEXT]);
  }

  /** The nearest double; beyond the range of doubles the largest one, never Infinity. */
  valueOf(): number {
    const value = Number(this[TEXT]);
    return Number.isFinite(value) ? value : Math.sign(value) * Number.MAX_VALUE;
  }
}

/** Node 24 has `rawJSON`; TypeScript's library does not know it yet. */
const { rawJSON: rawJson } = JSON as unknown as { readonly rawJSON: (text: string) => unknown };

/** A decimal number: digits times ten to the exponent, without zeros at either end of the digits. */
interface Decimal {
  readonly negative: boolean;
  /** Empty for zero. */
  readonly digits: string;
  /** A bigint only beyond 15 digits: senders may write anything, and bigints take ten times as long. */
  readonly exponent: number | bigint;
}

const DECIMAL = /^([-+]?)(\d*)(?:\.(\d*))?(?:[eE]([-+]?\d+))?$/;
/** A whole number in hexadecimal or octal. */
const OTHER_BASE = /^0(?:x[\da-f]+|o[0-7]+)$/i;
const JSON_NUMBER = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][-+]?\d+)?$/;

function decimalOf(text: string): Decimal | undefined {
  const match = DECIMAL.exec(text);
  if (match === null) return undefined;
  const [, sign, whole = '', fraction = '', power = '0'] = match;
  if (whole === '' && fraction === '') return undefined;
  const all = whole + fraction;
  let first = 0;
  while (all.charCodeAt(first) === 0x30) first += 1;
  let last = all.length;
  while (last > first && all.charCodeAt(last - 1) === 0x30) last -= 1;
  const digits = all.slice(first, last);
  const exponent = add(wholeOf(power), all.length - last - fraction.length);
  return { negative: sign === '-' && digits !== '', digits, exponent: digits === '' ? 0 : exponent };
}

function wholeOf(text: string): number | bigint {
  const value = text.length <= 16 ? Number(text) : BigInt(text);
  return value >= -MAX_PLAIN && value <= MAX_PLAIN ? Number(value) : value;
}

const MAX_PLAIN = 999_999_999_999_999;

function add(exponent: number | bigint, count: number): number | bigint {
  return typeof exponent === 'bigint' ? exponent + BigInt(count) : exponent + count;
}

function sameDecimal(a: Decimal, b: Decimal): boolean {
  return a.negative === b.negative && a.digits === b.digits && a.exponent === b.exponent;
}

/** Reads the text of a number, as JSON, JSON5 or YAML has it: a plain number where that is the same decimal value. */
export function exactNumber(text: string): number | ExactNumber {
  const value = Number(text);
  // Too large or too small for any double: nothing has to be compared, which takes half the time.
  const isBeyond = value === 0 ? /^[^eE]*[1-9]/.test(text) : Math.abs(value) === Infinity;
  if (isBeyond && JSON_NUMBER.test(text)) return new ExactNumber(text);
  const written = decimalOf(text);
  if (written === undefined) return OTHER_BASE.test(text) ? exactNumber(BigInt(text).toString()) : value;
  const printed = decimalOf(String(value));
  if (printed !== undefined && sameDecimal(written, printed)) return value;
  return new ExactNumber(JSON_NUMBER.test(text) ? text : toJsonText(written));
}

function toJsonText({ negative, digits, exponent }: Decimal): string {
  return `${negative ? '-' : ''}${digits}${exponent === 0 ? '' : `e${exponent}`}`;
}

/** Compares two numbers by their decimal values: below 0, 0 or above 0; undefined where one is no number. */
export function compareNumbers(
  a: number | ExactNumber | string,
  b: number | ExactNumber | string,
): number | undefined {
  const [left, right] = [decimalOf(String(a).trim()), decimalOf(String(b).trim())];
  if (left === undefined || right === undefined) return undefined;
  if (left.negative !== right.negative) return left.negative ? -1 : 1;
  const order = compareMagnitudes(left, right);
  // Not `-order`, which would be -0.
  return left.negative ? 0 - order : order;
}

function compareMagnitudes(a: Decimal, b: Decimal): number {
  if (a.digits === '' || b.digits === '') return Math.sign(a.digits.length - b.digits.length);
  const [left, right] = [add(a.exponent, a.digits.length), add(b.exponent, b.digits.length)];
  if (left > right) return 1;
  if (left < right) return -1;
  return a.digits === b.digits ? 0 : a.digits > b.digits ? 1 : -1;
}

/** Whether a value is a number, plain or exact. */
export function isNumeric(value: unknown): value is number | ExactNumber {
  return typeof value === 'number' || value instanceof ExactNumber;
}

/** Whether a value is a text, a number, plain or exact, or a boolean. */
export function isScalar(value: unknown): value is string | number | ExactNumber | boolean {
  return typeof value === 'string' || typeof value === 'boolean' || isNumeric(value);
}

/** `===`, and two exact numbers of the same decimal value. */
export function sameValue(a: JsonValue, b: JsonValue): boolean {
  if (a === b) return true;
  return a instanceof ExactNumber && b instanceof ExactNumber && compareNumbers(a, b) === 0;
}

/** Own property of a JSON value: an object's key, a list's position or length, a text's position or length. */
export function ownValue(value: JsonValue | undefined, key: string): JsonValue | undefined {
  if (value === null || value === undefined) return undefined;
  return Object.hasOwn(value as object, key) ? (value as Record<string, JsonValue>)[key] : undefined;
}

/** What stands at the end of a path, through whatever a condition or a template reads: objects, lists, texts. */
export function valueAt(value: JsonValue | undefined, keys: readonly string[]): JsonValue | undefined {
  let found = value;
  for (const key of keys) found = ownValue(found, key);
  return found;
}

/** What stands at the end of a path of fields: through objects alone, so that no position of a list is taken for a name. */
export function fieldAt(value: JsonValue | undefined, keys: readonly string[]): JsonValue | undefined {
  let found = value;
  for (const key of keys) found = isJsonObject(found) ? ownValue(found, key) : undefined;
  return found;
}

/** What stands at the end of a path of anything that was parsed: through objects and lists, and into no text. */
export function memberAt(value: unknown, path: readonly (string | number)[]): unknown {
  let found = value;
  for (const step of path) {
    if (typeof found !== 'object' || found === null || !Object.hasOwn(found, step)) return undefined;
    found = (found as Readonly<Record<string | number, unknown>>)[step];
  }
  return found;
}

/** An object without its members that are undefined, as JSON has them. */
export type Defined<T> = { [Key in keyof T as undefined extends T[Key] ? never : Key]: T[Key] } & {
  [Key in keyof T as undefined extends T[Key] ? Key : never]?: Exclude<T[Key], undefined>;
};

export function defined<T extends object>(value: T): Defined<T> {
  const kept: Record<string, unknown> = {};
  for (const [key, item] of Object.entries(value)) if (item !== undefined) kept[key] = item;
  return kept as Defined<T>;
}

/** Whether a JSON value is an object: no list, no null, no number. */
export function isJsonObject(value: unknown): value is JsonObject {
  return (
    typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof ExactNumber)
  );
}

/** What a text says as JSON, with plain numbers; undefined where it is none. */
export function readJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Whether a text is JSON as a whole. */
export function isJsonText(text: string): boolean {
  return readJson(text) !== undefined;
}

/**
 * Numbers that may differ from their double: 15 significant digits always survive, and so does an exponent of two
 * digits. What stands before and after keeps most texts that only look like it out.
 */
const SUSPECT = /(?:[[:,\s]|^)(-?(?:[\d.]{16,}|[\d.]+[eE][-+]?\d{3,})(?:[eE][-+]?\d+)?)(?=[\s,}\]]|$)/g;

/**
 * `JSON.parse` with exact numbers. `bytes` are those of the text in UTF-8. A text without long numbers costs one scan more. One with them is parsed with such
 * numbers in quotes behind a random mark, and the marked texts are replaced: `JSON.parse` with a function for each
 * value takes fifty times as long, which a list of 100,000 values would turn into a pause of the whole service.
 * @throws SyntaxError as `JSON.parse` does
 */
export function parseJson(text: string, bytes: Uint8Array = Buffer.from(text)): JsonValue {
  const suspects = mayHoldSuspects(text, bytes) ? findSuspects(text) : NONE;
  if (suspects.length === 0) return JSON.parse(text) as JsonValue;
  const mark = randomUUID();
  const pieces: string[] = [];
  let from = 0;
  for (const { start, end } of suspects) {
    pieces.push(text.slice(from, start), `"${mark}`, text.slice(start, end), '"');
    from = end;
  }
  pieces.push(text.slice(from));
  return replaceMarked(JSON.parse(pieces.join('')) as JsonValue, mark);
}

interface Range {
  readonly start: number;
  readonly end: number;
}

const NONE: readonly Range[] = [];
/** From this many digits and points on a number may differ from its double. */
const LONG_NUMBER = 16;
const LONG_EXPONENT = /\d[eE][-+]?\d{3}/;
/** Also where the text begins, with or without a byte order mark. */
const BEFORE_NUMBER: ReadonlySet<number | undefined> = new Set([
  undefined,
  ...Buffer.from(':, \n\r\t[-\ufeff'),
]);

/** Whether a text has what every suspect has. Looks at one byte in sixteen, then at those around a digit. */
function mayHoldSuspects(text: string, bytes: Uint8Array): boolean {
  for (let at = 0; at < bytes.length; at += LONG_NUMBER) {
    if (isDigitOrPoint(bytes[at]) && isInLongNumber(bytes, at)) return true;
  }
  return LONG_EXPONENT.test(text);
}

/** Whether the digits around an offset are many and begin where a number can; a hash in quotes begins elsewhere. */
function isInLongNumber(bytes: Uint8Array, at: number): boolean {
  let start = at;
  while (start > 0 && isDigitOrPoint(bytes[start - 1])) {
    start -= 1;
    // A number of this length was judged at the byte before.
    if (at - start === LONG_NUMBER) return false;
  }
  let end = at + 1;
  while (end - start < LONG_NUMBER && end < bytes.length && isDigitOrPoint(bytes[end])) end += 1;
  return end - start === LONG_NUMBER && BEFORE_NUMBER.has(bytes[start - 1]);
}

function isDigitOrPoint(byte = 0): boolean {
  return (byte >= 0x30 && byte <= 0x39) || byte === 0x2e;
}

/** Numbers outside strings that are not the same as a double; linear in the text. */
function findSuspects(text: string): readonly Range[] {
  const found: Range[] = [];
  const strings = createStringScanner(text);
  for (const match of text.matchAll(SUSPECT)) {
    const number = match[1] ?? '';
    const end = match.index + match[0].length;
    const start = end - number.length;
    if (strings.isInside(start) || !JSON_NUMBER.test(number)) continue;
    if (exactNumber(number) instanceof ExactNumber) found.push({ start, end });
  }
  return found;
}

/** Says of rising offsets whether they lie inside a string; reads the text once. */
function createStringScanner(text: string): { isInside(offset: number): boolean } {
  let inside = false;
  let quote = text.indexOf('"');
  return {
    isInside(offset) {
      while (quote !== -1 && quote < offset) {
        if (!inside || !isEscaped(text, quote)) inside = !inside;
        quote = text.indexOf('"', quote + 1);
      }
      return inside;
    },
  };
}

function isEscaped(text: string, at: number): boolean {
  let before = at - 1;
  while (text.charCodeAt(before) === 0x5c) before -= 1;
  return (at - before) % 2 === 0;
}

/** Replaces the marked texts inside a fresh value; with a list of what is open, because bodies may be nested deeply. */
function replaceMarked(root: JsonValue, mark: string): JsonValue {
  const open: object[] = [];
  const visit = (value: JsonValue): JsonValue => {
    if (typeof value === 'object' && value !== null) open.push(value);
    return unmark(value, mark);
  };
  const replaced = visit(root);
  for (let container = open.pop(); container !== undefined; container = open.pop()) {
    if (Array.isArray(container)) {
      for (let index = 0; index < container.length; index += 1)
        container[index] = visit(container[index] as JsonValue);
    } else replaceMembers(container as Record<string, JsonValue>, visit);
  }
  return replaced;
}

function replaceMembers(container: Record<string, JsonValue>, visit: (value: JsonValue) => JsonValue): void {
  for (const key of Object.keys(container)) {
    const value = container[key] as JsonValue;
    const visited = visit(value);
    if (visited === value) continue;
    setField(container, key, visited);
  }
}

/** Sets a field of a plain object. One called __proto__ is defined: to assign it would set the prototype. */
export function setField<Value>(object: Record<string, Value>, key: string, value: Value): void {
  if (key !== '__proto__') object[key] = value;
  else Object.defineProperty(object, key, { value, enumerable: true, writable: true, configurable: true });
}

function unmark(value: JsonValue, mark: string): JsonValue {
  return typeof value === 'string' && value.startsWith(mark)
    ? new ExactNumber(value.slice(mark.length))
    : value;
}
