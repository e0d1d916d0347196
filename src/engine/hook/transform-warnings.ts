/*
 * What shows in the result of a transform that was hardly meant: a word that JavaScript writes for what is no text, a time
 * in seconds read as milliseconds. Looked for only where the result has their mark and the body has not.
 */
import type { Finding } from '../../base/finding.ts';
import type { Scope } from '../mapping/mapping.ts';
import { warn } from './action-fields.ts';
import type { HookFacts } from './evaluation.ts';

/** What a transform returned, and what it was called with, as JSON. */
interface TransformTexts {
  readonly json: string;
  readonly input: string;
}

export function warnOfResult(warnings: Finding[], texts: TransformTexts, scope: Scope): void {
  warnOfWords(warnings, texts, scope);
  warnOfEpoch(warnings, texts);
  warnOfRounded(warnings, texts);
}

interface SuspectWord {
  readonly code: keyof HookFacts;
  /** What its pattern never matches without; looked for first, as that is quick. */
  readonly mark: string;
  readonly pattern: RegExp;
  /** Default what was found. */
  readonly shown?: string;
  readonly factsOf?: (scope: Scope) => HookFacts['object_as_text' | 'undefined_as_text'];
}

const OBJECT = { code: 'object_as_text', mark: '[object ', shown: '[object …]' } as const;

const WORDS: readonly SuspectWord[] = [
  { code: 'promise_as_text', mark: '[object ', pattern: /\[object Promise\]/ },
  {
    ...OBJECT,
    pattern: /\[object (?:Map|Set|Generator|Iterator)\]/,
    factsOf: () => ({ isCollection: true }),
  },
  { ...OBJECT, pattern: /\[object (?:Object|AsyncFunction)\]/, factsOf: () => ({ isCollection: false }) },
  { code: 'invalid_date', mark: 'Invalid Date', pattern: /\bInvalid Date\b/ },
  { code: 'nan_as_text', mark: 'NaN', pattern: /(?<![\w-])NaN(?![\w-])/ },
  {
    code: 'undefined_as_text',
    mark: 'undefined',
    pattern: /(?<![\w-])undefined(?![\w-])/,
    factsOf: ({ index, request: { payload } }) => ({
      isElement: index !== undefined,
      isList: Array.isArray(payload),
    }),
  },
];

/** Warns of such words in what a transform returned. */
function warnOfWords(warnings: Finding[], { json, input }: TransformTexts, scope: Scope): void {
  for (const { code, mark, pattern, shown, factsOf = () => ({}) } of WORDS) {
    const found = json.includes(mark) ? pattern.exec(json)?.[0] : undefined;
    if (found === undefined || input.includes(found)) continue;
    warn(warnings, { code, message: `the result has the text "${shown ?? found}"`, facts: factsOf(scope) });
  }
}

/** Dates of January 1970, in which every number of seconds of our time lies that is read as milliseconds. */
const EPOCH = /\b1970-01-\d\d|\b\d{1,2}[./]\d{1,2}[./]1970\b|\bJan(?:uary)? (?:\d{1,2},? )?1970\b/;
/** A time of 2001 to 2038 in seconds. */
const SECONDS = /[:[,]1\d{9}(?=[,\]}])/;

/** Warns of a date that a transform most likely made of seconds. */
function warnOfEpoch(warnings: Finding[], { json, input }: TransformTexts): void {
  if (!json.includes('1970') || !EPOCH.test(json) || input.includes('1970') || !SECONDS.test(input)) return;
  const message =
    'the transform made a date of January 1970 of a number of seconds: JavaScript counts milliseconds';
  warn(warnings, { code: 'seconds_as_milliseconds', message, facts: {} });
}

/** As many digits as only a number has that a double may not hold. */
const LONG = /\d{16,}/g;

/** Warns of a number of the body that JavaScript rounded: two of them may look the same then. */
function warnOfRounded(warnings: Finding[], { json, input }: TransformTexts): void {
  const isRounded = json.match(LONG)?.some((digits) => !input.includes(digits)) === true;
  if (!isRounded || !/[:[,]-?\d{16,}/.test(input)) return;
  const message =
    'the transform returned a number of the body with its last digits rounded, so two of them may look the same: it has more digits than a JavaScript number keeps';
  warn(warnings, { code: 'rounded_number', message, facts: {} });
}
