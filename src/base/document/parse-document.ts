import type { Finding, SourceText } from '../finding.ts';
import type { LocatedValue } from './located.ts';
import { readJsonTree } from './json-tree.ts';
import { secretsInFile, secretsInText, secretsInTree } from './secret-ranges.ts';
import { locate, type ReadTree } from './tree.ts';
import { readYamlTree } from './yaml-tree.ts';

export type DocumentFormat = 'yaml' | 'json' | 'json5';

/** A file as data with places. */
export interface ParsedDocument {
  readonly source: SourceText;
  readonly root: LocatedValue;
}

/** A document, unless one of the findings is an error. */
export interface ParseResult {
  readonly document?: ParsedDocument;
  readonly findings: readonly Finding[];
}

/**
 * Parses a text into plain data with places. Duplicate keys, `__proto__` keys, several YAML documents, keys that are
 * no strings, aliases that blow up (over 500,000 parts), and nesting over 200 levels are findings; an empty YAML
 * file is `null`.
 */
export function parseDocument(source: SourceText, format: DocumentFormat): ParseResult {
  return resultOf(source, readTree(source, format));
}

/** The first half of `parseDocument`; its cost depends on the text. */
export function readTree(source: SourceText, format: DocumentFormat): ReadTree {
  const { findings, ...trees } = format === 'yaml' ? readYamlTree(source) : readJsonTree(source, format);
  const hasErrors = findings.some(({ severity }) => severity === 'error');
  return { ...trees, findings: hasErrors ? findings.slice(0, MAX_FINDINGS) : findings };
}

export function resultOf(source: SourceText, { tree, partial, findings }: ReadTree): ParseResult {
  if (tree === undefined || findings.some(({ severity }) => severity === 'error')) {
    const known = tree ?? partial;
    const secrets = [...secretsInText(source.text), ...(known === undefined ? [] : secretsInTree(known))];
    const masked = { ...source, secrets };
    return { findings: findings.map((found) => withSource(found, masked)) };
  }
  const masked = { ...source, secrets: secretsInFile(source.text, tree) };
  return { document: { source: masked, root: locate(masked, tree) }, findings };
}

function withSource(found: Finding, source: SourceText): Finding {
  if (found.at === undefined) return found;
  const labels = found.labels?.map((label) => ({ ...label, at: { ...label.at, source } }));
  return { ...found, at: { ...found.at, source }, ...(labels === undefined ? {} : { labels }) };
}

/** A broken file can yield a finding per line; nobody reads more than these. */
const MAX_FINDINGS = 50;
