/*
 * A template that prints a list of objects, or an object, and so writes JSON where a person reads words. Names the
 * fields that are there, nothing of what is in them.
 */
import { isJsonObject, type JsonObject, type JsonValue } from '../../json.ts';
import type { RenderTrace, Scope } from '../compiled-mapping.ts';
import type { Argument } from './template-helpers.ts';

/** Elements of a list that are looked at, and fields that are named. */
const MAX_LOOKED_AT = 100;
const MAX_FIELDS = 6;

/** Fields that say in a word what a thing is, the best first. */
const NAMES = [
  'name',
  'title',
  'label',
  'text',
  'full_name',
  'displayName',
  'display_name',
  'subject',
  'login',
  'username',
  'email',
  'key',
  'slug',
  'id',
];

/** What is written where only the value of `join` is known, until the expression tells its path. */
const UNNAMED = '{{join list ';

/** Notes an expression whose value is JSON in what it prints; the whole body, or a whole element, is meant to be. */
export function notePrinted(
  { printed }: RenderTrace,
  { request, item }: Scope,
  printedAs: { readonly text: string; readonly value: JsonValue },
): void {
  const { text, value } = printedAs;
  if (printed === undefined || typeof value !== 'object' || value === null) return;
  if (value === request.payload || value === item) return;
  const problem = findPrintedJson(text, value);
  if (problem !== undefined && !printed.includes(problem)) printed.push(problem);
}

/** Says what to write in place of an expression that prints a value as JSON; `expression` is as written. */
function findPrintedJson(expression: string, value: JsonValue): string | undefined {
  // What a helper made is what was asked for; the whole body is, too.
  if (!/^(?:[\w@./-]|\[[^\]]*\])+$/.test(expression)) return undefined;
  if (/^(?:payload|item|headers|query|@root)$/.test(expression)) return undefined;
  const objects = objectsOf(value);
  const [first] = objects;
  if (first === undefined) return undefined;
  const field = nameOf(first);
  const what = Array.isArray(value) ? `a list of ${countOf(value.length)}` : 'an object';
  const meant = `{{json ${expression}}} where JSON is meant`;
  const write = Array.isArray(value)
    ? `{{join ${expression} ", " "${field ?? 'name'}"}}`
    : `{{${expression}.${field ?? 'name'}}}`;
  return `{{${expression}}} is ${what} and is written as JSON: write ${field === undefined ? meant : `${write}${fieldsOf(first)}, or ${meant}`}`;
}

const countOf = (count: number): string => `${count} object${count === 1 ? '' : 's'}`;

/** What is said of `join` over objects without a field. */
export function unnamedField(list: Argument): string {
  const [first = {}] = objectsOf(list);
  return `{{join}} got a list of objects and prints each as JSON: name the field to print, ${UNNAMED}", " "${nameOf(first) ?? 'name'}"}}${fieldsOf(first)}`;
}

/** Puts the path that an expression joins where only the value of it was known. */
export function nameJoined(unfit: string[], expression: string): void {
  const at = unfit.findIndex((text) => text.includes(UNNAMED));
  const [, path] = /(?:^|\()\s*join\s+([\w@.[\]-]+)/.exec(expression) ?? [];
  const problem = unfit[at];
  if (problem === undefined || path === undefined) return;
  const named = problem.replace(UNNAMED, `{{join ${path} `);
  if (named === problem) return;
  if (unfit.includes(named)) unfit.splice(at, 1);
  else unfit[at] = named;
}

/** An object itself, or those of a list that has nothing else. */
function objectsOf(value: JsonValue | undefined): readonly JsonObject[] {
  if (isJsonObject(value)) return Object.keys(value).length === 0 ? [] : [value];
  if (!Array.isArray(value)) return [];
  const looked = (value as readonly JsonValue[]).slice(0, MAX_LOOKED_AT);
  const objects = looked.filter((element) => isJsonObject(element));
  return objects.length < looked.length ? [] : objects.filter((each) => Object.keys(each).length > 0);
}

const isWritable = (key: string): boolean => /^[A-Za-z_][\w-]{0,39}$/.test(key);
const isText = (value: JsonValue | undefined): boolean => typeof value === 'string' && value !== '';

function nameOf(object: JsonObject): string | undefined {
  const has = (key: string): boolean =>
    Object.hasOwn(object, key) && ['string', 'number'].includes(typeof object[key]);
  return NAMES.find(has) ?? Object.keys(object).find((key) => isWritable(key) && isText(object[key]));
}

function fieldsOf(object: JsonObject): string {
  const keys = Object.keys(object).filter(isWritable);
  const rest = keys.length > MAX_FIELDS ? ', …' : '';
  return keys.length === 0 ? '' : ` (fields: ${keys.slice(0, MAX_FIELDS).join(', ')}${rest})`;
}
