/*
 * What shows in the result of a transform that was hardly meant: a word that JavaScript writes for what is no text, a time
 * in seconds read as milliseconds, a number with more digits than it keeps. Looked for only where the result has their
 * mark and the body has not, and in a part of the body at most. A warning names fields, never a value.
 */
import { oneLine } from '../boundary/boundary.ts';
import type { Action, Warning } from '../action.ts';
import { ExactNumber, isJsonObject, type JsonValue } from '../json.ts';
import type { Scope } from '../mapping/mapping.ts';
import { warn } from './action-fields.ts';
import type { HookFacts } from './finding-facts.ts';

interface Word {
  readonly code: keyof HookFacts;
  /** What its pattern never matches without; looked for first, as that is quick. */
  readonly mark: string;
  readonly pattern: RegExp;
}

const WORDS: readonly Word[] = [
  { code: 'promise_as_text', mark: '[object ', pattern: /\[object Promise\]/ },
  {
    code: 'object_as_text',
    mark: '[object ',
    pattern: /\[object (?:Map|Set|Generator|Iterator|Object|AsyncFunction)\]/,
  },
  { code: 'invalid_date', mark: 'Invalid Date', pattern: /\bInvalid Date\b/ },
  { code: 'nan_as_text', mark: 'NaN', pattern: /(?<![\w-])NaN(?![\w-])/ },
  { code: 'undefined_as_text', mark: 'undefined', pattern: /(?<![\w-])undefined(?![\w-])/ },
];

/** Warns of such words in what a transform returned; `json` is its result, `input` what it was called with. */
export function warnOfWords(warnings: Warning[], json: string, input: string): void {
  for (const { code, mark, pattern } of WORDS) {
    const found = json.includes(mark) ? pattern.exec(json)?.[0] : undefined;
    if (found === undefined || input.includes(found)) continue;
    const shown = /Promise|undefined|NaN|Invalid/.test(found) ? found : '[object …]';
    const facts: HookFacts['undefined_as_text'] & HookFacts['object_as_text'] = {
      isElement: /"index":\d+\}$/.test(input),
      isList: input.startsWith('{"payload":['),
      isCollection: /Map|Set|Generator|Iterator/.test(found),
    };
    warn(warnings, { code, message: `the result has the text "${shown}"`, facts });
  }
}

const MAX_LOOKED_AT = 5_000;
const MAX_PATH_CHARS = 120;

/** Dates of January 1970, in which every number of seconds of our time lies that is read as milliseconds. */
const EPOCH = /\b1970-01-\d\d|\b\d{1,2}[./]\d{1,2}[./]1970\b|\bJan(?:uary)? (?:\d{1,2},? )?1970\b/;
/** As many digits as only a number has that a double may not hold. */
const LONG = /\d{16,}/g;

/** Warns of what a transform made of the numbers that it was given; `json` is its result. */
export function warnOfNumbers(warnings: Warning[], json: string, { request, item }: Scope): void {
  const isEpoch = json.includes('1970') && EPOCH.test(json);
  const long = new Set(json.match(LONG));
  if (!isEpoch && long.size === 0) return;
  const [root, value]: [string, JsonValue] =
    item === undefined ? ['payload', request.payload] : ['item', item];
  const fields: string[] = [];
  for (const [path, leaf] of leavesIn(root, value)) {
    if (leaf instanceof ExactNumber) warnOfRounded(warnings, path, { number: leaf, long });
    else if (isEpoch && typeof leaf === 'number' && isSeconds(leaf, json))
      fields.push(oneLine(path.join(''), MAX_PATH_CHARS));
  }
  if (fields.length === 0) return;
  const which = fields.length === 1 ? `${fields[0]} is` : `${fields.slice(0, 3).join(', ')} are`;
  warn(warnings, {
    code: 'seconds_as_milliseconds',
    message: `the transform made a date of January 1970: ${which} in seconds, and JavaScript counts milliseconds`,
    facts: { fields } satisfies HookFacts['seconds_as_milliseconds'],
  });
}

function warnOfRounded(
  warnings: Warning[],
  path: readonly string[],
  { number, long }: { readonly number: ExactNumber; readonly long: ReadonlySet<string> },
): void {
  const rounded = String(number.valueOf());
  if (!long.has(rounded) || rounded === number.toString()) return;
  const key = (path.at(-1) ?? '').replace(/^\.|^\[|\]$/g, '').replaceAll('"', '');
  const object = path.slice(0, -1).join('');
  warn(warnings, {
    code: 'rounded_number',
    message: `the transform returned ${oneLine(path.join(''), MAX_PATH_CHARS)} with its last digits rounded, so two of them may look the same: it has more digits than a JavaScript number keeps`,
    facts: { field: oneLine(`${object}, '${key}'`, MAX_PATH_CHARS) } satisfies HookFacts['rounded_number'],
  });
}

/** Whether a number is a time of 2001 to 2038 in seconds, and the result has the day that it gives as milliseconds. */
function isSeconds(number: number, json: string): boolean {
  if (!(number >= 1_000_000_000 && number < 2_200_000_000)) return false;
  const day = new Date(number).toISOString().slice(8, 10);
  return new RegExp(String.raw`1970-01-${day}|\b0?${Number(day)}\b`).test(json);
}

/** The leaves of a value, each with the way to it as JavaScript writes it; the nearest to the root first. */
function* leavesIn(root: string, value: JsonValue): Generator<[readonly string[], JsonValue]> {
  const waiting: { readonly path: readonly string[]; readonly value: JsonValue }[] = [
    { path: [root], value },
  ];
  for (
    let next = waiting.shift(), seen = 0;
    next !== undefined && seen < MAX_LOOKED_AT;
    next = waiting.shift()
  ) {
    seen += 1;
    const { path, value: found } = next;
    if (!Array.isArray(found) && !isJsonObject(found)) yield [path, found];
    else {
      for (const [key, inner] of Object.entries(found).slice(0, MAX_LOOKED_AT - waiting.length)) {
        waiting.push({ path: [...path, stepOf(key, Array.isArray(found))], value: inner as JsonValue });
      }
    }
  }
}

function stepOf(key: string, isIndex: boolean): string {
  if (isIndex) return `[${key}]`;
  return /^[A-Za-z_$][\w$]*$/.test(key) ? `.${key}` : `[${JSON.stringify(key)}]`;
}

/**
 * Warns of a batch whose transform returned the same list for each element: it goes through the whole body by itself,
 * so each element becomes as many actions as there are elements. `lists`: the actions of each element.
 */
export function warnOfRepeatedLists(warnings: Warning[], lists: readonly (readonly Action[])[]): void {
  const [first = [], ...others] = lists;
  if (first.length < 2 || others.length === 0) return;
  const isSame = (list: readonly Action[]): boolean =>
    list.length === first.length && list.every((action, part) => wordsOf(action) === wordsOf(first[part]));
  if (!others.every(isSame)) return;
  const calls = others.length + 1;
  warn(warnings, {
    code: 'repeated_list',
    message: `forEach called the transform ${calls} times, and each call returned the same ${first.length} actions: ${calls * first.length} in all`,
    facts: {},
  });
}

const wordsOf = (action: Action | undefined): string | undefined =>
  action?.kind === 'wake' ? action.text : action?.message;
