/* The fields of a request beside what reads them: who looks for the right name sees the wrong one and its neighbours. */
import { kindHeaders } from '../vocabulary/events.ts';
import { type FieldList, type RequestField } from './evaluation-advice.ts';
import { type Evaluation } from '../../hook/hook.ts';
import { isJsonObject, valueAt, type JsonValue } from '../../json.ts';
import type { ConsideredMapping } from '../../mapping/mapping.ts';
import { isReserved, namesRead } from '../../mapping/facts.ts';
import type { HookRequest } from '../../request.ts';
import { SECRET_KEY } from '../../telemetry/telemetry.ts';

/** Fields listed of one request. */
const MAX_LISTED = 30;
/** Fields of one body among which those listed are chosen; the others are counted. */
const MAX_FIELDS = 2000;
const MAX_DEPTH = 12;
/** Paths listed that were read and are missing; what rendered empty is told elsewhere, each with its place. */
const MAX_MISSING = 12;
/** Elements listed of a list whose name is read as if it were an object. */
const MAX_ELEMENTS = 3;
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
    .map((path) => readFieldAt(path, request))
    .map((field) => (field.value === undefined ? inOtherElement(field, evaluation, request) : field));
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
  const names = namesFor(evaluation, request);
  const listed = all
    .filter((field) => chosen.has(field))
    .map(({ keys, ...field }) => ({ ...field, path: written(keys, field, names) }));
  return { fields: listed, more: total - found.length + all.length - listed.length };
}

/** What the first element of `forEach` does not have, as the first of the others has it. */
function inOtherElement(field: Unread, { mapping }: Evaluation, request: HookRequest): Unread {
  const list = mapping?.forEach === undefined ? '' : fromRoot(mapping.forEach.text);
  const elements = list === '' ? undefined : valueAt({ ...request }, list.split('.'));
  if (!Array.isArray(elements) || !field.path.startsWith(`${list}.0.`)) return field;
  const keys = field.path.slice(list.length + 3).split('.');
  const count = elements.length;
  const at = (elements as readonly JsonValue[]).findIndex((each) => valueAt(each, keys) !== undefined);
  const value = at === -1 ? undefined : valueAt(elements[at] as JsonValue, keys);
  return value === undefined
    ? field
    : { ...field, value: shown(keys, value, ` (element ${at + 1} of ${count}; the first has none)`) };
}

/** Headers that name the kind of event, which many mappings should read and do not. */
const ofKinds = ({ headers }: HookRequest): readonly string[] =>
  kindHeaders(headers).map((name) => `headers.${name}`);

/** A condition cannot read a key with a dot in it, whatever it asks for. */
function readersOfField({ path, keys }: Unread, readers: Readers): readonly string[] {
  const isSplit = keys.some((key) => key.includes('.'));
  return [...(readers.get(path) ?? [])].filter((reader) => !isSplit || reader !== 'when');
}

/** What decides how a path is written. */
interface WrittenNames {
  /** The path of the first element of `forEach`, with a dot. */
  readonly element: string | undefined;
  /** Whether the mapping writes `payload.` before all its paths. */
  readonly isRooted: boolean;
  /** Whether the body has a field of the name by which it is read as a whole. */
  readonly hasPayload: boolean;
}

function namesFor(evaluation: Evaluation, { payload }: HookRequest): WrittenNames {
  const { mapping } = evaluation;
  const list = mapping?.forEach === undefined ? undefined : fromRoot(mapping.forEach.text);
  return {
    element: list === undefined ? undefined : `${list}.0.`,
    isRooted: writesRoot(evaluation),
    hasPayload: isJsonObject(payload) && Object.hasOwn(payload, 'payload'),
  };
}

/** Whether the mapping writes `payload.` before all its paths of the body, as a transform does. */
function writesRoot({ mapping, trace }: Evaluation): boolean {
  const names = nearest(trace.considered).flatMap(({ nodes = [] }) => namesRead(nodes[0]?.rule ?? null));
  const roots = [
    ...names.map((name) => name.split('.', 1)[0] ?? ''),
    ...trace.templates.flatMap(({ source }) => source?.template.reads ?? []),
  ];
  const isTransform = mapping?.transform !== undefined;
  return (isTransform || roots.includes('payload')) && roots.every(isReserved);
}

/**
 * As the mapping writes it: the element of `forEach` by its name, and `payload.` only before a name that would else mean
 * another thing, or that is missing where the body has a field `payload`.
 */
function written(
  keys: readonly string[],
  { path, value }: Pick<RequestField, 'path' | 'value'>,
  { element, isRooted, hasPayload }: WrittenNames,
): string {
  const [root, name = ''] = keys;
  const isWhole =
    isRooted || root !== 'payload' || name === '' || isReserved(name) || (hasPayload && value === undefined);
  const own =
    element !== undefined && path.startsWith(element)
      ? ['item', ...keys.slice(element.split('.').length - 1)]
      : undefined;
  const needed = own ?? (isWhole ? keys : keys.slice(1));
  return needed.map((key) => (/[./[\]\s]/.test(key) ? `[${key}]` : key)).join('.');
}

/** Paths of what is said of a request that its list has not yet. */
const MAX_NAMED = 8;
const PATH = /(?<![\w./{-])[A-Za-z_][\w-]*(?:\.[\w-]+)+/g;

/** The list with what notes name, so that it can be looked at: a header that is in no template, for one. */
export function listNamed(list: FieldList, texts: readonly string[], request: HookRequest): FieldList {
  const known = new Set(list.fields.map(({ path }) => fromRoot(path)));
  const named = new Set(
    texts.flatMap((text) => text.match(PATH) ?? []).filter((path) => !known.has(fromRoot(path))),
  );
  // An object whose fields are listed is seen by them.
  const isSeen = (path: string): boolean =>
    list.fields.some((field) => fromRoot(field.path).startsWith(`${fromRoot(path)}.`));
  const found = [...named]
    .filter((path) => !isSeen(path))
    .map((path) => ({ path: asListed(path, list), value: readFieldAt(fromRoot(path), request).value }))
    .flatMap(({ path, value }): readonly RequestField[] =>
      value === undefined ? [] : [{ path, value, by: [] }],
    )
    .slice(0, MAX_NAMED);
  const { fields, more } = list;
  const at = fields.findIndex(({ value }) => value === undefined);
  const end = at === -1 ? fields.length : at;
  return { fields: [...fields.slice(0, end), ...found, ...fields.slice(end)], more };
}

/** As the paths of the list are written: with `payload.` before all of them, or before none that does not need it. */
function asListed(path: string, { fields }: FieldList): string {
  const isRooted =
    fields.length > 0 && fields.every((field) => isReserved(field.path.split('.', 1)[0] ?? ''));
  if (isRooted) return fromRoot(path);
  const plain = path.replace(/^payload\./, '');
  return isReserved(plain.split('.', 1)[0] ?? '') ? path : plain;
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
    const entries = entriesOf(value, isReadThrough(path, readers) ? MAX_ELEMENTS : 1);
    const isLeaf = entries.length === 0 || keys.length > MAX_DEPTH;
    if (keys.length > 1 && (isLeaf || readers.has(path))) {
      total += 1;
      if (total <= MAX_FIELDS || readers.has(path) || beside.has(parentOf(path)))
        found.push({ path, keys, value: shown(keys, value, note) });
    }
    if (isLeaf) return;
    const of = Array.isArray(value) ? partNote(entries.length, value.length) || note : note;
    for (const [key, inner] of entries) walk(inner, [...keys, key], of);
  };
  walk(payload, ['payload'], '');
  return { found, total };
}

function entriesOf(value: JsonValue, elements: number): readonly (readonly [string, JsonValue])[] {
  if (Array.isArray(value)) {
    const first = (value as readonly JsonValue[]).slice(0, elements);
    return first.map((each, index) => [String(index), each]);
  }
  return isJsonObject(value) ? Object.entries(value) : [];
}

/** Whether a path goes on within a list by a name: the element that is meant may be any of them. */
const isReadThrough = (list: string, readers: Readers): boolean =>
  [...readers.keys()].some((path) => path.startsWith(`${list}.`) && !/^\d/.test(path.slice(list.length + 1)));

/** How many of the elements are listed, where some are not. */
function partNote(listed: number, length: number): string {
  if (listed >= length) return '';
  return ` (first ${listed === 1 ? '' : `${listed} `}of ${length})`;
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
