import { quoted, say } from '../finding.ts';
import { isAlias, isMap, isScalar, isSeq, parseAllDocuments, visit } from 'yaml';
import type { Alias, Document, Node, Pair, Scalar, YAMLError, YAMLMap, YAMLSeq } from 'yaml';
import type { Finding, SourceText } from '../finding.ts';
import { inWords } from './in-words.ts';
import { lineColumn, positionOf } from './line-column.ts';
import { joinEntries } from './joined-entries.ts';
import { numberNode, TreeBuilder } from './tree-builder.ts';
import type { ReadTree, TreeNode } from './tree.ts';
import { describeStrange, findFileSlip, isStrange, type StrangeKey } from './file-slips.ts';
import { findTab } from './tab-slip.ts';
import { findTooDeep } from './too-deep.ts';
import { escapeSlip, findYamlSlip, tagSlip } from './yaml-slips.ts';
import type { YamlSlip } from './yaml-slip.ts';

/** One slip makes the parser stumble again and again after it. */
const MAX_SYNTAX_FINDINGS = 3;
/** More of its stumbles are not looked at: each is searched for in the text around it. */
const MAX_STUMBLES = 100;
/** Findings nearer than this to the one before them are of the same slip. */
const LINES_APART = 3;

/** Findings after which the parser stumbles. */
const BROKEN: ReadonlySet<string> = new Set(['YAML_SYNTAX', 'YAML_TAB']);

function apart(findings: readonly Finding[]): readonly Finding[] {
  const kept: Finding[] = [];
  let last = -Infinity;
  for (const finding of findings) {
    const { at } = finding;
    if (at === undefined || isTabAgain(finding, kept)) continue;
    const { line } = lineColumn(at);
    // A slip that is known by its own line is none of the parser's stumbles.
    if (line - last >= LINES_APART || (finding.edit !== undefined && line > last)) kept.push(finding);
    last = Math.max(last, line, positionOf(at.source.text, at.end).line);
  }
  return kept;
}

/** One finding stands for all tabs: they are of one editor. */
function isTabAgain({ code }: Finding, kept: readonly Finding[]): boolean {
  return code === 'YAML_TAB' && kept.some((each) => each.code === code);
}

/** Parses YAML 1.2 (core schema) into the common tree. */
export function readYamlTree(source: SourceText): ReadTree {
  const deepAt = findTooDeep(source.text);
  if (deepAt !== undefined) return new TreeBuilder(source).tooDeep(deepAt);
  const parsed = parse(source.text);
  if (parsed === undefined) return new TreeBuilder(source).tooDeep(0);
  const { documents, targets } = parsed;
  const [first, second] = documents;
  if (first === undefined) return { tree: { start: 0, end: 0, value: null }, diagnostics: [] };
  const diagnostics = findingsIn(source, first);
  const isBroken = diagnostics.some(({ code }) => BROKEN.has(code));
  const whole = isBroken || second !== undefined ? findFileSlip(source) : undefined;
  if (whole !== undefined) return { diagnostics: [broken(whole)] };
  if (second !== undefined) diagnostics.push(severalDocuments(source, documents));
  const builder = new TreeBuilder(source);
  const strange: StrangeKey[] = [];
  const tree = buildNode({ builder, targets, strange }, first.contents, 0);
  const odd = isBroken ? undefined : describeStrange(source, strange);
  if (odd !== undefined) return withPartial([broken(odd)], tree);
  const built = joinEntries(builder.diagnostics);
  if (diagnostics.length > 0) {
    const doubles = built.filter(({ code }) => code === 'DUPLICATE_KEY');
    return withPartial([...diagnostics, ...doubles], tree);
  }
  return tree === undefined ? { diagnostics: built } : { tree, diagnostics: built };
}

/** The parser compares every key with all before it; the builder of the tree finds keys that are given twice, too. */
const OPTIONS = { prettyErrors: false, stringKeys: true, uniqueKeys: false } as const;

interface Parsed {
  readonly documents: readonly Document.Parsed[];
  /** Of the first document. */
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

function findingsIn(source: SourceText, document: Document.Parsed): Finding[] {
  const stumbles = [...document.errors, ...document.warnings].slice(0, MAX_STUMBLES);
  const findings = stumbles.map((error) => finding(source, error));
  const syntax = apart(findings.filter(({ code }) => BROKEN.has(code))).slice(0, MAX_SYNTAX_FINDINGS);
  // Where the text itself is broken, a strange key is a part of it.
  return findings.filter(
    (found) =>
      (!BROKEN.has(found.code) || syntax.includes(found)) &&
      (found.code !== 'NON_STRING_KEY' || syntax.length === 0),
  );
}

function severalDocuments(source: SourceText, documents: readonly (Document.Parsed | undefined)[]): Finding {
  const [, second, ...more] = documents;
  const start = Math.max(0, source.text.lastIndexOf('---', second?.range[0]));
  const at = { source, start, end: start + 3 };
  const isEmpty = second?.toJS() === null && more.length === 0;
  return {
    severity: 'error',
    code: 'MULTIPLE_DOCUMENTS',
    message: say`the file contains more than one YAML document, expected one`,
    at,
    ...(isEmpty
      ? { hint: say`remove ---: nothing stands behind it`, edit: { at, text: '' } }
      : {
          hint: say`put each document into a file of its own, or make a list: begin ${firstKeys(documents)} with "- ", indent all other lines by two spaces, and remove ---`,
        }),
  };
}

/** The first key of each document, where a comment may stand above it. */
function firstKeys(documents: readonly (Document.Parsed | undefined)[]): string {
  const keys = documents.map((document) => {
    const [first] = isMap(document?.contents) ? document.contents.items : [];
    return isScalar(first?.key) ? String(first.key.value).slice(0, 40) : undefined;
  });
  const [key, ...others] = keys;
  if (key === undefined || others.includes(undefined)) return 'the first line of each';
  const isOne = others.every((other) => other === key);
  return isOne ? `the line of ${key} in each` : `the lines of ${inWords(keys.flatMap((each) => each ?? []))}`;
}

function withPartial(diagnostics: readonly Finding[], partial: TreeNode | undefined): ReadTree {
  return partial === undefined ? { diagnostics } : { partial, diagnostics };
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

interface Build {
  readonly builder: TreeBuilder;
  readonly targets: AliasTargets;
  /** Keys with signs that nobody sees, in the file's order. */
  readonly strange: StrangeKey[];
}

function buildNode(build: Build, node: unknown, depth: number): TreeNode | undefined {
  const { builder } = build;
  const [start, end] = rangeOf(node);
  if (!builder.enter(start, depth)) return undefined;
  if (isAlias(node)) return buildAlias(build, node, depth);
  if (isMap(node)) return buildObject(build, node, depth);
  if (isSeq(node)) return buildList(build, node, depth);
  return isScalar(node) ? scalarNode(builder.source.text, node) : { start, end, value: null };
}

function buildAlias(build: Build, node: Alias, depth: number): TreeNode | undefined {
  const [start, end] = rangeOf(node);
  const target = build.targets.get(node);
  if (target === undefined) {
    build.builder.report('YAML_SYNTAX', start, {
      end,
      message: say`invalid YAML: there is no anchor &${node.source} before the alias *${node.source} in this file`,
      hint: say`an anchor holds in its own file only: mark an earlier value of this file with &${node.source}, or repeat the text here in place of the alias; a text that starts with * needs quotes`,
    });
    return undefined;
  }
  const built = buildNode(build, target, depth + 1);
  return built === undefined ? undefined : { ...built, start, end };
}

function buildObject(build: Build, node: YAMLMap, depth: number): TreeNode | undefined {
  const object = build.builder.object(...rangeOf(node));
  for (const pair of node.items) {
    const key = keyOf(pair);
    if (isStrange(build.builder.source.text, key)) build.strange.push(key);
    const value = buildNode(build, pair.value ?? absentAfter(key.end), depth + 1);
    if (value === undefined) return undefined;
    object.add(key, value);
  }
  return object.build();
}

function buildList(build: Build, node: YAMLSeq, depth: number): TreeNode | undefined {
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
  const [start, end] = error.pos;
  const at = { source, start, end: Math.max(end, start + 1) };
  const tab = findTab(source, error);
  if (tab !== undefined) return tab;
  const slip = slipAt(source, error);
  if (slip !== undefined) return broken(slip);
  if (error.code === 'NON_STRING_KEY') return { ...NON_STRING_KEY, at };
  const hint = isFlowReference(source.text, start)
    ? 'inside { } and [ ], write a reference in quotes: "${NAME}"'
    : syntaxHint(error);
  return broken({ message: wording(error.message), at, hint });
}

function slipAt(source: SourceText, { code, pos: [start] }: YAMLError): YamlSlip | undefined {
  if (code === 'BAD_DQ_ESCAPE') return escapeSlip(source, start);
  return (code === 'TAG_RESOLVE_FAILED' ? tagSlip(source, start) : undefined) ?? findYamlSlip(source, start);
}

const NON_STRING_KEY = {
  severity: 'error',
  code: 'NON_STRING_KEY',
  message: say`a key is not a string, expected a plain or quoted text`,
  hint: say`quote the key`,
} as const;

function broken({ message, hint, ...rest }: YamlSlip): Finding {
  return {
    severity: 'error',
    code: 'YAML_SYNTAX',
    message: say`invalid YAML: ${message}`,
    ...rest,
    hint: quoted(hint),
  };
}

function syntaxHint({ code, message }: YAMLError): string {
  if (code === 'TAG_RESOLVE_FAILED') return 'remove the tag, or quote a text that starts with !';
  if (/^Missing closing|must end with|flow /i.test(message)) {
    return 'look for a bracket, brace or quote that is not closed before it';
  }
  return 'compare the indentation with the lines around it; quote a text that contains ": " or " #" or starts with a special character';
}

/** Whether an unquoted `${` stands before an offset in its line: in a flow collection its brace opens an object. */
function isFlowReference(text: string, offset: number): boolean {
  const lineStart = text.lastIndexOf('\n', Math.max(0, offset - 1)) + 1;
  return /[{[].*[:,[]\s*[^"'\s]*\$\{/.test(text.slice(lineStart, offset + 1));
}

/** The parser's sentence, worded like the other findings, without the source text it may quote: that could be a secret. */
function wording(message: string): string {
  const line = (message.split('\n', 1)[0] ?? '').replace(/: ".*$/, '');
  return (line.charAt(0).toLowerCase() + line.slice(1)).replace(/\.$/, '').slice(0, 160);
}
