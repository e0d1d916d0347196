import { isJsonObject, isNumeric } from '../../json.ts';
import { textOf } from './json-text.ts';
import { unnamedField } from './printed-json.ts';
import { timeOf } from './template-date.ts';
import { type Argument, fieldReader } from './template-helpers.ts';

/** Elements of a list that are looked at. */
const MAX_LOOKED_AT = 100;

/** Helpers that work on a text. */
const ON_TEXTS: ReadonlySet<string> = new Set(['truncate', 'lower', 'upper', 'trim', 'lines', 'date']);

/**
 * Why arguments are of no use to a helper: it prints something all the same, and nobody is told. Names the helper and the
 * kind of what it got, nothing of the payload.
 */
export function findUnfit(name: string, [first, , field]: readonly Argument[]): string | undefined {
  if (first === undefined || first === null) return undefined;
  if (name === 'join') return unfitList(first, field);
  if (ON_TEXTS.has(name) && (Array.isArray(first) || isJsonObject(first))) {
    return `{{${name}}} takes a text and got ${Array.isArray(first) ? 'a list' : 'an object'}, whose JSON it takes: name one of its fields`;
  }
  if (name === 'date' && typeof first === 'string' && first.trim() !== '' && !isTime(first)) {
    return '{{date}} got a text that is neither ISO 8601 (2026-11-22T14:03:00Z) nor a number since 1970, and prints it as it is: print it without date, or read it in a transform';
  }
  if (name === 'length' && (isNumeric(first) || typeof first === 'boolean')) {
    return '{{length}} counts elements, fields or characters, and got a number or boolean';
  }
  return undefined;
}

const isTime = (text: string): boolean => !Number.isNaN(timeOf(text)?.getTime() ?? Number.NaN);

function unfitList(list: NonNullable<Argument>, field: Argument): string | undefined {
  if (!Array.isArray(list)) return '{{join}} takes a list, and got none';
  const objects = (list as readonly Argument[])
    .slice(0, MAX_LOOKED_AT)
    .filter((element) => isJsonObject(element));
  if (objects.length === 0) return undefined;
  if (field === undefined) return unnamedField(objects);
  const read = fieldReader(textOf(field));
  const hasField = objects.some((element) => element !== undefined && read(element) !== undefined);
  return hasField ? undefined : '{{join}} got a list of objects, and none has the field that it is to print';
}

/** Texts that people take for "no". */
const NO: ReadonlySet<string> = new Set(['false', 'no', 'off', '0', 'null']);

/** What holds for the value itself, too: some senders write true, and others "true". */
const butNot = (path: string, value: string): string => `(and ${path} (ne ${path} "${value}"))`;

/** Why a block with a text such as "false" takes the side that was not meant; `opening` is as written: `{{#if paid}}`. */
export function findNo(opening: string, value: string): string | undefined {
  if (!NO.has(value.trim().toLowerCase())) return undefined;
  const [, block = 'if', path = ''] = /^\{\{~?\s*#(if|unless)\s+([\w.@/[\]-]+)/.exec(opening) ?? [];
  const remedy = path === '' ? 'compare it with (ne …)' : `write {{#${block} ${butNot(path, value)}}}`;
  return `${path === '' ? `a block {{#${block}}}` : path} got the text "${value}", and every text but the empty one counts as true: ${remedy}`;
}
