import { SECRET_KEY } from '../telemetry/telemetry.ts';
import type { Diagnostic, LocatedValue, SourceText } from './diagnostic.ts';
import { readJsonTree } from './json-tree.ts';
import { locate } from './tree.ts';
import type { TreeNode } from './tree.ts';
import { readYamlTree } from './yaml-tree.ts';

export type DocumentFormat = 'yaml' | 'json' | 'json5';

/** A file as data with places. */
export interface ParsedDocument {
  readonly source: SourceText;
  readonly format: DocumentFormat;
  readonly root: LocatedValue;
}

/** A document, unless one of the diagnostics is an error. */
export interface ParseResult {
  readonly document?: ParsedDocument;
  readonly diagnostics: readonly Diagnostic[];
}

/**
 * Parses a text into plain data with places. Duplicate keys, `__proto__` keys, several YAML documents, keys that are
 * no strings, aliases that blow up (over 100,000 parts), and nesting over 200 levels are findings; an empty YAML
 * file is `null`.
 */
export function parseDocument(source: SourceText, format: DocumentFormat): ParseResult {
  const { tree, diagnostics } = format === 'yaml' ? readYamlTree(source) : readJsonTree(source, format);
  if (tree === undefined || diagnostics.some(({ severity }) => severity === 'error')) {
    return { diagnostics: diagnostics.slice(0, MAX_FINDINGS) };
  }
  const masked = { ...source, secrets: findSecrets(tree, false).sort((a, b) => a.start - b.start) };
  return { document: { source: masked, format, root: locate(masked, tree) }, diagnostics };
}

/** A broken file can yield a finding per line; nobody reads more than these. */
const MAX_FINDINGS = 50;

/** A text that names a secret instead of being one. */
const REFERENCE = /^\$\{[A-Za-z_][A-Za-z0-9_]*\}$/;

function findSecrets(node: TreeNode, secret: boolean): { start: number; end: number }[] {
  if (typeof node.value === 'string') {
    const { start, end } = node.text ?? node;
    return secret && node.value !== '' && !REFERENCE.test(node.value) ? [{ start, end }] : [];
  }
  const inItems = (node.items ?? []).flatMap((item) => findSecrets(item, secret));
  const isFileReference = node.members?.size === 1 && node.members.has('file');
  const inMembers = [...(node.members ?? [])].flatMap(([key, member]) =>
    findSecrets(member.node, (secret && !isFileReference) || SECRET_KEY.test(key)),
  );
  return [...inItems, ...inMembers];
}
