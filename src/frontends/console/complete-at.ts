/**
 * What can be written at a place of a mapping file or a transform: keys and their values, hook names, operators, helpers,
 * and paths with what requests have there. The page of the console and the language server ask the same.
 */
import { entriesOf, ExactText, kindOf, type Value } from './page/exact-json.ts';
import type { Vocabulary } from './protocol.ts';

/** A choice; the form is that of CodeMirror's completions. */
export interface Offered {
  readonly label: string;
  readonly type: 'constant' | 'enum' | 'function' | 'keyword' | 'property' | 'variable';
  readonly detail?: string;
  readonly info?: string;
  /** What is written; default the label. */
  readonly apply?: string;
  readonly boost?: number;
}

export interface Offer {
  /** Where the text begins that a choice takes the place of. */
  readonly from: number;
  readonly options: readonly Offered[];
  /** A text that is typed on within it needs no other offer. */
  readonly validFor: RegExp;
}

/** A text, and a place in it. */
export interface TextAt {
  readonly fileName: string;
  readonly text: string;
  readonly pos: number;
  /** Whether a person asked for it, and did not only type. */
  readonly explicit: boolean;
}

/** What is known beside the text. */
export interface Known {
  readonly vocabulary: Vocabulary | undefined;
  readonly samples: readonly SampleContent[];
  /** Hook names that requests or mappings have; default none. */
  readonly hookNames?: readonly string[];
}

/** A request, as far as paths lead into it. */
export interface SampleContent {
  readonly headers: Readonly<Record<string, string>>;
  readonly payload: Value | undefined;
  /** The first element of the list that a mapping's forEach goes through. */
  readonly item?: Value;
}

/** A path with what stands there. */
export interface KnownPath {
  readonly path: string;
  readonly kind: 'header' | 'field';
  /** Different values, the first ones seen first, cut to 40 characters. */
  readonly values: readonly string[];
  /** Samples that have it. */
  readonly count: number;
}

/** Paths offered at most; a payload may have any number. */
const MAX_PATHS = 1_500;
const MAX_DEPTH = 7;
const MAX_VALUES = 5;

export function completeAt(at: TextAt, known: Known): Offer | null {
  const before = lineBefore(at);
  if (/\.[mc]?[jt]s$/i.test(at.fileName)) return completeCode(before, at, known);
  if (before.lastIndexOf('{{') > before.lastIndexOf('}}')) return completeExpression(before, at, known);
  if (/var["']?\s*:\s*\[?\s*["']?[\w.-]*$/.test(before))
    return { from: wordStart(before, at, /[\w.-]*$/), options: pathsOf(known), validFor: /^[\w.-]*$/ };
  return completeKey(before, at, known);
}

/** The text of the line up to the place. */
const lineBefore = ({ text, pos }: TextAt): string => text.slice(text.lastIndexOf('\n', pos - 1) + 1, pos);

const wordStart = (before: string, { pos }: TextAt, word: RegExp): number =>
  pos - (word.exec(before)?.[0].length ?? 0);

/** Inside `{{…}}`: helpers, and paths without `payload.` before them. */
function completeExpression(before: string, at: TextAt, known: Known): Offer | null {
  const from = wordStart(before, at, /#?[\w.$-]*$/);
  if (from === at.pos && !at.explicit && !/[{(\s]$/.test(before)) return null;
  const helpers = (known.vocabulary?.helpers ?? []).map(({ name, usage }): Offered => ({
    label: usage.startsWith(`{{#${name} `) ? `#${name}` : name,
    type: 'function',
    detail: usage,
    boost: -1,
  }));
  const block = blockAt(at);
  const inBlock = block === '' ? '' : `${block}.`;
  const paths = pathsOf(known).flatMap((path) => {
    const label = path.label.replace(/^payload\./, '');
    return label.startsWith(inBlock) ? [{ ...path, label: label.slice(inBlock.length) }] : [];
  });
  return { from, options: [...paths, ...helpers], validFor: /^#?[\w.$-]*$/ };
}

/** What the names of an expression are fields of, within `each` and `with`; empty outside. */
export function blockAt({ text, pos }: Pick<TextAt, 'text' | 'pos'>): string {
  const open = [''];
  const signs = /\{\{~?([#^/])\s*(\w+)\s*(?:payload\.)?([\w.$-]*)/g;
  for (const [, sign, helper, path = ''] of text.slice(0, pos).matchAll(signs)) {
    const outer = open.at(-1) ?? '';
    const own = outer === '' ? path : `${outer}.${path}`;
    if (sign === '/') open.pop();
    else open.push(helper === 'each' ? `${own}.0` : helper === 'with' ? own : outer);
  }
  return open.at(-1) ?? '';
}

function completeCode(before: string, at: TextAt, known: Known): Offer | null {
  if (!/payload[\w.]*$/.test(before)) return null;
  return { from: wordStart(before, at, /payload[\w.]*$/), options: pathsOf(known), validFor: /^[\w.]*$/ };
}

/** Every path of the samples, with what stands there. */
function pathsOf({ samples }: Known): readonly Offered[] {
  return knownPaths(samples).map(({ path, kind, values, count }): Offered => ({
    label: path,
    type: kind === 'header' ? 'constant' : 'variable',
    ...(values[0] === undefined ? {} : { detail: values[0] }),
    ...(samples.length > 1 ? { info: presence({ values, count }, samples.length) } : {}),
    ...(kind === 'header' ? { boost: -2 } : {}),
  }));
}

/** How many samples have it, and with which values. */
export function presence({ values, count }: Pick<KnownPath, 'values' | 'count'>, of: number): string {
  return `in ${count} of ${of} ${of === 1 ? 'request' : 'requests'}: ${values.join(', ')}`;
}

export function knownPaths(samples: readonly SampleContent[]): readonly KnownPath[] {
  const found = new Map<string, { kind: KnownPath['kind']; values: Set<string>; count: number }>();
  const add = (path: string, kind: KnownPath['kind'], value: string): boolean => {
    const known = found.get(path) ?? { kind, values: new Set<string>(), count: 0 };
    if (known.count === 0 && found.size >= MAX_PATHS) return false;
    found.set(path, known);
    known.count += 1;
    if (known.values.size < MAX_VALUES) known.values.add(value);
    return true;
  };
  const visit = (path: string, value: Value, depth: number): void => {
    for (const [key, member] of entriesOf(value)) {
      const at = `${path}.${key}`;
      if (!add(at, 'field', detailOf(member))) return;
      if (depth < MAX_DEPTH) visit(at, member, depth + 1);
    }
  };
  for (const { headers } of samples)
    for (const [name, value] of Object.entries(headers)) add(`headers.${name}`, 'header', value.slice(0, 40));
  for (const { payload } of samples) if (payload !== undefined) visit('payload', payload, 1);
  for (const { item } of samples) if (item !== undefined) visit('item', item, 1);
  return [...found].map(([path, { kind, values, count }]) => ({ path, kind, values: [...values], count }));
}

function detailOf(value: Value): string {
  const kind = kindOf(value);
  if (kind === 'object' || kind === 'list') return kind;
  const text = value instanceof ExactText ? value.text : JSON.stringify(value);
  return text.slice(0, 40);
}

/** The parts of JSON Schema that are read. */
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

/** A key where a key may stand, by the keys above it; after `key:` its values. */
function completeKey(before: string, at: TextAt, { vocabulary, hookNames = [] }: Known): Offer | null {
  if (vocabulary === undefined || !/\.(?:ya?ml)$/i.test(at.fileName)) return null;
  const from = wordStart(before, at, /[\w-]*$/);
  const root = vocabulary.mapping as Schema;
  const indent = /^[\s-]*/.exec(before)?.[0].length ?? 0;
  const way = keysAbove(at, indent);
  if (way.includes('when') || /(?:^|[{,])[\s-]*when\s*:/.test(before)) {
    const operator = completeOperator(before, at, root);
    if (operator !== null) return operator;
  }
  if (hookNames.length > 0 && /\bpath:\s*["']?[\w./-]*$/.test(before)) {
    const options = hookNames.map((label): Offered => ({ label, type: 'enum' }));
    return { from: wordStart(before, at, /[\w./-]*$/), options, validFor: /^[\w./-]*$/ };
  }
  if (!/^[\s-]*[\w-]*$/.test(before)) return completeValue(root, { before, way, from });
  if (from === at.pos && !at.explicit && indent > 0) return null;
  return { from, options: keysAt(root, way), validFor: /^[\w-]*$/ };
}

/** The operator of a rule, from the schema: after the brace that opens it, or alone on a line under `when`. */
function completeOperator(before: string, { pos }: TextAt, root: Schema): Offer | null {
  const [, quote, typed] = /(?:^[\s-]*|\{\s*)(["']?)([\w!=<>%*/+?-]*)$/.exec(before) ?? [];
  if (typed === undefined) return null;
  const options = Object.entries(root.definitions?.['rule']?.properties ?? {}).map(
    ([label, { description }]): Offered => {
      // A sign such as `!` or `>` means something else in YAML where it is not in quotes.
      const isPlain = quote !== '' || /^\w+$/.test(label);
      const info = description === undefined ? {} : { info: description };
      return { label, type: 'keyword', ...info, apply: isPlain ? label : `'${label}'` };
    },
  );
  return { from: pos - typed.length, options, validFor: /^[\w!=<>%*/+?-]*$/ };
}

/** The keys that may stand at a place, each once. */
function keysAt(root: Schema, way: readonly string[]): readonly Offered[] {
  const options = schemasAt(root, way).flatMap((schema) =>
    Object.entries(schema.properties ?? {}).map(([key, { description = '' }]): Offered => ({
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
): Offer | null {
  const key = /([\w-]+):\s*[\w-]*$/.exec(before)?.[1];
  if (key === undefined) return null;
  const values = schemasAt(root, [...way, key]).flatMap((schema) => [
    ...(schema.enum ?? []),
    ...(schema.const === undefined ? [] : [schema.const]),
    ...(schema.type === 'boolean' ? [true, false] : []),
  ]);
  const options = [...new Set(values.map(String))].map((label): Offered => ({ label, type: 'enum' }));
  return options.length === 0 ? null : { from, options, validFor: /^[\w-]*$/ };
}

/** What the schema says of the key that a line begins with; undefined where it is none of a mapping. */
export function describeKey(at: TextAt, mapping: unknown): string | undefined {
  const start = at.text.lastIndexOf('\n', at.pos - 1) + 1;
  const [, lead = '', key] = /^([\s-]*)["']?([\w-]+)["']?\s*:/.exec(at.text.slice(start)) ?? [];
  if (key === undefined || at.pos > start + lead.length + key.length) return undefined;
  const options = keysAt(mapping as Schema, keysAbove(at, lead.length));
  return options.find(({ label }) => label === key)?.info;
}

/** The keys that the line stands under, from the top; sequences have none. */
function keysAbove({ text, pos }: TextAt, indent: number): readonly string[] {
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

/** A schema and what it may be instead. */
function expand(schema: Schema | undefined): readonly Schema[] {
  if (schema === undefined) return [];
  return [schema, ...(schema.anyOf ?? []).flatMap(expand), ...expand(schema.items)];
}
