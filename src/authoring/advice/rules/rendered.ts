/**
 * Finds printed values and arguments of helpers that are hardly meant so. Findings name fields and quote
 * nothing of their values.
 */
import { isJsonObject, type JsonObject, type JsonValue } from '../../../base/json.ts';
import type { PrintedJson, UnfitArgument } from '../../../engine/mapping/mapping.ts';
import type { Rules } from '../rule.ts';

const MAX_FIELDS = 6;

const isWritable = (key: string): boolean => /^[A-Za-z_][\w-]{0,39}$/.test(key);

function fieldsOf(object: JsonObject): string {
  const keys = Object.keys(object).filter(isWritable);
  const rest = keys.length > MAX_FIELDS ? ', …' : '';
  return keys.length === 0 ? '' : ` (fields: ${keys.slice(0, MAX_FIELDS).join(', ')}${rest})`;
}

function firstObject(value: JsonValue): JsonObject {
  const objects = Array.isArray(value) ? (value as readonly JsonValue[]) : [value];
  return objects.find((each) => isJsonObject(each) && Object.keys(each).length > 0) as JsonObject;
}

function forPrinted({ expression, value }: PrintedJson): string {
  const first = firstObject(value);
  // The value is an element of XML that has attributes.
  if (!Array.isArray(value) && Object.hasOwn(first, '#text'))
    return `write {{${expression}.[#text]}}, its text`;
  const [field] = Object.keys(first).filter(isWritable);
  const asJson = `{{json ${expression}}} where JSON is meant`;
  if (field === undefined) return `write ${asJson}`;
  const own = Array.isArray(value) ? `{{join ${expression} ", " "FIELD"}}` : `{{${expression}.FIELD}}`;
  return `name the field to print, ${own}${fieldsOf(first)}, or write ${asJson}`;
}

function forUnfit(unfit: UnfitArgument): string | undefined {
  if (unfit.kind === 'structure') return 'name one of its fields';
  if (unfit.kind === 'no-offset')
    return 'leave tz out, if the sender writes the time of its own clocks: then it is printed as it stands';
  if (unfit.kind === 'objects') {
    const [, path = 'list'] = /(?:^|\()\s*join\s+([\w@.[\]-]+)/.exec(unfit.expression ?? '') ?? [];
    const first = isJsonObject(unfit.first) ? unfit.first : {};
    return `name the field to print, {{join ${path} ", " "FIELD"}}${fieldsOf(first)}`;
  }
  if (unfit.kind !== 'no') return undefined;
  const [, block, path] = /^\{\{~?\s*#(if|unless)\s+([\w.@/[\]-]+)/.exec(unfit.opening) ?? [];
  // The condition must hold for the value itself, too: some senders write true, and others "true".
  return block === undefined || path === undefined
    ? 'compare it with (ne …)'
    : `write {{#${block} (and ${path} (ne ${path} "${unfit.value}"))}}`;
}

const together = (hints: readonly (string | undefined)[]): string | undefined => {
  const all = [...new Set(hints.filter((one) => one !== undefined))];
  return all.length === 0 ? undefined : all.join('; ');
};

export const RENDERED: Rules = {
  helper_argument: [({ unfit }) => together(unfit.map(forUnfit))],
  printed_json: [({ printed }) => together(printed.map(forPrinted))],
};
