/**
 * Follows what a hint says to write, as a person would: an expression or a rule in place of the one that it is about, keys
 * with their values where the hint says, else where the finding is.
 */
import { isMap, isScalar, parse, parseDocument, visit, type Document, type YAMLMap } from 'yaml';
import type { Place } from '../../src/base/finding.ts';

/** What a hint gives to paste. */
export interface Pasted {
  readonly kind: 'expression' | 'rule' | 'keys';
  /** As it stands in the hint: one line, of keys perhaps several with commas between them. */
  readonly line: string;
  /** What follows it in the hint: where it is to be written. */
  readonly where: string;
}

const KEY = String.raw`[a-z][A-Za-z]*(?:\.[a-z][A-Za-z]*)*: ?(?!and\b)\S`;
const VERB = new RegExp(
  String.raw`(?:^|[\s(:;])(?:write|add|put|set)(?: [a-z]+ [a-z ,]+:)? (?=\{\{|\{"|\["|${KEY})`,
  'g',
);
/** Stands for what only the reader knows: then it is a form, and nothing to paste. */
const OPEN = /…|\.\.\.|\bRULE\b|\bNAME\b|\bFIELD\b/;

/** The lines of a hint; a form says what a line looks like, and is none. */
export function pastedIn(hint: string): readonly Pasted[] {
  return [...hint.matchAll(VERB)].flatMap(({ index, 0: verb }): readonly Pasted[] => {
    const rest = hint.slice(index + verb.length);
    const line = lineOf(rest);
    if (line === undefined || OPEN.test(line)) return [];
    const kind = line.startsWith('{{') ? 'expression' : /^[{[]/.test(line) ? 'rule' : 'keys';
    return [{ kind, line, where: rest.slice(line.length) }];
  });
}

function lineOf(text: string): string | undefined {
  if (text.startsWith('{{')) return /^\{\{[^{}]*\}\}(?:…|\s…)?/.exec(text)?.[0];
  const key = /^[\w.]+: ?/.exec(text)?.[0] ?? '';
  const value = valueOf(text.slice(key.length));
  if (value === undefined) return undefined;
  const line = key + value;
  const more = key === '' ? null : new RegExp(`^, (?=${KEY})`).exec(text.slice(line.length));
  const next = more === null ? undefined : lineOf(text.slice(line.length + 2));
  return next === undefined ? line : `${line}, ${next}`;
}

/** A value of YAML in flow style at the beginning of a text. */
function valueOf(text: string): string | undefined {
  const quoted = /^(['"])(?:\\.|(?!\1)[^\\])*\1/.exec(text)?.[0];
  if (quoted !== undefined) return quoted;
  if (!/^[{[]/.test(text)) return /^(?:\$\{\w+\}|[^\s,;:()]+)/.exec(text)?.[0];
  let depth = 0;
  for (const { 0: piece, index } of text.matchAll(/"(?:\\.|[^"\\])*"|'(?:''|[^'])*'|[{}[\]]/g)) {
    if (/^[{[]$/.test(piece)) depth += 1;
    else if (/^[}\]]$/.test(piece)) depth -= 1;
    if (depth === 0) return text.slice(0, index + piece.length);
  }
  return undefined;
}

/** Keys of the configuration, which hints name by their whole path. */
const OF_CONFIGURATION = /^(?:gateway|hooks|server|storage|agents|channels)\./;

/** Whether a line belongs into the configuration, wherever the finding is. */
export const isOfConfiguration = ({ line }: Pasted): boolean => OF_CONFIGURATION.test(line);

/** The text with the line in it; undefined where nothing says where it belongs. */
export function paste(pasted: Pasted, at: Place): string | undefined {
  if (pasted.kind === 'expression') return pasteExpression(pasted, at);
  return pasted.kind === 'rule' ? pasteRule(pasted, at) : pasteKeys(pasted, at);
}

function pasteExpression({ line, where }: Pasted, { source: { text }, start, end }: Place): string {
  const [, old] = /^ in place of (.+)$/.exec(where) ?? [];
  const from = old === undefined ? text.lastIndexOf('{{', start + 2) : text.lastIndexOf(old, end);
  const close = text.indexOf('}}', Math.max(start, end - 2));
  const to = old === undefined ? Math.max(end, close + 2) : from + old.length;
  // Within double quotes of the file, quotes are written as the file needs them.
  const isQuoted = isInDoubleQuotes(text, from);
  return `${text.slice(0, from)}${isQuoted ? line.replaceAll('"', String.raw`\"`) : line}${text.slice(to)}`;
}

function isInDoubleQuotes(text: string, at: number): boolean {
  let isQuoted = false;
  visit(parseDocument(text), {
    Scalar: (_, { range, type }) => {
      if (range && range[0] <= at && at < range[1]) isQuoted = type === 'QUOTE_DOUBLE';
    },
  });
  return isQuoted;
}

function pasteRule({ line }: Pasted, at: Place): string {
  const { text } = at.source;
  const [rule] = text[at.start] === '{' ? [] : mapsAround(parseDocument(text), at);
  const [start, end] = rule?.range ?? [at.start, at.end];
  const space = /\s*$/.exec(text.slice(start, end))?.[0] ?? '';
  return `${text.slice(0, start)}${line}${space}${text.slice(end)}`;
}

function pasteKeys(pasted: Pasted, at: Place): string | undefined {
  const document = parseDocument(at.source.text);
  const keys = parse(`{${pasted.line}}`) as Readonly<Record<string, unknown>>;
  for (const [key, value] of Object.entries(keys)) {
    const steps = key.split('.');
    const last = steps.at(-1) ?? '';
    const map = isOfConfiguration(pasted)
      ? (document.contents as YAMLMap)
      : mapFor(document, steps.length > 1 ? (steps[0] ?? '') : last, pasted.where, at);
    if (map === undefined) return undefined;
    map.setIn(steps, document.createNode(value));
    const old = map.items.find(({ key }) => isScalar(key) && key.range?.[0] === at.start);
    if (pasted.where.startsWith(' in its place') && old !== undefined) map.delete(old.key);
  }
  return document.toString();
}

/** The mapping of keys that a line belongs to. */
function mapFor(document: Document, key: string, where: string, at: Place): YAMLMap | undefined {
  const around = mapsAround(document, at);
  if (/in the configuration|at the top level/.test(where))
    return isMap(document.contents) ? document.contents : undefined;
  const [, named] = /^[^,;]*? (?:below|in|at|to) ([a-z][\w.]*)/.exec(where) ?? [];
  const path = (named ?? '').split('.').filter((step) => step !== key);
  const found = named === undefined ? undefined : document.getIn(path);
  if (isMap(found)) return found;
  const within = around.map((map) => map.get(named)).find((each) => isMap(each));
  if (within !== undefined) return within;
  const beside = where.includes('beside match') ? around.find((map) => map.has('match')) : undefined;
  return beside ?? around.find((map) => map.has(key)) ?? around[0];
}

/** The innermost first. */
function mapsAround(document: Document, { start }: Place): readonly YAMLMap[] {
  const found: YAMLMap[] = [];
  visit(document, {
    Map: (_, node) => {
      const [from = 0, to = 0] = node.range ?? [];
      if (from <= start && start <= to) found.unshift(node);
    },
  });
  return found;
}
