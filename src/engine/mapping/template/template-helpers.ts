import { HookError } from '../../../base/errors.ts';
import { isNumeric, fieldAt, ownValue, sameValue, type JsonValue, ExactNumber } from '../../../base/json.ts';
import { formatDate } from './template-date.ts';

/** An argument of a helper; undefined where a path found nothing. */
export type Argument = JsonValue | undefined;

/** How a helper may be used, and what it makes of its arguments. Missing stays missing unless said otherwise. */
export interface Helper {
  readonly min: number;
  readonly max: number;
  /** Names of `key=value` arguments it knows. */
  readonly named?: readonly string[];
  /** For messages: how it is written. */
  readonly usage: string;
  /** True where the first argument may be a list. */
  readonly list?: true;
  /** True where the first argument is read as text. */
  readonly text?: true;
  /** True where the second argument is a whole number, 0 or more. */
  readonly counted?: true;
  /** True where the result counts keys or elements: each costs. */
  readonly counts?: true;
  /** Steps charged for a call besides the length of what it reads and makes; default 12. */
  readonly cost?: number;
  run(args: readonly Argument[], named: Readonly<Record<string, Argument>>): Argument;
}

/**
 * The helpers of templates: pure, deterministic, and linear in the size of their arguments.
 * Documented one by one in `docs/mappings.md`; a test holds the two together.
 */
export const HELPERS: Readonly<Record<string, Helper>> = {
  json: one('{{json value}}', (value) => (value === undefined ? undefined : jsonText(value))),
  truncate: {
    min: 2,
    max: 2,
    text: true,
    counted: true,
    usage: '{{truncate text 120}}',
    run: ([value, limit]) => ifPresent(value, (text) => truncate(text, limit)),
  },
  default: {
    min: 2,
    max: Infinity,
    usage: '{{default value "none"}}',
    run: (args) => args.find((value) => value !== undefined && value !== null && value !== ''),
  },
  join: {
    min: 1,
    max: 3,
    list: true,
    usage: '{{join list ", " "name"}}',
    run: ([list, separator, key]) => join(list, separator, key),
  },
  date: {
    min: 1,
    max: 2,
    named: ['tz'],
    // Asking ICU for an offset takes some 30 µs.
    cost: 4_500,
    usage: '{{date value "yyyy-MM-dd HH:mm" tz="Europe/Berlin"}}',
    run: ([value, format], { tz }) =>
      ifPresent(value, (text) =>
        formatDate(isNumeric(value) ? Number(value) : text, {
          format: format === undefined ? undefined : textOf(format),
          timeZone: tz === undefined ? 'UTC' : textOf(tz),
        }),
      ),
  },
  lower: oneText('{{lower text}}', (text) => text.toLowerCase()),
  upper: oneText('{{upper text}}', (text) => text.toUpperCase()),
  trim: oneText('{{trim text}}', (text) => text.trim()),
  eq: { min: 2, max: 2, usage: '{{#if (eq a b)}}', run: ([a, b]) => sameValue(a ?? null, b ?? null) },
  ne: { min: 2, max: 2, usage: '{{#if (ne a b)}}', run: ([a, b]) => !sameValue(a ?? null, b ?? null) },
  and: {
    min: 1,
    max: Infinity,
    usage: '{{#if (and a b)}}',
    // What does not hold may be a missing value, which is the result all the same.
    run: (args) => {
      const at = args.findIndex((value) => !holds(value));
      return args.at(at);
    },
  },
  or: {
    min: 1,
    max: Infinity,
    usage: '{{#if (or a b)}}',
    run: (args) => args.find((value) => holds(value)) ?? args.at(-1),
  },
  not: { min: 1, max: 1, usage: '{{#if (not a)}}', run: ([value]) => !holds(value) },
  length: {
    min: 1,
    max: 1,
    list: true,
    usage: '{{length list}}',
    counts: true,
    run: ([value]) => lengthOf(value),
  },
  lines: {
    min: 1,
    max: 2,
    text: true,
    counted: true,
    usage: '{{lines text 3}}',
    run: ([value, count]) =>
      ifPresent(value, (text) => text.split(/\r\n?|\n/, wholeNumber(count ?? 1, 'lines')).join('\n')),
  },
  lookup: {
    min: 2,
    max: 2,
    usage: '{{lookup list index}}',
    run: ([value, key]) => (key === undefined ? undefined : ownValue(value, textOf(key))),
  },
};

/** Block helpers: each takes one value. */
export const BLOCK_HELPERS = ['if', 'unless', 'each', 'with'] as const;

/** All helpers with how each is written, for completion. */
export function listHelpers(): readonly { readonly name: string; readonly usage: string }[] {
  const blocks = BLOCK_HELPERS.map((name) => ({ name, usage: `{{#${name} value}}…{{/${name}}}` }));
  return [...Object.entries(HELPERS).map(([name, { usage }]) => ({ name, usage })), ...blocks];
}

/** Handlebars' truth: false, nothing, null, "", 0 and an empty list do not hold. */
export function holds(value: Argument, includeZero = false): boolean {
  if (value === 0) return includeZero;
  return Array.isArray(value) ? value.length > 0 : Boolean(value);
}

function one(usage: string, run: (value: Argument) => Argument): Helper {
  return { min: 1, max: 1, usage, run: ([value]) => run(value) };
}

function oneText(usage: string, run: (text: string) => string): Helper {
  return { min: 1, max: 1, usage, text: true, run: ([value]) => ifPresent(value, run) };
}

function ifPresent(value: Argument, run: (text: string) => string): Argument {
  return value === undefined || value === null ? value : run(textOf(value));
}

function jsonText(value: JsonValue): string {
  return typeof value === 'string' ? JSON.stringify(value) : value === null ? 'null' : textOf(value);
}

/** At most `limit` UTF-16 units, an ellipsis included; a surrogate pair is never cut in two. */
function truncate(text: string, limit: Argument): string {
  const units = wholeNumber(limit, 'truncate');
  if (text.length <= units) return text;
  if (units === 0) return '';
  const cut = text.slice(0, units - 1);
  return `${/[\uD800-\uDBFF]$/.test(cut) ? cut.slice(0, -1) : cut}…`;
}

function join(list: Argument, separator: Argument, key: Argument): Argument {
  if (!Array.isArray(list)) return list === null || list === undefined ? list : textOf(list);
  const between = separator === undefined ? ', ' : textOf(separator);
  const elements = list as readonly JsonValue[];
  if (key === undefined) return elements.map(textOf).join(between);
  const read = fieldReader(textOf(key));
  return elements.map((element) => textOf(read(element))).join(between);
}

/** A longer name is no path: who sends it chooses how much work it makes. */
const MAX_PATH_CHARS = 200;

/** Reads the field of that name, or else what stands at that path: `price.name`. */
function fieldReader(name: string): (element: JsonValue) => JsonValue | undefined {
  const keys = name.length > MAX_PATH_CHARS ? [name] : name.split('.');
  return (element) => ownValue(element, name) ?? (keys.length > 1 ? fieldAt(element, keys) : undefined);
}

function lengthOf(value: Argument): number {
  if (typeof value === 'string' || Array.isArray(value)) return value.length;
  return typeof value === 'object' && value !== null ? Object.keys(value).length : 0;
}

export function isWholeNumber(value: unknown): value is number {
  return typeof value === 'number' && Number.isInteger(value) && value >= 0;
}

function wholeNumber(value: Argument, helper: string): number {
  if (isWholeNumber(value)) return value;
  // A number that the mapping writes is looked at when it is compiled, so this one came with the request.
  throw new HookError(
    'invalid_field',
    `the template helper ${helper} needs a whole number, 0 or more, and the request gives it another value`,
  );
}

/** A value as template text: text verbatim, numbers and booleans as text, lists and objects as compact JSON. */
export function textOf(value: JsonValue | undefined): string {
  if (value === undefined || value === null) return '';
  if (typeof value === 'string') return value;
  return typeof value === 'object' && !(value instanceof ExactNumber) ? JSON.stringify(value) : String(value);
}
