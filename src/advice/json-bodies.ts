/* The usual slip behind a place where a body stops being JSON, and what to send; neither key nor value is in the words. */
import type { JsonFacts } from '../payload/facts.ts';
import { findPrinted } from './dialects/printed-values.ts';

/** What follows the place is looked at so far. */
const MAX_LOOKED_AT = 40;

const NOT_FILLED_IN =
  'a variable of the sender was not filled in; in a shell nothing in single quotes is: jq -n --arg NAME "$VALUE" \'{NAME: $NAME}\' builds the body';
const IN_QUOTES =
  'only numbers, true, false and null stand without double quotes: put them around the text, or around the placeholder that the sender fills in there';
const EMPTY =
  'there is no value: the sender filled in nothing; with double quotes around its placeholder that is an empty text';
const COMMENT = 'JSON has no comments: remove it';
const SEVERAL =
  'these are several values one after the other (JSON Lines): send each in a request of its own, or all as one list: [ …, … ]';
const CMD =
  'the single quote of the command came with the body, as cmd of Windows does not know them: write the body into a file and send it with -d @body.json, or write -d "{\\"KEY\\": \\"text\\"}"';

type Row = readonly [where: JsonFacts['in'], form: RegExp, slip: string];

const SLIPS: readonly Row[] = [
  ['value', /^(?:\/\/|\/\*|#)/, COMMENT],
  ['key', /^(?:\/\/|\/\*|#)/, COMMENT],
  ['after-value', /^(?:\/\/|\/\*|#)/, COMMENT],
  ['end', /^[{[]/, SEVERAL],
  ['value', /^(?:\$[A-Za-z_{(]|%\w|<[%\w])/, NOT_FILLED_IN],
  ['value', /^[,}]/, EMPTY],
  ['value', /^[\p{L}\p{N}+.-]/u, IN_QUOTES],
  ['after-value', /^"/, 'a comma is missing before it'],
];

/** A sign within a text that stands there otherwise; `field`: whose text it is, where it may be told. */
function signInText(sign: string, field = 'NAME'): string | undefined {
  if (sign === '\\') return String.raw`a backslash of a text is written \\`;
  const written = { '\t': String.raw`\t`, '\n': String.raw`\n`, '\r': String.raw`\n` }[sign];
  return (
    written &&
    `in JSON it is written ${written}; a shell builds such a body with jq -n --arg ${field} "$VALUE" '{${field}: $${field}}'`
  );
}

/** What to send where a body stops being JSON; undefined where nothing is known. */
export function jsonHint(
  { text, at, closes, isInList, isRoot, in: where }: JsonFacts,
  field?: string,
): string | undefined {
  const char = text[at];
  if (char === undefined) return 'the body ends too early';
  if (where === 'text') return signInText(char, field);
  if (closes && (where === 'key' || (where === 'value' && isInList)))
    return 'remove the comma before the closing bracket';
  if (at === 0 && /^'\s*[{[]/.test(text)) return CMD;
  if (text.startsWith('{{', at) || (char === '{' && text[at - 1] === '{'))
    return 'a template of the sender was not filled in';
  const printed = where === 'after-value' ? undefined : findPrinted(text, at, where === 'key');
  if (printed !== undefined) return printed;
  if (where === 'after-value' && text[at - 1] === '"' && /[\p{L}\p{N}]/u.test(char))
    return String.raw`if the text goes on here, the quote before it is written \"`;
  if (isRoot && where === 'value') return undefined;
  const rest = text.slice(at, at + MAX_LOOKED_AT);
  return SLIPS.find(([each, form]) => each === where && form.test(rest))?.[2];
}
