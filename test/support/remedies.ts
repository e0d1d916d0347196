/**
 * Follows what a hint says to write, as a person would: the expression in place of the one it is about, the rule in place
 * of the rule, the key with its value where the hint says, else where the finding is.
 */
import { isMap, parse, parseDocument, visit, type Document, type YAMLMap } from "yaml";
import type { Place } from '../../src/finding.ts';

/** One line that a hint gives to paste. */
export interface Pasted {
  readonly kind: 'expression' | 'rule' | 'key';
  readonly line: string;
  /** What follows it in the hint: where it is to be written. */
  readonly where: string;
}

const VERB = /(?:^|[\s(:;])(?:write|add|put|set|use)(?: [a-z]+:)? (?=\{\{|\{"|\["|[\w.]+: ?\S)/g;
/** Stands for what only the reader knows: then it is a form, and nothing to paste. */
const OPEN = /…|\.\.\.|\b[A-Z]{2,}\b(?![^{]*\})|FIELD|\bNAME\b|\bRULE\b|\bPATH\b/;

/** The lines of a hint. */
export function pastedIn(hint: string): readonly Pasted[] {
  return [...hint.matchAll(VERB)].flatMap(({ index, 0: verb }) => {
    const rest = hint.slice(index + verb.length);
    const line = lineOf(rest);
    if (line === undefined) return [];
    const kind = line.startsWith('{{') ? 'expression' : /^[{[]/.test(line) ? 'rule' : 'key';
    return [{ kind, line, where: rest.slice(line.length) }] as const;
  });
}

function lineOf(text: string): string | undefined {
  if (text.startsWith('{{')) return /^(?:\{\{[^{}]*\}\}(?:…|[^{},;]*(?=\{\{[/e]))?)+/.exec(text)?.[0];
  const key = /^[\w.]+: ?/.exec(text)?.[0] ?? '';
  const value = valueOf(text.slice(key.length));
  return value === undefined ? undefined : key + value;
}

/** A value of YAML in flow style at the beginning of a text. */
function valueOf(text: string): string | undefined {
  const quote = /^(['"])(?:\\.|(?!\1)[^\\])*\1/.exec(text)?.[0];
  if (quote !== undefined) return quote;
  if (!/^[{[]/.test(text)) return /^(?:\$\{\w+\}|[^\s,;:()]+)/.exec(text)?.[0];
  let depth = 0;
  let quoted = '';
  for (const [at, letter] of [...text].entries()) {
    if (quoted !== '') {
      if (letter === quoted && text[at - 1] !== '\\') quoted = '';
    } else if (letter === '"' || letter === "'") quoted = letter;
    else if (/[{[]/.test(letter)) depth += 1;
    else if (/[}\]]/.test(letter)) {
      depth -= 1;
      if (depth === 0) return text.slice(0, at + 1);
    }
  }
  return undefined;
}

export const isForm = ({ line }: Pasted): boolean => OPEN.test(line);

/** The text of the file with the line in it; undefined where nobody can say where it belongs. */
export function paste({ kind, line, where }: Pasted, at: Place): string | undefined {
  const { text } = at.source;
  if (kind === 'expression') return pasteExpression(line, at);
  if (kind === 'rule') return `${text.slice(0, at.start)}${line}${/\s*$/.exec(text.slice(at.start, at.end))?.[0] ?? ''}${text.slice(at.end)}`.replace(/^/, '');
  return pasteKey(line, where, at);
}

function pasteExpression(line: string, { source: { text }, start, end }: Place): string | undefined {
  const open = text.lastIndexOf('{{', start + 2);
  const closed = text.indexOf('}}', Math.max(start, end - 2));
  const last = closed === -1 ? end : Math.max(end, closed + 2 + (text[closed + 2] === '}' ? 1 : 0));
  return open === -1 ? undefined : `${text.slice(0, open)}${line}${text.slice(last)}`;
}

function pasteKey(line: string, where: string, at: Place): string | undefined {
  const document = parseDocument(at.source.text);
  const map = mapFor(document, line.split(':', 1)[0] ?? '', where, at);
  if (map === undefined) return undefined;
  for (const [key, value] of Object.entries(parse(line) as object)) map.set(key, document.createNode(value));
  return document.toString();
}

/** The mapping of keys that a line belongs to. */
function mapFor(document: Document, key: string, where: string, at: Place): YAMLMap | undefined {
  const named = /^[^,;]*?\b(?:below|in|at|to|beside) ([a-z][\w.]*)/.exec(where)?.[1];
  const around = mapsAround(document, at);
  if (named !== undefined && named !== 'its' && named !== 'the' && named !== 'match') {
    const path = named.split('.').filter((step) => step !== key);
    const found = document.getIn(path);
    if (isMap(found)) return found;
  }
  if (/in the configuration|at the top level/.test(where)) return isMap(document.contents) ? document.contents : undefined;
  return around.find((map) => map.has(key)) ?? (where.includes('beside match') ? around.find((map) => map.has('match')) : around[0]);
}

/** The innermost first. */
function mapsAround(document: Document, { start }: Place): readonly YAMLMap[] {
  const found: YAMLMap[] = [];
  visit(document, {
    Map: (_, node) => {
      const [from = 0, , to = 0] = node.range ?? [];
      if (from <= start && start <= to) found.unshift(node);
    },
  });
  return found;
}
