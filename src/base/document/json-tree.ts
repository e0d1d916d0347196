import { say, type Finding, type SourceText } from '../finding.ts';
import { createRequire } from 'node:module';
import type * as Momoa from '@humanwhocodes/momoa';
import type { ArrayNode, DocumentNode, ObjectNode, StringNode, ValueNode } from '@humanwhocodes/momoa';
import type { DocumentFacts } from './finding-facts.ts';
import { numberNode, TreeBuilder } from './tree-builder.ts';
import type { ReadTree, TreeNode } from './tree.ts';

const require = createRequire(import.meta.url);
/** Loaded with the first file that is JSON: most are YAML. */
const library = (): typeof Momoa => require('@humanwhocodes/momoa') as typeof Momoa;

/** Parses JSON (RFC 8259) or JSON5 into the common tree. */
export function readJsonTree(source: SourceText, format: 'json' | 'json5'): ReadTree {
  let document: DocumentNode;
  try {
    document = library().parse(source.text, { mode: format });
  } catch (error) {
    // The parser recurses; a text nested deeper than the stack cannot be read at all.
    if (error instanceof RangeError) return new TreeBuilder(source).tooDeep(0);
    return { findings: [syntaxFinding(source, format, error as Partial<ParseError>)] };
  }
  const builder = new TreeBuilder(source);
  const tree = buildNode({ builder, format }, document.body, 0);
  return tree === undefined ? { findings: builder.findings } : { tree, findings: builder.findings };
}

interface JsonBuild {
  readonly builder: TreeBuilder;
  readonly format: 'json' | 'json5';
}

function buildNode(build: JsonBuild, node: ValueNode, depth: number): TreeNode | undefined {
  const { builder } = build;
  const start = node.loc.start.offset;
  const end = node.loc.end.offset;
  if (!builder.enter(start, depth)) return undefined;
  switch (node.type) {
    case 'Object':
      return buildObject(build, node, depth);
    case 'Array':
      return buildList(build, node, depth);
    case 'String':
      reportRawControl(build, node);
      return { start, end, value: node.value, text: { style: build.format, start: start + 1, end: end - 1 } };
    case 'Boolean':
    case 'Infinity':
    case 'NaN':
    case 'Null':
      return { start, end, value: library().evaluate(node) };
    case 'Number':
      return numberNode(builder.source.text.slice(start, end), start, end);
  }
}

function buildObject(build: JsonBuild, { members, loc }: ObjectNode, depth: number): TreeNode | undefined {
  const object = build.builder.object(loc.start.offset, loc.end.offset);
  for (const { name, value } of members) {
    const built = buildNode(build, value, depth + 1);
    if (built === undefined) return undefined;
    const key = name.type === 'String' ? name.value : name.name;
    object.add({ name: key, start: name.loc.start.offset, end: name.loc.end.offset }, built);
  }
  return object.build();
}

function buildList(build: JsonBuild, { elements, loc }: ArrayNode, depth: number): TreeNode | undefined {
  const items: TreeNode[] = [];
  for (const element of elements) {
    const built = buildNode(build, element.value, depth + 1);
    if (built === undefined) return undefined;
    items.push(built);
  }
  return { start: loc.start.offset, end: loc.end.offset, value: items.map(({ value }) => value), items };
}

/** The parser lets raw control characters pass; RFC 8259 section 7 does not. */
function reportRawControl({ builder, format }: JsonBuild, node: StringNode): void {
  if (format === 'json5') return;
  const start = node.loc.start.offset;
  // oxlint-disable-next-line no-control-regex
  const at = /[\u0000-\u001f]/.exec(builder.source.text.slice(start, node.loc.end.offset))?.index;
  if (at === undefined) return;
  builder.findings.push({
    severity: 'error',
    code: 'JSON_SYNTAX',
    message: say`invalid JSON: a string contains a line break or another control character`,
    at: { source: builder.source, start: start + at, end: start + at + 1 },
    facts: {
      text: builder.source.text.slice(start, node.loc.end.offset),
    } satisfies DocumentFacts['JSON_SYNTAX'],
  });
}

interface ParseError {
  readonly message: string;
  readonly offset: number;
}

function syntaxFinding(source: SourceText, format: 'json' | 'json5', error: Partial<ParseError>): Finding {
  const language = format === 'json' ? 'JSON' : 'JSON5';
  const start = Math.max(0, Math.min(error.offset ?? 0, source.text.length));
  const found = describe(source.text, start);
  return {
    severity: 'error',
    code: 'JSON_SYNTAX',
    message: say`invalid ${language}: unexpected ${found}`,
    at: { source, start, end: start + 1 },
    facts: { format } satisfies DocumentFacts['JSON_SYNTAX'],
  };
}

/** What stands at an offset, without quoting a word: it could be a secret. */
function describe(text: string, offset: number): string {
  if (offset >= text.length) return 'end of the file';
  const character = String.fromCodePoint(text.codePointAt(offset) ?? 0x20);
  if (character === '\n' || character === '\r') return 'end of the line';
  if (/\p{L}/u.test(character)) return 'word without quotes';
  return /\p{N}/u.test(character) ? 'number' : `"${character}"`;
}
