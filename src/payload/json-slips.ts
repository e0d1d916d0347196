/* The usual slip behind a place where a body stops being JSON, and what to send; neither key nor value is in the words. */
import { findPrinted } from './printed-value.ts';

/** What stands at the place, and what was expected there. */
export interface SlipPlace {
  readonly at: number;
  readonly in: 'value' | 'key' | 'after-value' | 'end' | 'colon';
  /** Whether it closes the list or object that is open. */
  readonly closes: boolean;
  readonly isInList: boolean;
  /** Whether no list and no object is open. */
  readonly isRoot: boolean;
}

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

type Row = readonly [where: SlipPlace['in'], form: RegExp, slip: string];

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

/** With its separator; empty where nothing is known. */
export function slipAt(text: string, place: SlipPlace): string {
  const { at, closes, isInList } = place;
  const char = text[at];
  if (char === undefined) return '; the body ends too early';
  if (closes && (place.in === 'key' || (place.in === 'value' && isInList)))
    return '; remove the comma before the closing bracket';
  if (at === 0 && /^'\s*[{[]/.test(text)) return `; ${CMD}`;
  if (text.startsWith('{{', at) || (char === '{' && text[at - 1] === '{'))
    return '; a template of the sender was not filled in';
  const printed = place.in === 'after-value' ? undefined : findPrinted(text, at, place.in === 'key');
  if (printed !== undefined) return printed;
  if (place.in === 'after-value' && text[at - 1] === '"' && /[\p{L}\p{N}]/u.test(char))
    return String.raw`; if the text goes on here, the quote before it is written \"`;
  if (place.isRoot && place.in === 'value') return '';
  const rest = text.slice(at, at + MAX_LOOKED_AT);
  const slip = SLIPS.find(([where, form]) => where === place.in && form.test(rest))?.[2];
  return slip === undefined ? '' : `; ${slip}`;
}
