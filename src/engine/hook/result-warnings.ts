/*
 * What shows in the result of a transform that was hardly meant: a word that JavaScript writes for what is no text, a time
 * in seconds read as milliseconds. Looked for only where the result has their mark and the body has not.
 */
import type { Finding } from '../../base/finding.ts';
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
export function warnOfWords(warnings: Finding[], json: string, input: string): void {
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

/** Dates of January 1970, in which every number of seconds of our time lies that is read as milliseconds. */
const EPOCH = /\b1970-01-\d\d|\b\d{1,2}[./]\d{1,2}[./]1970\b|\bJan(?:uary)? (?:\d{1,2},? )?1970\b/;
/** A time of 2001 to 2038 in seconds. */
const SECONDS = /[:[,]1\d{9}(?=[,\]}])/;

/** Warns of a date that a transform most likely made of seconds; `json` is its result, `input` what it was called with. */
export function warnOfEpoch(warnings: Finding[], json: string, input: string): void {
  if (!json.includes('1970') || !EPOCH.test(json) || input.includes('1970') || !SECONDS.test(input)) return;
  const message =
    'the transform made a date of January 1970 of a number of seconds: JavaScript counts milliseconds';
  warn(warnings, { code: 'seconds_as_milliseconds', message, facts: {} });
}

/** As many digits as only a number has that a double may not hold. */
const LONG = /\d{16,}/g;

/** Warns of a number of the body that JavaScript rounded: two of them may look the same then. */
export function warnOfRounded(warnings: Finding[], json: string, input: string): void {
  const isRounded = json.match(LONG)?.some((digits) => !input.includes(digits)) === true;
  if (!isRounded || !/[:[,]-?\d{16,}/.test(input)) return;
  const message =
    'the transform returned a number of the body with its last digits rounded, so two of them may look the same: it has more digits than a JavaScript number keeps';
  warn(warnings, { code: 'rounded_number', message, facts: {} });
}
