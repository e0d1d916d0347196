/**
 * Finds the usual slip behind a place where a body stops being JSON, and says what to send. No sentence
 * quotes a key or a value.
 */
import { say, todo, type Sentence } from '../../base/finding.ts';
import type { JsonFacts } from '../../base/payload/facts.ts';

const WORDS = {
  ended: say`the body ends too early`,
  last_comma: say`remove the comma before the closing bracket`,
  comma: say`a comma is missing before it`,
  several: say`these are several values one after the other (JSON Lines): ${todo}send each in a request of its own, or all as one list: [ …, … ]; where the sender cannot, bodyFormat: text takes them, and a transform splits the lines`,
  printed: say`this is how a program prints a value, not JSON: ${todo}send what its writer of JSON gives, such as JSON.stringify(…), json.dumps(…) or {{ … | tojson }}`,
  quotes: say`only numbers, true, false and null stand without double quotes: ${todo}put them around the text, or around the placeholder that the sender fills in there`,
  backslash: say`${String.raw`a backslash of a text is written \\`}`,
} as const;

const SIGNS: Readonly<Record<string, string | undefined>> = {
  '\t': String.raw`\t`,
  '\n': String.raw`\n`,
  '\r': String.raw`\n`,
};

/** `sign` is the character within a text, as JSON writes it. */
export interface JsonSlip {
  readonly slip: keyof typeof WORDS | 'sign';
  readonly sign?: string;
}

/** Says what to send; `field` names the field, where it may be shown. Undefined for a slip of an earlier version. */
export function sayJsonSlip({ slip, sign = '' }: JsonSlip, field = 'NAME'): Sentence | undefined {
  return slip === 'sign'
    ? say`in JSON it is written ${sign}; a shell builds such a body with jq -n --arg ${field} "$VALUE" '{${field}: $${field}}'`
    : WORDS[slip];
}

/** As programs print texts and words: 'text', True, None, [object Object]. */
const PRINTED = /^(?:'|(?:True|False|None|nil)\b|object [A-Z])/;
/** As programs print keys: key=, key:, :key=> */
const PRINTED_KEY = /^:?\w{1,80}\s?(?:=|:)/;

/** Finds the usual slip where a body stops being JSON; undefined where none is known. */
export function findJsonSlip({
  text,
  at,
  closes,
  isInList,
  isRoot,
  in: where,
}: JsonFacts): JsonSlip | undefined {
  const char = text[at];
  if (char === undefined) return { slip: 'ended' };
  const sign = SIGNS[char];
  if (where === 'text')
    return char === '\\' ? { slip: 'backslash' } : sign === undefined ? undefined : { slip: 'sign', sign };
  const isValue = where === 'value';
  if (closes && (where === 'key' || (isValue && isInList))) return { slip: 'last_comma' };
  if (where === 'end') return /[{[]/.test(char) ? { slip: 'several' } : undefined;
  const rest = text.slice(at, at + 100);
  const isPrinted =
    where === 'key' ? PRINTED.test(rest) || PRINTED_KEY.test(rest) : isValue && PRINTED.test(rest);
  if (isPrinted) return { slip: 'printed' };
  if (where === 'after-value') return char === '"' ? { slip: 'comma' } : undefined;
  return isValue && !isRoot && /[\p{L}\p{N}+.-]/u.test(char) ? { slip: 'quotes' } : undefined;
}
