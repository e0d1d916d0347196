/**
 * Finds the usual slip behind a place where a body stops being JSON, and says what to send. No sentence
 * quotes a key or a value.
 */
import { say, todo, type Sentence } from '../../base/finding.ts';
import type { JsonFacts } from '../../base/payload/facts.ts';

const MAX_LOOKED_AT = 400;

const WORDS = {
  ended: say`the body ends too early`,
  last_comma: say`remove the comma before the closing bracket`,
  comma: say`a comma is missing before it`,
  comment: say`JSON has no comments: ${todo}remove it`,
  several: say`these are several values one after the other (JSON Lines): ${todo}send each in a request of its own, or all as one list: [ …, … ]; where the sender cannot, bodyFormat: text takes them, and a transform splits the lines`,
  cmd: say`the single quote of the command came with the body, as cmd of Windows does not know them: ${todo}write the body into a file and send it with -d @body.json, or write -d "{\\"KEY\\": \\"text\\"}"`,
  template: say`a template of the sender was not filled in`,
  not_filled_in: say`a variable of the sender was not filled in; in a shell nothing in single quotes is: jq -n --arg NAME "$VALUE" '{NAME: $NAME}' builds the body`,
  nothing_filled_in: say`there is no value: the sender filled in nothing; with double quotes around its placeholder that is an empty text`,
  not_a_number: say`JSON has no NaN and no Infinity: ${todo}send null in its place (in Python json.dumps(…, allow_nan=False) says where it comes from)`,
  quotes: say`only numbers, true, false and null stand without double quotes: ${todo}put them around the text, or around the placeholder that the sender fills in there`,
  quote_in_text: String.raw`if the text goes on here, the quote before it is written \"`,
  backslash: String.raw`a backslash of a text is written \\`,
  // A program printed this in place of JSON, and the hint shows how that program writes JSON.
  python: say`this is how Python or a Jinja template prints a value: ${todo}send {{ … | tojson }} (in Home Assistant {{ … | to_json }}), json.dumps(…), or json= of requests`,
  single_quotes: say`single quotes are how Python, a Jinja template or JavaScript prints a value, not JSON: ${todo}send json.dumps(…), {{ … | tojson }} (in Home Assistant {{ … | to_json }}) or JSON.stringify(…); in a text of your own write double quotes`,
  javascript: say`this is how JavaScript prints an object, not JSON: ${todo}send JSON.stringify(…)`,
  ruby: say`this is how Ruby prints a hash, not JSON: ${todo}send hash.to_json`,
  java: say`this is how Java and Groovy print a map, not JSON: ${todo}send JsonOutput.toJson(map), or writeValueAsString(map) of Jackson`,
  unquoted_key: say`keys and texts stand in double quotes: a program sends JSON.stringify(…), and in a shell single quotes stand around the whole body: -d '{"key": "value"}'`,
} as const;

const SIGNS: Readonly<Record<string, string>> = {
  '\t': String.raw`\t`,
  '\n': String.raw`\n`,
  '\r': String.raw`\n`,
};

type Slip = keyof typeof WORDS;
type Row = readonly [where: string, form: RegExp, slip: Slip];

const PRINTED: readonly Row[] = [
  ['value key', /^(?:True|False|None)\b|^'[^]*[:,[]\s?(?:True|False|None)\b/, 'python'],
  ['value key', /^'/, 'single_quotes'],
  ['value key colon', /^(?:=>|nil\b)/, 'ruby'],
  ['value key', /^object [A-Z]\w{0,40}\]/, 'javascript'],
  ['key', /^:\w{1,80}\s?=>/, 'ruby'],
  ['key', /^\w{1,80}=(?![=>])/, 'java'],
  ['key', /^\w{1,80}:\s?(?:'|\{ \w)/, 'javascript'],
  ['key', /^[A-Za-z_$][\w$-]{0,80}\s?:/, 'unquoted_key'],
];

const SLIPS: readonly Row[] = [
  ['value key after-value', /^(?:\/\/|\/\*|#)/, 'comment'],
  ['end', /^[{[]/, 'several'],
  ['value', /^(?:\$[A-Za-z_{(]|%\w|<[%\w])/, 'not_filled_in'],
  ['value', /^[,}]/, 'nothing_filled_in'],
  ['value', /^-?(?:NaN|Infinity)\b/, 'not_a_number'],
  ['value', /^[\p{L}\p{N}+.-]/u, 'quotes'],
  ['after-value', /^"/, 'comma'],
];

/** `sign` is the character within a text, as JSON writes it. */
export interface JsonSlip {
  readonly slip: Slip | 'sign';
  readonly sign?: string;
}

/** Says what to send; `field` names the field, where it may be shown. */
export function sayJsonSlip({ slip, sign = '' }: JsonSlip, field = 'NAME'): Sentence {
  if (slip === 'sign')
    return say`in JSON it is written ${sign}; a shell builds such a body with jq -n --arg ${field} "$VALUE" '{${field}: $${field}}'`;
  return say`${WORDS[slip]}`;
}

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
  if (where === 'text') {
    const sign = SIGNS[char];
    return char === '\\' ? { slip: 'backslash' } : sign === undefined ? undefined : { slip: 'sign', sign };
  }
  if (closes && (where === 'key' || (where === 'value' && isInList))) return { slip: 'last_comma' };
  if (at === 0 && /^'\s*[{[]/.test(text)) return { slip: 'cmd' };
  if (text.startsWith('{{', at) || (char === '{' && text[at - 1] === '{')) return { slip: 'template' };
  const rest = text.slice(at, at + MAX_LOOKED_AT);
  const rowIn = (rows: readonly Row[]): Slip | undefined =>
    rows.find(([places, form]) => places.split(' ').includes(where) && form.test(rest))?.[2];
  const printed = rowIn(PRINTED);
  if (printed !== undefined) return { slip: printed };
  if (where === 'after-value' && text[at - 1] === '"' && /[\p{L}\p{N}]/u.test(char))
    return { slip: 'quote_in_text' };
  if (isRoot && where === 'value') return undefined;
  const slip = rowIn(SLIPS);
  return slip === undefined ? undefined : { slip };
}
