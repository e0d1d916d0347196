import { HookError } from '../errors.ts';
import { type JsonValue, parseJson } from '../json.ts';
import { checkDepth } from './json-body.ts';

/** Forms of senders have some dozens of fields; each one costs a walk down its name. */
const MAX_FIELDS = 1000;
/** `a[b][c]` has three steps. */
const MAX_STEPS = 16;

const NAME = /^([^[\]]+)((?:\[[^[\]]*\])*)$/;

/**
 * Parses a form (application/x-www-form-urlencoded) as Twilio, Slack and Stripe's like send it: `a=1` is a text,
 * `a=1&a=2` and `a[]=1&a[]=2` are lists, `a[b]=1` is an object, and an object with the names 0 to n is a list. A form
 * with the one field `payload` that holds JSON is that JSON, which is how GitHub and Slack wrap theirs.
 * @throws HookError `invalid_utf8`, `invalid_body`, `invalid_json`
 */
export function parseForm(text: string): JsonValue {
  const root = new Group();
  let fields = 0;
  for (const item of text.split('&')) {
    if (item === '') continue;
    fields += 1;
    if (fields > MAX_FIELDS)
      throw new HookError('invalid_body', `the form has more than ${MAX_FIELDS} fields`);
    const equals = item.indexOf('=');
    const name = decodeFormText(equals < 0 ? item : item.slice(0, equals));
    root.put(stepsOf(name), equals < 0 ? '' : decodeFormText(item.slice(equals + 1)));
  }
  const payload = root.toObject();
  return unwrapPayload(payload) ?? payload;
}

function decodeFormText(text: string): string {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '));
  } catch {
    throw new HookError('invalid_utf8', 'a field of the form has a broken % escape, or is not UTF-8');
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

type Node = string | readonly string[] | Group;

/** The fields below one name, in their order. */
class Group {
  readonly #members = new Map<string, Node>();
  #next = 0;

  put(steps: readonly string[], value: string): void {
    const [step = '', ...rest] = steps;
    const key = step === '' ? String(this.#next) : step;
    if (/^\d{1,4}$/.test(key)) this.#next = Math.max(this.#next, Number(key) + 1);
    const before = this.#members.get(key);
    if (rest.length === 0) {
      this.#members.set(key, joined(before, value));
      return;
    }
    if (before !== undefined && !(before instanceof Group)) throw conflict();
    const group = before ?? new Group();
    this.#members.set(key, group);
    group.put(rest, value);
  }

  toObject(): Readonly<Record<string, JsonValue>> {
    const object = Object.create(null) as Record<string, JsonValue>;
    for (const [key, node] of this.#members) object[key] = toJson(node);
    return object;
  }

  /** A list where the names are 0 to n in their order. */
  toJson(): JsonValue {
    const names = [...this.#members.keys()];
    const object = this.toObject();
    return names.every((name, index) => name === String(index)) ? Object.values(object) : object;
  }
}

function toJson(node: Node): JsonValue {
  if (typeof node === 'string') return node;
  return node instanceof Group ? node.toJson() : [...node];
}

function joined(before: Node | undefined, value: string): Node {
  if (before === undefined) return value;
  if (before instanceof Group) throw conflict();
  return typeof before === 'string' ? [before, value] : [...before, value];
}

function conflict(): HookError {
  return new HookError('invalid_body', 'a field of the form is a text in one place and a group in another');
}

/** The JSON of a lone field `payload`; undefined where the form is another. */
function unwrapPayload(form: Readonly<Record<string, JsonValue>>): JsonValue | undefined {
  const { payload, ...rest } = form;
  if (typeof payload !== 'string' || Object.keys(rest).length > 0 || !/^\s*[{[]/.test(payload))
    return undefined;
  let value: JsonValue;
  try {
    value = parseJson(payload);
  } catch {
    throw new HookError('invalid_json', 'the field payload of the form is not JSON');
  }
  checkDepth(value);
  return value;
}
