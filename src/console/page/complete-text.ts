/** What can be written at the cursor: keys and their values, helpers, operators, and paths of the chosen request. */
import type { Completion, CompletionContext, CompletionResult } from '@codemirror/autocomplete';
import type { Vocabulary } from '../protocol.ts';
import { entriesOf, ExactText, kindOf, type Value } from './exact-json.ts';

/** What is known beside the text; asked each time, as it changes. */
export interface Completing {
  readonly vocabulary: () => Vocabulary | undefined;
  readonly payload: () => Value | undefined;
  readonly headers: () => Readonly<Record<string, string>>;
}

interface CompletingFile extends Completing {
  readonly fileName: string;
}

/** Paths offered at most; a payload may have any number. */
const MAX_PATHS = 1_500;
const MAX_DEPTH = 7;

export function complete(context: CompletionContext, known: CompletingFile): CompletionResult | null {
  const line = context.state.doc.lineAt(context.pos);
  const before = line.text.slice(0, context.pos - line.from);
  if (/\.[mc]?[jt]s$/i.test(known.fileName)) return completeCode(context, known);
  if (before.lastIndexOf('{{') > before.lastIndexOf('}}')) return completeExpression(context, known);
  if (/var["']?\s*:\s*\[?\s*["']?[\w.-]*$/.test(before)) return completeVariable(context, known);
  return completeKey(context, before, known);
}

/** Inside `{{…}}`: helpers, and paths without `payload.` before them. */
function completeExpression(context: CompletionContext, known: CompletingFile): CompletionResult | null {
  const word = context.matchBefore(/#?[\w.$-]*/);
  if (
    word === null ||
    (word.from === word.to &&
      !context.explicit &&
      !/[{(\s]/.test(context.state.sliceDoc(word.from - 1, word.from)))
  )
    return null;
  const helpers = (known.vocabulary()?.helpers ?? []).map(({ name, usage }): Completion => ({
    label: usage.startsWith(`{{#${name} `) ? `#${name}` : name,
    type: 'function',
    detail: usage,
    boost: -1,
  }));
  const paths = pathsOf(known).map((path) => ({ ...path, label: path.label.replace(/^payload\./, '') }));
  return { from: word.from, options: [...paths, ...helpers], validFor: /^#?[\w.$-]*$/ };
}

function completeVariable(context: CompletionContext, known: CompletingFile): CompletionResult | null {
  const word = context.matchBefore(/[\w.-]*/);
  return word === null ? null : { from: word.from, options: [...pathsOf(known)], validFor: /^[\w.-]*$/ };
}

function completeCode(context: CompletionContext, known: CompletingFile): CompletionResult | null {
  const word = context.matchBefore(/payload[\w.]*/);
  return word === null ? null : { from: word.from, options: [...pathsOf(known)], validFor: /^[\w.]*$/ };
}

/** Every path of the chosen request, with what stands there. */
function pathsOf({ payload, headers }: Completing): readonly Completion[] {
  const found: Completion[] = Object.entries(headers()).map(([name, value]) => ({
    label: `headers.${name}`,
    type: 'constant',
    detail: value.slice(0, 40),
    boost: -2,
  }));
  const visit = (path: string, value: Value, depth: number): void => {
    for (const [key, member] of entriesOf(value)) {
      if (found.length >= MAX_PATHS) return;
      const at = `${path}.${key}`;
      found.push({ label: at, type: 'variable', detail: detailOf(member) });
      if (depth < MAX_DEPTH) visit(at, member, depth + 1);
    }
  };
  const value = payload();
  if (value !== undefined) visit('payload', value, 1);
  return found;
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
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly type?: string | readonly string[];
  readonly description?: string;
}

/** A key where a key may stand, by the keys above it; after `key:` its values. */
function completeKey(
  context: CompletionContext,
  before: string,
  known: CompletingFile,
): CompletionResult | null {
  const word = context.matchBefore(/[\w-]*/);
  const vocabulary = known.vocabulary();
  if (word === null || vocabulary === undefined || !/\.(?:ya?ml)$/i.test(known.fileName)) return null;
  const { from, to } = word;
  const root = vocabulary.mapping as Schema;
  const indent = /^[\s-]*/.exec(before)?.[0].length ?? 0;
  const way = keysAbove(context, indent);
  if (way.includes('when') || /^[\s-]*when\s*:/.test(before)) {
    const operator = completeOperator(context, before, vocabulary);
    if (operator !== null) return operator;
  }
  if (!/^[\s-]*[\w-]*$/.test(before)) return completeValue(root, { before, way, from });
  if (from === to && !context.explicit && indent > 0) return null;
  return { from, options: keysAt(root, way), validFor: /^[\w-]*$/ };
}

/** The operator of a rule: after the brace that opens it, or alone on a line under `when`. */
function completeOperator(
  { pos }: CompletionContext,
  before: string,
  { operators }: Vocabulary,
): CompletionResult | null {
  const [, quote, typed] = /(?:^[\s-]*|\{\s*)(["']?)([\w!=<>%*/+?-]*)$/.exec(before) ?? [];
  if (typed === undefined) return null;
  const options = operators.map((label): Completion => {
    // A sign such as `!` or `>` means something else in YAML where it is not in quotes.
    const isPlain = quote !== '' || /^\w+$/.test(label);
    return { label, type: 'keyword', apply: isPlain ? label : `'${label}'` };
  });
  return { from: pos - typed.length, options, validFor: /^[\w!=<>%*/+?-]*$/ };
}

/** The keys that may stand at a place, each once. */
function keysAt(root: Schema, way: readonly string[]): readonly Completion[] {
  const options = schemasAt(root, way).flatMap((schema) =>
    Object.entries(schema.properties ?? {}).map(([key, { description = '' }]): Completion => ({
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
): CompletionResult | null {
  const key = /([\w-]+):\s*[\w-]*$/.exec(before)?.[1];
  if (key === undefined) return null;
  const values = schemasAt(root, [...way, key]).flatMap((schema) => [
    ...(schema.enum ?? []),
    ...(schema.const === undefined ? [] : [schema.const]),
    ...(schema.type === 'boolean' ? [true, false] : []),
  ]);
  const options = [...new Set(values.map(String))].map((label) => ({ label, type: 'enum' }));
  return options.length === 0 ? null : { from, options, validFor: /^[\w-]*$/ };
}

/** The keys that the cursor's line stands under, from the top; sequences have none. */
function keysAbove(context: CompletionContext, indent: number): readonly string[] {
  const way: string[] = [];
  let left = indent;
  for (let number = context.state.doc.lineAt(context.pos).number - 1; number >= 1 && left > 0; number -= 1) {
    const { text } = context.state.doc.line(number);
    if (text.trim() === '' || text.trimStart().startsWith('#')) continue;
    const [, lead = '', key] = /^([\s-]*)(?:['"]?([\w-]+)['"]?\s*:)?/.exec(text) ?? [];
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
