/*
 * Words that JavaScript writes where a transform put something into a text that is none: a promise, an object, what is
 * not there. Each has one cause and one remedy. Looked for only where the body has no such word itself.
 */
import type { Warning } from '../action.ts';
import { warn } from './action-fields.ts';

interface OddText {
  readonly code: string;
  /** What its pattern never matches without; looked for first, as that is quick. */
  readonly mark: string;
  readonly pattern: RegExp;
  readonly message: string;
}

const ODD_TEXTS: readonly OddText[] = [
  {
    code: 'promise_as_text',
    mark: '[object ',
    pattern: /\[object Promise\]/,
    message:
      'the result has the text "[object Promise]": a promise was put into a text before it was waited for; write await before the call, and for a list of promises const lines = await Promise.all(list.map(…)), in an async function',
  },
  {
    code: 'object_as_text',
    mark: '[object ',
    pattern: /\[object (?:Map|Set|Generator|Iterator)\]/,
    message:
      'the result has the text "[object …]": a Set, a Map or an iterator was put into a text; write its elements, [...labels].join(", ") with its own name in place of labels',
  },
  {
    code: 'object_as_text',
    mark: '[object ',
    pattern: /\[object (?:Object|AsyncFunction)\]/,
    message:
      'the result has the text "[object …]": an object was put into a text; name one of its fields, such as payload.user.name, or write JSON.stringify(…)',
  },
  {
    code: 'invalid_date',
    mark: 'Invalid Date',
    pattern: /\bInvalid Date\b/,
    message:
      'the result has the text "Invalid Date": new Date got what is no time, or nothing; look at the field that it gets, and for a number of seconds write new Date(seconds * 1000)',
  },
  {
    code: 'nan_as_text',
    mark: 'NaN',
    pattern: /(?<![\w-])NaN(?![\w-])/,
    message:
      'the result has the text "NaN": something that is no number, or is not there, was part of a calculation; look at the fields that it reads, a text with a number in it needs Number(…)',
  },
  {
    code: 'undefined_as_text',
    mark: 'undefined',
    pattern: /(?<![\w-])undefined(?![\w-])/,
    message:
      'the result has the text "undefined": a field that was put into a text is not there; the body is payload of the one argument, ({ payload }) => …, and for a field that may be missing write payload.name ?? "none"',
  },
];

/** Warns of such words in what a transform returned; `json` is its result, `input` what it was called with. */
export function warnOfOddTexts(warnings: Warning[], json: string, input: string): void {
  for (const { code, mark, pattern, message } of ODD_TEXTS) {
    if (!json.includes(mark)) continue;
    const found = pattern.exec(json)?.[0];
    if (found === undefined || input.includes(found)) continue;
    const other = code === 'undefined_as_text' ? otherRoot(input) : undefined;
    warn(warnings, { code, message: other ?? message });
  }
}

/** Where the fields stand that were looked for in payload. */
function otherRoot(input: string): string | undefined {
  if (/"index":\d+\}$/.test(input)) return OF_ELEMENT;
  return input.startsWith('{"payload":[') ? OF_LIST : undefined;
}

const OF_ELEMENT =
  'the result has the text "undefined": forEach calls the transform once for each element, and the element is item, not payload: write ({ item }) => … and item.name';
const OF_LIST =
  'the result has the text "undefined": the body of this request is a list, and payload the list itself, which has no fields; go through it: payload.map((one) => one.name).join(", ") for one text, or return payload.map((one) => ({ message: … })) for a run of each';
