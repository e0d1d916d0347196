import type { TextDecoder } from 'node:util';
import { HookError } from '../errors.ts';
import { isJsonObject, type JsonObject, type JsonValue, parseJson } from '../json.ts';
import { checkDepth } from './json-body.ts';
import { decoderOf, decodeUtf8 } from './text.ts';

/** Forms of senders have some dozens of fields; each one costs a walk down its name. */
export const MAX_FIELDS = 1000;
/** `a[b][c]` has three steps. */
const MAX_STEPS = 16;

const NAME = /^([^[\]]+)((?:\[[^[\]]*\])*)$/;

/**
 * Parses a form (application/x-www-form-urlencoded) as Twilio, Slack and Stripe's like send it: `a=1` is a text,
 * `a=1&a=2` and `a[]=1&a[]=2` are lists, `a[b]=1` is an object, and one whose names are indices is a list. A form
 * with the one field `payload` that holds JSON is that JSON, as GitHub, Slack and Plex send it.
 * @throws HookError `invalid_utf8`, `invalid_body`, `invalid_json`
 */
export function parseForm(text: string): JsonValue {
  const decode = decoderOf(CHARSET_FIELD.exec(text)?.[1]);
  return fieldsOf(text, decode === undefined ? decodeFormText : (each) => decode(bytesOf(each)));
}

/** The field in which PayPal names its charset, and the one that browsers fill in. */
const CHARSET_FIELD = /(?:^|&)(?:_charset_|charset)=([\w.:-]{1,40})(?=&|$)/;

/**
 * The same of the bytes of a body, whose Content-Type may name a charset.
 * @throws HookError as `parseForm` does
 */
export function parseFormBody(bytes: Buffer, charset: string | undefined, decoder: TextDecoder): JsonValue {
  const plain = bytes.toString('latin1');
  const decode = decoderOf(charset ?? CHARSET_FIELD.exec(plain)?.[1]);
  if (decode === undefined) return fieldsOf(decodeUtf8(bytes, decoder), decodeFormText);
  return fieldsOf(plain, (each) => decode(bytesOf(each)));
}

/** The bytes of a name or value whose characters stand for a byte each. */
function bytesOf(text: string): Buffer {
  const plain = text.replaceAll('+', ' ');
  const whole = plain.replaceAll(/%([\da-f]{2})/gi, (_, hex: string) =>
    String.fromCharCode(parseInt(hex, 16)),
  );
  return Buffer.from(whole, 'latin1');
}

function fieldsOf(text: string, decode: (text: string) => string): JsonValue {
  const fields = new FormFields();
  for (const item of text.split('&')) {
    if (item === '') continue;
    const equals = item.indexOf('=');
    const name = decode(equals < 0 ? item : item.slice(0, equals));
    fields.put(name, equals < 0 ? '' : decode(item.slice(equals + 1)));
  }
  return fields.toPayload();
}

export type FormFile = JsonObject & {
  readonly filename: string;
  readonly contentType: string;
  readonly size: number;
};

/** The fields of a form in the order in which they came. */
export class FormFields {
  readonly #root = new FieldGroup();
  readonly #files = new FieldGroup();
  #count = 0;

  /** @throws HookError `invalid_body` */
  put(name: string, value: string | FormFile): void {
    this.#count += 1;
    if (this.#count > MAX_FIELDS)
      throw new HookError('invalid_body', `the form has more than ${MAX_FIELDS} fields`);
    const steps = stepsOf(name);
    this.#root.put(steps, value);
    if (typeof value !== 'string') this.#files.put(steps, value);
  }

  /** @throws HookError `invalid_json`, `invalid_body` */
  toPayload(): JsonValue {
    const form = this.#root.toObject();
    const files = this.#files.toObject();
    const names = Object.keys(form).filter((name) => !(name in files));
    const { payload } = form;
    if (names.length !== 1 || names[0] !== 'payload' || typeof payload !== 'string') return form;
    return /^\s*[{[]/.test(payload) ? withFiles(parseField(payload), files) : form;
  }
}

/** A file has a place beside the fields of the JSON, unless one of them has its name. */
function withFiles(value: JsonValue, files: Readonly<Record<string, JsonValue>>): JsonValue {
  if (!isJsonObject(value) || Object.keys(files).length === 0) return value;
  const object = Object.create(null) as Record<string, JsonValue>;
  return Object.assign(object, files, value);
}

function decodeFormText(text: string): string {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '));
  } catch {
    throw new HookError(
      'invalid_utf8',
      'a field of the form has a broken % escape, or is not UTF-8: let the sender name its charset, as the parameter charset of the Content-Type or as a field charset=windows-1252',
    );
  }
}

/** A name that is not of the form `a[b][c]` is taken as it is. An empty step stands for the next place of a list. */
function stepsOf(name: string): readonly string[] {
  const match = NAME.exec(name);
  if (match === null) return [name];
  const inner = (match[2] as string).slice(1, -1);
  const steps = match[2] === '' ? [] : inner.split('][');
  if (steps.length >= MAX_STEPS) {
    throw new HookError('invalid_body', `a field of the form is nested more than ${MAX_STEPS} levels deep`);
  }
  return [match[1] as string, ...steps];
}

type FieldValue = string | FormFile;
type Node = FieldValue | readonly FieldValue[] | FieldGroup;

/** Larger numbers are ids of something, and names that have to stay. */
const MAX_INDEX = 99;
const INDEX = /^(?:0|[1-9]\d{0,3})$/;

/** The fields below one name, in their order. */
class FieldGroup {
  readonly #members = new Map<string, Node>();
  #next = 0;
  /** True where the members came without names. */
  #isList = false;

  put(steps: readonly string[], value: FieldValue): void {
    const [step = '', ...rest] = steps;
    const key = step === '' ? this.#placeFor(rest) : step;
    if (INDEX.test(key)) this.#next = Math.max(this.#next, Number(key) + 1);
    const before = this.#members.get(key);
    if (rest.length === 0) {
      this.#members.set(key, joined(before, value));
      return;
    }
    if (before !== undefined && !(before instanceof FieldGroup)) throw conflict();
    const group = before ?? new FieldGroup();
    this.#members.set(key, group);
    group.put(rest, value);
  }

  /** As Rack has it, `a[][b]=1&a[][c]=2` is one element: a new one begins where the last has that field already. */
  #placeFor(rest: readonly string[]): string {
    this.#isList = true;
    const key = String(this.#next - 1);
    const last = this.#members.get(key);
    const isOpen = last instanceof FieldGroup && !last.#isList && (rest[0] ?? '') !== '' && !last.#has(rest);
    return isOpen ? key : String(this.#next);
  }

  #has([step = '', ...rest]: readonly string[]): boolean {
    const member = this.#members.get(step);
    if (member === undefined || rest.length === 0) return member !== undefined;
    return member instanceof FieldGroup && member.#has(rest);
  }

  toObject(): Readonly<Record<string, JsonValue>> {
    const object = Object.create(null) as Record<string, JsonValue>;
    for (const [key, node] of this.#members) object[key] = toJson(node);
    return object;
  }

  /** A list where the names are small numbers, which may come in any order and with gaps, or 0 to n. */
  toJson(): JsonValue {
    const names = [...this.#members.keys()];
    const object = this.toObject();
    const isList = names.every(
      (name, index) => name === String(index) || (INDEX.test(name) && Number(name) <= MAX_INDEX),
    );
    if (!isList) return object;
    return names.toSorted((a, b) => Number(a) - Number(b)).map((name) => object[name] as JsonValue);
  }
}

function toJson(node: Node): JsonValue {
  return node instanceof FieldGroup ? node.toJson() : node;
}

function joined(before: Node | undefined, value: FieldValue): Node {
  if (before === undefined) return value;
  if (before instanceof FieldGroup) throw conflict();
  return isList(before) ? [...before, value] : [before, value];
}

function isList(node: FieldValue | readonly FieldValue[]): node is readonly FieldValue[] {
  return Array.isArray(node);
}

function conflict(): HookError {
  return new HookError('invalid_body', 'a field of the form is a text in one place and a group in another');
}

function parseField(text: string): JsonValue {
  let value: JsonValue;
  try {
    value = parseJson(text);
  } catch {
    throw new HookError('invalid_json', 'the field payload of the form is not JSON');
  }
  checkDepth(value);
  return value;
}
