import {
  isAlias,
  isMap,
  isScalar,
  isSeq,
  parseAllDocuments,
  visit,
  Lexer,
  type Alias,
  type Document,
  type Node,
  type Pair,
  type Scalar,
  type YAMLError,
  type YAMLMap,
  type YAMLSeq,
} from 'yaml';
import { say, type Finding, type Sentence, type SourceText } from '../finding.ts';
import type { DocumentFacts } from './finding-facts.ts';
import { numberNode, TreeBuilder, MAX_DEPTH } from './tree-builder.ts';
import type { ReadTree, TreeNode } from './tree.ts';

/** Parses YAML 1.2 (core schema) into the common tree. */
export function readYamlTree(source: SourceText): ReadTree {
  const deepAt = findTooDeep(source.text);
  if (deepAt !== undefined) return new TreeBuilder(source).tooDeep(deepAt);
  const parsed = parse(source.text);
  if (parsed === undefined) return new TreeBuilder(source).tooDeep(0);
  const { documents, targets } = parsed;
  const [first, second] = documents;
  if (first === undefined) return { tree: { start: 0, end: 0, value: null }, findings: [] };
  const findings = findingIn(source, first);
  if (second !== undefined) findings.push(severalDocuments(source, documents));
  const builder = new TreeBuilder(source);
  const tree = buildNode({ builder, targets }, first.contents, 0);
  const built = builder.findings;
  if (findings.length > 0) {
    const doubles = built.filter(({ code }) => code === 'DUPLICATE_KEY');
    return withPartial([...findings, ...doubles], tree);
  }
  return tree === undefined ? { findings: built } : { tree, findings: built };
}

/** The parser compares every key with all before it; the builder of the tree finds keys that are given twice, too. */
const OPTIONS = { prettyErrors: false, stringKeys: true, uniqueKeys: false } as const;

interface Parsed {
  readonly documents: readonly Document.Parsed[];
  readonly targets: AliasTargets;
}

/** Undefined where parser and visitor, which recurse, find the text nested deeper than the stack. */
function parse(text: string): Parsed | undefined {
  try {
    const documents = [...parseAllDocuments(text, OPTIONS)];
    return { documents, targets: findTargets(documents[0]) };
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    return undefined;
  }
}

/**
 * The first place where the parser fails: one slip makes it fail in many. Where the text itself is broken, a key that is
 * no text is a part of that.
 */
function findingIn(source: SourceText, { errors, warnings }: Document.Parsed): Finding[] {
  const all = [...errors, ...warnings];
  const first = all.find(({ code }) => code !== 'NON_STRING_KEY') ?? all[0];
  return first === undefined ? [] : [finding(source, first)];
}

function severalDocuments(source: SourceText, documents: readonly (Document.Parsed | undefined)[]): Finding {
  const [, second] = documents;
  const start = Math.max(0, source.text.lastIndexOf('---', second?.range[0]));
  return {
    severity: 'error',
    code: 'MULTIPLE_DOCUMENTS',
    message: say`the file contains more than one YAML document, expected one`,
    at: { source, start, end: start + 3 },
  };
}

function withPartial(findings: readonly Finding[], partial: TreeNode | undefined): ReadTree {
  return partial === undefined ? { findings } : { partial, findings };
}

/** What each alias stands for. */
type AliasTargets = ReadonlyMap<Alias, Node>;

/** One walk in document order: the last anchor of a name before an alias is what it means. */
function findTargets(document: Document | undefined): AliasTargets {
  const anchors = new Map<string, Node>();
  const targets = new Map<Alias, Node>();
  if (document === undefined) return targets;
  visit(document, {
    Node: (_key, node) => {
      if (!isAlias(node)) {
        if (node.anchor !== undefined) anchors.set(node.anchor, node);
        return;
      }
      const target = anchors.get(node.source);
      if (target !== undefined) targets.set(node, target);
    },
  });
  return targets;
}

interface YamlBuild {
  readonly builder: TreeBuilder;
  readonly targets: AliasTargets;
}

function buildNode(build: YamlBuild, node: unknown, depth: number): TreeNode | undefined {
  const { builder } = build;
  const [start, end] = rangeOf(node);
  if (!builder.enter(start, depth)) return undefined;
  if (isAlias(node)) return buildAlias(build, node, depth);
  if (isMap(node)) return buildObject(build, node, depth);
  if (isSeq(node)) return buildList(build, node, depth);
  return isScalar(node) ? scalarNode(builder.source.text, node) : { start, end, value: null };
}

function buildAlias(build: YamlBuild, node: Alias, depth: number): TreeNode | undefined {
  const [start, end] = rangeOf(node);
  const target = build.targets.get(node);
  if (target === undefined) {
    build.builder.report('YAML_SYNTAX', start, {
      end,
      message: say`invalid YAML: there is no anchor &${node.source} before the alias *${node.source} in this file`,
      facts: { alias: node.source } satisfies DocumentFacts['YAML_SYNTAX'],
    });
    return undefined;
  }
  const built = buildNode(build, target, depth + 1);
  return built === undefined ? undefined : { ...built, start, end };
}

function buildObject(build: YamlBuild, node: YAMLMap, depth: number): TreeNode | undefined {
  const object = build.builder.object(...rangeOf(node));
  for (const pair of node.items) {
    const key = keyOf(pair);
    const value = buildNode(build, pair.value ?? absentAfter(key.end), depth + 1);
    if (value === undefined) return undefined;
    object.add(key, value);
  }
  return object.build();
}

function buildList(build: YamlBuild, node: YAMLSeq, depth: number): TreeNode | undefined {
  const [start, end] = rangeOf(node);
  const items: TreeNode[] = [];
  for (const item of node.items) {
    const built = buildNode(build, item, depth + 1);
    if (built === undefined) return undefined;
    items.push(built);
  }
  return { start, end, value: items.map(({ value }) => value), items };
}

function scalarNode(source: string, node: Scalar): TreeNode {
  const [start, end] = rangeOf(node);
  // `.inf` and `.nan` have no digits.
  if (typeof node.value === 'number' && node.source !== undefined && /\d/.test(node.source))
    return numberNode(node.source, start, end);
  if (typeof node.value !== 'string') return { start, end, value: node.value };
  if (node.type === 'QUOTE_DOUBLE' || node.type === 'QUOTE_SINGLE') {
    const style = node.type === 'QUOTE_DOUBLE' ? 'double' : 'single';
    return { start, end, value: node.value, text: { style, start: start + 1, end: end - 1 } };
  }
  const isBlock = node.type === 'BLOCK_LITERAL' || node.type === 'BLOCK_FOLDED';
  // A block's content starts after its header's line.
  const headerEnd = isBlock ? source.indexOf('\n', start) : start - 1;
  const body = headerEnd < 0 && isBlock ? end : Math.min(end, headerEnd + 1);
  return { start, end, value: node.value, text: { style: 'verbatim', start: body, end } };
}

function keyOf(pair: Pair): { readonly name: string; readonly start: number; readonly end: number } {
  const [start, end] = rangeOf(pair.key);
  return { name: keyName(pair.key), start, end };
}

function keyName(key: unknown): string {
  return isScalar(key) && typeof key.value === 'string' ? key.value : '';
}

/** Stands for the value of a key that has none. */
function absentAfter(offset: number): { range: [number, number] } {
  return { range: [offset, offset] };
}

function rangeOf(node: unknown): [number, number] {
  const range = (node as Node | null | undefined)?.range;
  return range === undefined || range === null ? [0, 0] : [range[0], range[1]];
}

function finding(source: SourceText, error: YAMLError): Finding {
  const [offset, end] = error.pos;
  const isOpen = /^Missing closing|must end with|flow /i.test(error.message);
  const facts = {
    parser: { offset, error: error.code, isOpen },
  } satisfies DocumentFacts['YAML_SYNTAX'];
  const tab = tabAt(source.text, error);
  const found = (code: string, message: Sentence, start = offset): Finding => ({
    severity: 'error',
    code,
    message,
    at: { source, start, end: Math.max(start === offset ? end : start, start + 1) },
    facts,
  });
  if (tab !== undefined) return found('YAML_TAB', say`a tab is used as indentation, expected spaces`, tab);
  return error.code === 'NON_STRING_KEY'
    ? found('NON_STRING_KEY', say`a key is not a string, expected a plain or quoted text`)
    : found('YAML_SYNTAX', say`invalid YAML: ${wording(error.message)}`);
}

/** A tab in the indentation of the line at which the parser stumbles, whatever it calls that. */
function tabAt(text: string, { code, pos: [start] }: YAMLError): number | undefined {
  if (code === 'TAB_AS_INDENT') return start;
  const lineStart = text.lastIndexOf('\n', start - 1) + 1;
  const [indent = ''] = /^[ \t]*/.exec(text.slice(lineStart, lineStart + 200)) ?? [];
  return indent.includes('\t') ? lineStart + indent.indexOf('\t') : undefined;
}

/** The parser's sentence, worded like the other findings, without the source text it may quote: that could be a secret. */
function wording(message: string): string {
  const line = (message.split('\n', 1)[0] ?? '').replace(/: ".*$/, '');
  return (line.charAt(0).toLowerCase() + line.slice(1)).replace(/\.$/, '').slice(0, 160);
}

/** Tokens of the lexer that stand for no text: a document begins, brackets are given up, a scalar follows. */
const SIGNS = { document: '\u0002', flowEnd: '\u0018', scalar: '\u001f' } as const;

/**
 * Where brackets, or the signs of one line, are nested deeper than a file may be. The lexer takes time that grows with
 * the text, the parser and the search for a slip far more: 2 KB of brackets without an end took 16 s.
 */
function findTooDeep(text: string): number | undefined {
  let offset = 0;
  let brackets = 0;
  let signs = 0;
  let before = '';
  for (const token of new Lexer().lex(text)) {
    if (before !== SIGNS.scalar) {
      if (token === '[' || token === '{') brackets += 1;
      else if (token === ']' || token === '}') brackets = Math.max(0, brackets - 1);
      else if (token === SIGNS.flowEnd) brackets = 0;
      else if (token.includes('\n')) signs = 0;
      else if (brackets === 0 && /^[-?:]$/.test(token)) signs += 1;
      if (Math.max(brackets, signs) > MAX_DEPTH) return offset;
    }
    before = token;
    if (token !== SIGNS.document && token !== SIGNS.flowEnd && token !== SIGNS.scalar) offset += token.length;
  }
  return undefined;
}
