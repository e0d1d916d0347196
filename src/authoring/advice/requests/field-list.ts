/* The fields of a request beside what reads them: who looks for the right name sees the wrong one and its neighbours. */
import { kindHeaders } from '../vocabulary/events.ts';
import { type FieldList, type RequestField } from './evaluation-advice.ts';
import { type Evaluation } from '../../../engine/hook/hook.ts';
import { isJsonObject, valueAt, type JsonValue } from '../../../base/json.ts';
import type { ConsideredMapping } from '../../../engine/mapping/mapping.ts';
import { isReserved, namesRead } from '../../../engine/mapping/facts.ts';
import type { HookRequest } from '../../../base/request.ts';
import { SECRET_KEY } from '../../../base/telemetry/telemetry.ts';

/** Fields listed of one request. */
const MAX_LISTED = 30;
/** Fields of one body among which those listed are chosen; the others are counted. */
const MAX_FIELDS = 2000;
const MAX_DEPTH = 12;
/** Paths listed that were read and are missing; what rendered empty is told elsewhere, each with its place. */
const MAX_MISSING = 12;
/** Characters of a value that is listed. */
const MAX_VALUE = 100;

/** The settings that read a path, by the path from the root (`payload.user.name`), lists at their first element. */
type Readers = ReadonlyMap<string, ReadonlySet<string>>;

/** Lists what was read and what stands beside it; of a short body every field. */
export function listFields(evaluation: Evaluation, request: HookRequest): FieldList {
  const readers = readersOf(evaluation);
  const { found, total } = fieldsOf(request.payload, readers);
  const known = new Set(found.map(({ path }) => path));
  const others = [...new Set([...readers.keys(), ...ofKinds(request)])]
    .filter((path) => !known.has(path))
    .map((path) => readFieldAt(path, request));
  // A block that goes through the fields of an object reads of each text what an element has.
  const missing = others
    .filter(
      ({ path, value }) => value === undefined && readFieldAt(parentOf(path), request).value?.[0] !== '"',
    )
    .slice(0, MAX_MISSING);
  const all = [...found, ...others.filter(({ value }) => value !== undefined), ...missing].map(
    (field): ReadField => ({ ...field, by: readersOfField(field, readers) }),
  );
  const chosen = choose(all);
  const { mapping } = evaluation;
  const element = mapping?.forEach === undefined ? undefined : `${fromRoot(mapping.forEach.text)}.0.`;
  const listed = all
    .filter((field) => chosen.has(field))
    .map(({ keys, ...field }) => ({ ...field, path: written(keys, field, { element, request }) }));
  return { fields: listed, more: total - found.length + all.length - listed.length };
}

/** Headers that name the kind of event, which many mappings should read and do not. */
const ofKinds = ({ headers }: HookRequest): readonly string[] =>
  kindHeaders(headers).map((name) => `headers.${name}`);

/** A condition cannot read a key with a dot in it, whatever it asks for. */
function readersOfField({ path, keys }: Unread, readers: Readers): readonly string[] {
  const isSplit = keys.some((key) => key.includes('.'));
  return [...(readers.get(path) ?? [])].filter((reader) => !isSplit || reader !== 'when');
}

/**
 * As a template writes it: the element of `forEach` by its name, and `payload.` only before a name that would else mean
 * another thing, or that is missing where the body has a field `payload`.
 */
function written(
  keys: readonly string[],
  { path, value }: Pick<RequestField, 'path' | 'value'>,
  { element, request }: { readonly element: string | undefined; readonly request: HookRequest },
): string {
  const [root, name = ''] = keys;
  const hasPayload = isJsonObject(request.payload) && Object.hasOwn(request.payload, 'payload');
  const isWhole =
    root !== 'payload' || name === '' || isReserved(name) || (hasPayload && value === undefined);
  const own =
    element !== undefined && path.startsWith(element)
      ? ['item', ...keys.slice(element.split('.').length - 1)]
      : undefined;
  const needed = own ?? (isWhole ? keys : keys.slice(1));
  return needed.map((key) => (/[./[\]\s]/.test(key) ? `[${key}]` : key)).join('.');
}

/** Fields that are read come first, then those beside them, then those nearest to the root. */
function choose(all: readonly ReadField[]): ReadonlySet<ReadField> {
  const parents = new Set(all.filter(({ by }) => by.length > 0).map(({ path }) => parentOf(path)));
  const rank = ({ path, by }: ReadField): number => {
    if (by.length > 0) return 0;
    if (path.startsWith('headers.')) return 1;
    return parents.has(parentOf(path)) ? 1 : 1 + path.split('.').length;
  };
  return new Set(all.toSorted((a, b) => rank(a) - rank(b)).slice(0, MAX_LISTED));
}

function parentOf(path: string): string {
  return path.slice(0, Math.max(0, path.lastIndexOf('.')));
}

/** A field with the steps to it. */
type ReadField = RequestField & { readonly keys: readonly string[] };
type Unread = Omit<ReadField, 'by'>;

/** Fields that hold no other ones, and those that are read as a whole; of a list its first element. */
function fieldsOf(
  payload: JsonValue,
  readers: Readers,
): { readonly found: readonly Unread[]; readonly total: number } {
  const beside = new Set([...readers.keys()].map(parentOf));
  const found: Unread[] = [];
  let total = 0;
  const walk = (value: JsonValue, keys: readonly string[], note: string): void => {
    const path = keys.join('.');
    const entries = entriesOf(value);
    const isLeaf = entries.length === 0 || keys.length > MAX_DEPTH;
    if (keys.length > 1 && (isLeaf || readers.has(path))) {
      total += 1;
      if (total <= MAX_FIELDS || readers.has(path) || beside.has(parentOf(path)))
        found.push({ path, keys, value: shown(keys, value, note) });
    }
    if (isLeaf) return;
    const of = Array.isArray(value) && value.length > 1 ? ` (first of ${value.length})` : note;
    for (const [key, inner] of entries) walk(inner, [...keys, key], of);
  };
  walk(payload, ['payload'], '');
  return { found, total };
}

function entriesOf(value: JsonValue): readonly (readonly [string, JsonValue])[] {
  if (Array.isArray(value))
    return value.length === 0 ? [] : [['0', (value as readonly JsonValue[])[0] ?? null]];
  return isJsonObject(value) ? Object.entries(value) : [];
}

/** A path that is read and is no field of the body: of headers or the query, or missing. */
function readFieldAt(path: string, { headers, query, path: name, payload }: HookRequest): Unread {
  const keys = path.split('.');
  const value = valueAt({ headers, query, path: name, payload }, keys);
  return { path, keys, ...(value === undefined ? {} : { value: shown(keys, value) }) };
}

/** A value in one line, cut, secrets left out. */
export function shown(keys: readonly string[], value: JsonValue, note = ''): string {
  if (Array.isArray(value)) return value.length === 0 ? '[]' : `a list of ${value.length}`;
  if (isJsonObject(value)) {
    const count = Object.keys(value).length;
    return count === 0 ? '{}' : `an object with ${count} field${count === 1 ? '' : 's'}`;
  }
  if (typeof value === 'string' && keys.some((key) => SECRET_KEY.test(key))) return '…';
  const text = JSON.stringify(value);
  return `${text.length > MAX_VALUE ? `${text.slice(0, MAX_VALUE - 2)}…"` : text}${note}`;
}

/** What reads which path: templates that were rendered, and the conditions of the mapping taken or nearly so. */
function readersOf({ mapping, trace }: Evaluation): Readers {
  const readers = new Map<string, Set<string>>();
  const add = (path: string, by: string): void => {
    const known = readers.get(path);
    if (known === undefined) readers.set(path, new Set([by]));
    else known.add(by);
  };
  const list = mapping?.forEach === undefined ? undefined : fromRoot(mapping.forEach.text);
  if (list !== undefined) add(list, 'forEach');
  for (const { nodes = [] } of nearest(trace.considered)) {
    const names = nodes.flatMap(({ leaf, rule }) => (leaf ? namesRead(rule) : []));
    for (const name of names) add(inList(name, list), 'when');
  }
  for (const { field, source } of trace.templates) {
    for (const path of source === undefined ? [] : pathsOf(source)) add(inList(path, list), field);
  }
  for (const path of NOT_LISTED) readers.delete(path);
  return readers;
}

/** Nothing where the body is too much for the template, which the answer tells. */
function pathsOf({ template, scope }: RenderedSource): readonly string[] {
  try {
    return template.paths(scope);
  } catch {
    return [];
  }
}

type RenderedSource = NonNullable<Evaluation['trace']['templates'][number]['source']>;

/** What every request has, or what would be the whole of it. */
const NOT_LISTED = ['now', 'index', 'item', 'path', 'payload', 'headers', 'query', 'payload.'];

/** The mapping that took the request, or else those whose condition failed. */
function nearest(considered: readonly ConsideredMapping[]): readonly ConsideredMapping[] {
  const taken = considered.filter(({ matched }) => matched);
  return taken.length > 0 ? taken : considered.filter(({ failed }) => failed?.part === 'when');
}

/** From the root, elements of `forEach` at their list, and each list at its first element. */
function inList(path: string, list: string | undefined): string {
  const full = list !== undefined && /^item(?:\.|$)/.test(path) ? path.replace(/^item/, `${list}.0`) : path;
  return fromRoot(full).replaceAll(/\.\d+(?=\.|$)/g, '.0');
}

function fromRoot(path: string): string {
  return isReserved(path.split('.', 1)[0] ?? '') ? path : `payload.${path}`;
}
