/*
 * What a template did with values that are of no use to it, or hardly meant so: a helper printed something all the same, and
 * nobody is told. Noted only where a list is given for it; what is said names kinds, nothing of the payload.
 */
import { isJsonObject, type JsonValue } from '../../../base/json.ts';
import { isUnkept } from '../../../base/request.ts';
import type { PrintedJson, RenderTrace, Scope, Unfit } from '../compiled-mapping.ts';
import { textOf } from './json-text.ts';
import { hasNoOffset, timeOf } from './template-date.ts';
import { type Argument, fieldReader } from './template-helpers.ts';

/** Elements of a list that are looked at. */
const MAX_LOOKED_AT = 100;

/** Helpers that work on a text. */
const ON_TEXTS: ReadonlySet<string> = new Set(['truncate', 'lower', 'upper', 'trim', 'lines', 'date']);

/** A call of a helper. */
interface Called {
  readonly name: string;
  readonly values: readonly Argument[];
  readonly named: Readonly<Record<string, Argument>>;
}

/** Notes arguments that are of no use to a helper. */
export function noteArguments({ unfit }: RenderTrace, { name, values, named }: Called): void {
  const isZoned = (named['tz'] ?? 'UTC') !== 'UTC';
  const found = unfit === undefined ? undefined : findUnfit(name, values, isZoned);
  if (found !== undefined) addNew(unfit ?? [], found);
}

function addNew<Each>(list: Each[], one: Each): void {
  const text = JSON.stringify(one);
  if (!list.some((each) => JSON.stringify(each) === text)) list.push(one);
}

function findUnfit(name: string, [first, , field]: readonly Argument[], isZoned: boolean): Unfit | undefined {
  if (first === undefined || first === null || isUnkept(first)) return undefined;
  if (name === 'join') return unfitList(first, field);
  if (ON_TEXTS.has(name) && (Array.isArray(first) || isJsonObject(first)))
    return { kind: 'structure', helper: name, isList: Array.isArray(first) };
  if (name !== 'date' || typeof first !== 'string' || first.trim() === '') return undefined;
  if (!isTime(first)) return { kind: 'no-time' };
  return isZoned && hasNoOffset(first) ? { kind: 'no-offset' } : undefined;
}

const isTime = (text: string): boolean => !Number.isNaN(timeOf(text)?.getTime() ?? Number.NaN);

function unfitList(list: NonNullable<Argument>, field: Argument): Unfit | undefined {
  if (!Array.isArray(list)) return undefined;
  const objects = (list as readonly JsonValue[]).slice(0, MAX_LOOKED_AT).filter((each) => isJsonObject(each));
  const [first] = objects;
  if (first === undefined) return undefined;
  const read = field === undefined ? undefined : fieldReader(textOf(field));
  const isThere = read !== undefined && objects.some((each) => read(each) !== undefined);
  return isThere ? undefined : { kind: 'objects', first };
}

/** Texts that people take for "no". */
const NO: ReadonlySet<string> = new Set(['false', 'no', 'off', '0', 'null']);

/** Notes a text such as "false" that decides a block, and holds as every text but the empty one does. */
export function noteNo({ unfit }: RenderTrace, opening: string, value: string): void {
  if (unfit !== undefined && NO.has(value.trim().toLowerCase()))
    addNew(unfit, { kind: 'no', opening, value });
}

/** Notes what an expression printed; the whole body, or a whole element, is meant to be JSON. */
export function notePrinted(
  { unfit, printed }: RenderTrace,
  { request, item }: Scope,
  one: PrintedJson,
): void {
  const { expression, value } = one;
  // What was called within it did not know where it stood.
  for (const each of unfit ?? []) if (each.kind === 'objects') each.expression ??= expression;
  if (printed === undefined || typeof value !== 'object' || value === null) return;
  if (value === request.payload || value === item) return;
  // What a helper made is what was asked for; the whole body is, too.
  const isPath = /^(?:[\w@./-]|\[[^\]]*\])+$/.test(expression);
  if (!isPath || /^(?:payload|item|headers|query|@root)$/.test(expression)) return;
  if (holdsObjects(value) && !printed.some((each) => each.expression === expression)) printed.push(one);
}

function holdsObjects(value: JsonValue): boolean {
  const looked = Array.isArray(value) ? (value as readonly JsonValue[]).slice(0, MAX_LOOKED_AT) : [value];
  const isEmpty = (each: JsonValue): boolean => isJsonObject(each) && Object.keys(each).length === 0;
  return looked.every((each) => isJsonObject(each)) && !looked.every(isEmpty);
}

/** What was found, in words. */
export function unfitText(unfit: Unfit): string {
  switch (unfit.kind) {
    case 'structure':
      return `{{${unfit.helper}}} takes a text and got ${unfit.isList ? 'a list' : 'an object'}, whose JSON it takes`;
    case 'no-time':
      return '{{date}} got a text that is neither a time of ISO 8601 (2026-11-22T14:03:00Z) nor a number since 1970, and prints it as it is';
    case 'no-offset':
      return '{{date}} got a time without an offset, takes it for UTC, and prints it as the clocks of tz had it';
    case 'objects':
      return '{{join}} got a list of objects, and no field that they have';
    case 'no':
      return `${/^\{\{~?\s*#\w+\s+([\w.@/[\]-]+)/.exec(unfit.opening)?.[1] ?? 'a block'} got the text "${unfit.value}", and every text but the empty one counts as true`;
  }
}

/** The same of an expression. */
export function printedText({ expression, value }: PrintedJson): string {
  const count = Array.isArray(value) ? value.length : 0;
  const what = Array.isArray(value) ? `a list of ${count} object${count === 1 ? '' : 's'}` : 'an object';
  return `{{${expression}}} is ${what} and is written as JSON`;
}
