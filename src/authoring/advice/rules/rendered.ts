/** Finds printed values that are hardly meant so. Findings name fields and quote nothing of their values. */
import { isJsonObject, type JsonObject, type JsonValue } from '../../../base/json.ts';
import type { PrintedJson } from '../../../engine/mapping/mapping.ts';
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

export const RENDERED: Rules = {
  printed_json: [({ printed }) => [...new Set(printed.map(forPrinted))].join('; ')],
};
