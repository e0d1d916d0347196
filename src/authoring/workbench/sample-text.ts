import { isReserved, listHelpers, templatePath } from '../../engine/mapping/facts.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '../../base/json.ts';

/** A person removes lines more often than adding some. */
const MAX_LINES = 12;
const MAX_DEPTH = 3;
const LONG_CHARS = 200;

const TELLING = [
  /^(title|subject|summary|headline)$/i,
  /^(message|text|body|description|content|comment|reason|error)$/i,
  /^(name|full_name|display_name|login|username|user|author|from|sender)$/i,
  /^(status|state|level|severity|priority|action|result|conclusion)$/i,
  /(amount|total|price|count|value|number)$/i,
  /^(email|to|channel|host|service|project|environment|branch|ref|version)$/i,
  /^(html_url|web_url|url|link|permalink)$/i,
  /(_at|_on|date|time|timestamp)$/i,
];

interface Leaf {
  readonly path: readonly string[];
  readonly value: JsonValue;
  readonly rank: number;
}

/** Writes a first message template for a payload: its telling fields, one a line. */
export function messageLines(payload: JsonValue): readonly string[] {
  if (!isJsonObject(payload)) {
    return Array.isArray(payload) ? listLines('payload', payload as readonly JsonValue[]) : ['{{payload}}'];
  }
  const leaves = leavesOf(payload, []).toSorted((a, b) => a.rank - b.rank);
  const lines = leaves.slice(0, MAX_LINES).map(({ path, value }) => {
    // A helper's name with an argument behind it would be a call.
    const place = path.length === 1 ? `payload.${templatePath(path)}` : fieldInTemplate(path);
    const isLong = typeof value === 'string' && value.length > LONG_CHARS;
    return `${path.join(' ')}: {{${isLong ? `truncate ${place} 2000` : place}}}`;
  });
  const lists = Object.entries(payload).flatMap(([key, value]) =>
    Array.isArray(value) && isPlainKey(key)
      ? listLines(`payload.${templatePath([key])}`, value as readonly JsonValue[])
      : [],
  );
  const all = [...lines, ...lists];
  return all.length === 0 ? ['{{json payload}}'] : all;
}

function leavesOf(holder: JsonObject, path: readonly string[]): readonly Leaf[] {
  return Object.entries(holder).flatMap(([key, value]): readonly Leaf[] => {
    if (!isPlainKey(key) || value === null || value === '') return [];
    const here = [...path, key];
    if (isJsonObject(value)) return here.length < MAX_DEPTH ? leavesOf(value, here) : [];
    if (Array.isArray(value)) return [];
    const telling = TELLING.findIndex((pattern) => pattern.test(key));
    if (telling === -1 && here.length > 1) return [];
    return [{ path: here, value, rank: (telling === -1 ? TELLING.length : telling) * 10 + here.length }];
  });
}

function listLines(place: string, list: readonly JsonValue[]): readonly string[] {
  const [first] = list;
  if (first === undefined) return [];
  const title = place.replace(/^payload\.?/, '').replace(/^\[(.*)\]$/, '$1') || 'elements';
  if (!isJsonObject(first)) return [`${title}: {{join ${place} ", "}}`];
  const fields = leavesOf(first, [])
    .toSorted((a, b) => a.rank - b.rank)
    .slice(0, 3)
    .map(({ path }) => `{{${fieldInTemplate(path, 'this')}}}`);
  const line = fields.length === 0 ? '{{json this}}' : fields.join(', ');
  return [`${title} ({{length ${place}}}):`, `{{#each ${place}}}`, `- ${line}`, '{{/each}}'];
}

const isPlainKey = (key: string): boolean => /^[A-Za-z_][\w-]{0,60}$/.test(key);

const HELPER_NAMES: ReadonlySet<string> = new Set(listHelpers().map(({ name }) => name));

/**
 * Writes a field of the payload, or of the element that is `this` in a block. A name that means something
 * else at the root of a template has its holder before it.
 */
export function fieldInTemplate(keys: readonly string[], holder: 'payload' | 'this' = 'payload'): string {
  const [first = ''] = keys;
  const isBare = !isReserved(first) && !HELPER_NAMES.has(first) && templatePath([first]) === first;
  return `${isBare ? '' : `${holder}.`}${templatePath(keys)}`;
}
