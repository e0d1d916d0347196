/**
 * Completes mapping files and transforms: keys and their values, hook names, operators, helpers, and paths
 * with the values that requests have there. The console and the language server share it.
 */
import { plural } from '../../base/finding.ts';
import type { HookRequest } from '../../base/request.ts';
import { ExactNumber, type JsonValue, valueAt } from '../../base/json.ts';
import { listHelpers, mappingJsonSchema } from '../../engine/mapping/facts.ts';
import { withoutPayload } from '../../engine/mapping/mapping.ts';
import { blockAt, type Cursor, forEachAt, hookNameAt, lineBefore, wordAt } from './cursor.ts';

/** A choice, in the form of CodeMirror's completions. */
export interface CompletionChoice {
  readonly label: string;
  readonly type: 'constant' | 'enum' | 'function' | 'keyword' | 'property' | 'variable';
  readonly detail?: string;
  readonly info?: string;
  /** The text that is written; default the label. */
  readonly apply?: string;
  readonly boost?: number;
}

export interface CompletionList {
  /** Where the text begins that a choice replaces. */
  readonly from: number;
  readonly options: readonly CompletionChoice[];
  /** A text that is typed on within this pattern needs no new completion. */
  readonly validFor: RegExp;
}

export interface CompletionFacts {
  readonly requests: readonly Pick<HookRequest, 'path' | 'headers' | 'payload'>[];
  readonly hookNames: readonly string[];
}

export interface SamplePath {
  readonly path: string;
  readonly kind: 'header' | 'field';
  /** Different values, the first ones seen first, cut to 40 characters. */
  readonly values: readonly string[];
  readonly count: number;
}

const MAX_PATHS = 1_500;
const MAX_DEPTH = 7;
const MAX_VALUES = 5;

/** The schema of a mapping takes some ten milliseconds, so it is made when it is first asked for. */
let made: { readonly helpers: ReturnType<typeof listHelpers>; readonly mapping: Schema } | undefined;
const vocabulary = (): NonNullable<typeof made> =>
  (made ??= { helpers: listHelpers(), mapping: mappingJsonSchema() as Schema });

export function completeAt(at: Cursor, known: CompletionFacts): CompletionList | null {
  const before = lineBefore(at);
  if (isCode(at)) {
    if (!/payload[\w.]*$/.test(before)) return null;
    const from = wordStart(before, at, /payload[\w.]*$/);
    return { from, options: pathsOf(at, known), validFor: /^[\w.]*$/ };
  }
  if (before.lastIndexOf('{{') > before.lastIndexOf('}}')) return completeExpression(before, at, known);
  if (/var["']?\s*:\s*\[?\s*["']?[\w.-]*$/.test(before))
    return { from: wordStart(before, at, /[\w.-]*$/), options: pathsOf(at, known), validFor: /^[\w.-]*$/ };
  return completeKey(before, at, known);
}

const isCode = ({ fileName }: Cursor): boolean => /\.[mc]?[jt]s$/i.test(fileName);

const wordStart = (before: string, { pos }: Cursor, word: RegExp): number =>
  pos - (word.exec(before)?.[0].length ?? 0);

/** Inside `{{…}}` paths have no `payload.` before them. */
function completeExpression(before: string, at: Cursor, known: CompletionFacts): CompletionList | null {
  const from = wordStart(before, at, /#?[\w.$-]*$/);
  if (from === at.pos && !at.explicit && !/[{(\s]$/.test(before)) return null;
  const helpers = vocabulary().helpers.map(({ name, usage }): CompletionChoice => ({
    label: usage.startsWith(`{{#${name} `) ? `#${name}` : name,
    type: 'function',
    detail: usage,
    boost: -1,
  }));
  const block = blockAt(at);
  const inBlock = block === '' ? '' : `${block}.`;
  const paths = pathsOf(at, known).flatMap((path) => {
    const label = withoutPayload(path.label);
    return label.startsWith(inBlock) ? [{ ...path, label: label.slice(inBlock.length) }] : [];
  });
  return { from, options: [...paths, ...helpers], validFor: /^#?[\w.$-]*$/ };
}

function pathsOf(at: Cursor, known: CompletionFacts): readonly CompletionChoice[] {
  const { paths, of } = pathsAt(at, known);
  return paths.map((each): CompletionChoice => ({
    label: each.path,
    type: each.kind === 'header' ? 'constant' : 'variable',
    ...(each.values[0] === undefined ? {} : { detail: each.values[0] }),
    ...(of > 1 ? { info: presence(each, of) } : {}),
    ...(each.kind === 'header' ? { boost: -2 } : {}),
  }));
}

function presence({ values, count }: SamplePath, of: number): string {
  return `in ${count} of ${plural(of, 'request')}: ${values.join(', ')}`;
}

export function hoverText(at: Cursor, known: CompletionFacts): string | undefined {
  const ofKey = describeKey(at);
  if (ofKey !== undefined) return ofKey;
  const { paths, of } = pathsAt(at, known);
  const path = pathAt(at, paths);
  if (path !== undefined) return `${path.path}: ${presence(path, of)}`;
  return vocabulary().helpers.find(({ name }) => name === wordAt(at))?.usage;
}

/** Returns the path of a request that the cursor is in, as requests have it. */
function pathAt(at: Cursor, paths: readonly SamplePath[]): SamplePath | undefined {
  const word = wordAt(at)
    .replaceAll(/\[([^\]]*)\]/g, '$1')
    .replace(/^(?:this|root)[./]/, '');
  const block = blockAt(at);
  const names = [
    ...(block === '' ? [] : [`payload.${block}.${word}`, `${block}.${word}`]),
    word,
    `payload.${word}`,
  ];
  return names.map((name) => paths.find(({ path }) => path === name)).find((found) => found !== undefined);
}

/**
 * Returns the paths that requests of the hook name at the cursor have, or those of all requests where there is
 * none, and how many requests these are.
 */
function pathsAt(
  at: Cursor,
  { requests }: Pick<CompletionFacts, 'requests'>,
): { readonly paths: readonly SamplePath[]; readonly of: number } {
  const [name, list] = isCode(at) ? [] : [hookNameAt(at), forEachAt(at)];
  const asked = requests.filter(({ path }) => name === undefined || path === name);
  const samples = asked.map(({ headers, payload }) => {
    const item = list && valueAt(payload, [...list, '0']);
    return { headers, payload, ...(item !== undefined && { item }) };
  });
  return { paths: knownPaths(samples), of: samples.length };
}

interface SampleContent extends Pick<HookRequest, 'headers' | 'payload'> {
  /** The first element of the list that a mapping's forEach goes through. */
  readonly item?: JsonValue;
}

function knownPaths(samples: readonly SampleContent[]): readonly SamplePath[] {
  const found = new Map<string, { kind: SamplePath['kind']; values: Set<string>; count: number }>();
  const add = (path: string, kind: SamplePath['kind'], value: string): boolean => {
    const known = found.get(path) ?? { kind, values: new Set<string>(), count: 0 };
    if (known.count === 0 && found.size >= MAX_PATHS) return false;
    found.set(path, known);
    known.count += 1;
    if (known.values.size < MAX_VALUES) known.values.add(value);
    return true;
  };
  const visit = (path: string, value: JsonValue, depth: number): void => {
    for (const [key, member] of isHolder(value) ? Object.entries(value) : []) {
      const at = `${path}.${key}`;
      if (!add(at, 'field', detailOf(member))) return;
      if (depth < MAX_DEPTH) visit(at, member, depth + 1);
    }
  };
  for (const { headers } of samples)
    for (const [name, value] of Object.entries(headers)) add(`headers.${name}`, 'header', value.slice(0, 40));
  for (const { payload } of samples) visit('payload', payload, 1);
  for (const { item } of samples) if (item !== undefined) visit('item', item, 1);
  return [...found].map(([path, { kind, values, count }]) => ({ path, kind, values: [...values], count }));
}

function detailOf(value: JsonValue): string {
  if (Array.isArray(value)) return 'list';
  return isHolder(value) ? 'object' : JSON.stringify(value).slice(0, 40);
}

const isHolder = (value: JsonValue): value is Exclude<JsonValue, null | ExactNumber> & object =>
  typeof value === 'object' && value !== null && !(value instanceof ExactNumber);

interface Schema {
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly items?: Schema;
  readonly anyOf?: readonly Schema[];
  readonly $ref?: string;
  readonly definitions?: Readonly<Record<string, Schema>>;
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly type?: string | readonly string[];
  readonly description?: string;
}

function completeKey(
  before: string,
  at: Cursor,
  { requests, hookNames }: CompletionFacts,
): CompletionList | null {
  if (!/\.(?:ya?ml)$/i.test(at.fileName)) return null;
  const from = wordStart(before, at, /[\w-]*$/);
  const root = vocabulary().mapping;
  const indent = /^[\s-]*/.exec(before)?.[0].length ?? 0;
  const way = keysAbove(at, indent);
  if (way.includes('when') || /(?:^|[{,])[\s-]*when\s*:/.test(before)) {
    const operator = completeOperator(before, at, root);
    if (operator !== null) return operator;
  }
  const names = [...new Set([...hookNames, ...requests.map(({ path }) => path)])].toSorted();
  if (names.length > 0 && /\bpath:\s*["']?[\w./-]*$/.test(before)) {
    const options = names.map((label): CompletionChoice => ({ label, type: 'enum' }));
    return { from: wordStart(before, at, /[\w./-]*$/), options, validFor: /^[\w./-]*$/ };
  }
  if (!/^[\s-]*[\w-]*$/.test(before)) return completeValue(root, { before, way, from });
  if (from === at.pos && !at.explicit && indent > 0) return null;
  return { from, options: keysAt(root, way), validFor: /^[\w-]*$/ };
}

function completeOperator(before: string, { pos }: Cursor, root: Schema): CompletionList | null {
  const [, quote, typed] = /(?:^[\s-]*|\{\s*)(["']?)([\w!=<>%*/+?-]*)$/.exec(before) ?? [];
  if (typed === undefined) return null;
  const options = Object.entries(root.definitions?.['rule']?.properties ?? {}).map(
    ([label, { description }]): CompletionChoice => {
      // A sign such as `!` or `>` needs quotes, because it means something else in YAML.
      const isPlain = quote !== '' || /^\w+$/.test(label);
      const info = description === undefined ? {} : { info: description };
      return { label, type: 'keyword', ...info, apply: isPlain ? label : `'${label}'` };
    },
  );
  return { from: pos - typed.length, options, validFor: /^[\w!=<>%*/+?-]*$/ };
}

function keysAt(root: Schema, way: readonly string[]): readonly CompletionChoice[] {
  const options = schemasAt(root, way).flatMap((schema) =>
    Object.entries(schema.properties ?? {}).map(([key, { description = '' }]): CompletionChoice => ({
      label: key,
      type: 'property',
      apply: `${key}: `,
      info: description,
    })),
  );
  return options.filter(({ label }, index) => options.findIndex((other) => other.label === label) === index);
}

function completeValue(
  root: Schema,
  { before, way, from }: { readonly before: string; readonly way: readonly string[]; readonly from: number },
): CompletionList | null {
  const key = /([\w-]+):\s*[\w-]*$/.exec(before)?.[1];
  if (key === undefined) return null;
  const values = schemasAt(root, [...way, key]).flatMap((schema) => [
    ...(schema.enum ?? []),
    ...(schema.const === undefined ? [] : [schema.const]),
    ...(schema.type === 'boolean' ? [true, false] : []),
  ]);
  const options = [...new Set(values.map(String))].map((label): CompletionChoice => ({
    label,
    type: 'enum',
  }));
  return options.length === 0 ? null : { from, options, validFor: /^[\w-]*$/ };
}

/** Returns undefined where the key belongs to no mapping. */
function describeKey(at: Cursor): string | undefined {
  const start = at.text.lastIndexOf('\n', at.pos - 1) + 1;
  const [, lead = '', key] = /^([\s-]*)["']?([\w-]+)["']?\s*:/.exec(at.text.slice(start)) ?? [];
  if (key === undefined || at.pos > start + lead.length + key.length) return undefined;
  const options = keysAt(vocabulary().mapping, keysAbove(at, lead.length));
  return options.find(({ label }) => label === key)?.info;
}

function keysAbove({ text, pos }: Cursor, indent: number): readonly string[] {
  const way: string[] = [];
  let left = indent;
  const lines = text.slice(0, text.lastIndexOf('\n', pos - 1) + 1).split('\n');
  for (let number = lines.length - 2; number >= 0 && left > 0; number -= 1) {
    const line = lines[number] ?? '';
    if (line.trim() === '' || line.trimStart().startsWith('#')) continue;
    const [, lead = '', key] = /^([\s-]*)(?:['"]?([\w-]+)['"]?\s*:)?/.exec(line) ?? [];
    if (lead.length >= left) continue;
    left = lead.length;
    if (key !== undefined) way.unshift(key);
    if (lead.includes('-')) left = lead.indexOf('-');
  }
  return way[0] === 'mappings' ? way.slice(1) : way;
}

function schemasAt(root: Schema, way: readonly string[]): readonly Schema[] {
  let schemas = expand(root).filter(({ properties }) => properties?.['messageTemplate'] !== undefined);
  for (const key of way) schemas = schemas.flatMap((schema) => expand(schema.properties?.[key]));
  return schemas;
}

function expand(schema: Schema | undefined): readonly Schema[] {
  if (schema === undefined) return [];
  return [schema, ...(schema.anyOf ?? []).flatMap(expand), ...expand(schema.items)];
}
