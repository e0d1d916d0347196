import { type Finding, printSentence, type SourceText } from '../finding.ts';
import { isCollection, isNode, isSeq, parseDocument as parseYaml, type Document } from 'yaml';
import { isJsonObject } from '../json.ts';
import type { LocatedValue, Path } from './located.ts';
import { parseDocument, type DocumentFormat } from './parse-document.ts';

/** Sets the value at a path; objects missing on the way are made. */
export interface Edit {
  readonly path: readonly [string, ...string[]];
  /** Plain data as JSON carries it. */
  readonly value: unknown;
}

/**
 * Changes values in a file's text and keeps its comments. JSON and JSON5 are changed in place and stay as they are
 * everywhere else; YAML is printed again, which keeps comments, order and styles and may only move white space.
 * The text has to parse, and no edit may lead through something that is not an object.
 *
 * @throws an Error where one of the two does not hold.
 */
export function editDocument(source: SourceText, format: DocumentFormat, edits: readonly Edit[]): string {
  return format === 'yaml'
    ? editYaml(source, edits)
    : edits.reduce((text, edit) => editJson({ ...source, text }, format, edit), source.text);
}

function editYaml(source: SourceText, edits: readonly Edit[]): string {
  rootValue(source, 'yaml');
  const document = parseYaml(source.text);
  for (const edit of edits) setYaml(document, edit);
  return document.toString({ lineWidth: 0, flowCollectionPadding: false });
}

/** What is written beside the old value and how it is written stays; a list that grows keeps its elements. */
function setYaml(document: Document, { path, value }: Edit): void {
  const before = document.getIn(path, true);
  const after = document.createNode(value, { aliasDuplicateObjects: false });
  if (isSeq(before) && isSeq(after) && isPrefix(before.toJSON(), value)) {
    before.items.push(...after.items.slice(before.items.length));
    return;
  }
  if (isNode(before)) {
    after.comment = before.comment ?? null;
    after.commentBefore = before.commentBefore ?? null;
    if (isCollection(before) && isCollection(after) && before.flow === true) after.flow = true;
  }
  document.setIn(path, after);
}

function isPrefix(before: unknown, after: unknown): boolean {
  if (!Array.isArray(before) || !Array.isArray(after)) return false;
  return before.every((item, index) => JSON.stringify(item) === JSON.stringify(after[index]));
}

function editJson(source: SourceText, format: 'json' | 'json5', edit: Edit): string {
  const root = rootValue(source, format);
  const { path, value } = edit;
  if (root.at(path).value === undefined) return addMember(source, root, edit);
  const { text } = source;
  const { start, end } = root.place(path);
  return text.slice(0, start) + print(value, indentAt(text, start)) + text.slice(end);
}

/** Adds a member that is missing, with the objects that are missing on the way to it. */
function addMember({ file, text }: SourceText, root: LocatedValue, { path, value }: Edit): string {
  const { parentPath, keys } = findParent(file, root, path);
  const missing = path
    .slice(parentPath.length + 1)
    .reduceRight<unknown>((inner, key) => ({ [key]: inner }), value);
  const { start, end } = root.place(parentPath);
  const indent = indentAt(text, start);
  const member = `${JSON.stringify(path[parentPath.length])}: ${print(missing, `${indent}  `)}`;
  const lastKey = keys.at(-1);
  if (lastKey === undefined)
    return `${text.slice(0, end - 1)}\n${indent}  ${member}\n${indent}${text.slice(end - 1)}`;
  // After the last member: its own comma, where it has one, then ends the new one.
  const last = root.place([...parentPath, lastKey]).end;
  return `${text.slice(0, last)},\n${indent}  ${member}${text.slice(last)}`;
}

/** The nearest object above a path, and its keys. */
function findParent(
  file: string,
  root: LocatedValue,
  path: Path,
): { readonly parentPath: Path; readonly keys: readonly string[] } {
  let depth = path.length - 1;
  while (depth > 0 && root.at(path.slice(0, depth)).value === undefined) depth -= 1;
  const parentPath = path.slice(0, depth);
  const parent = root.at(parentPath).value;
  if (isJsonObject(parent)) return { parentPath, keys: Object.keys(parent) };
  throw new Error(`${file}: ${parentPath.join('.') || 'the document'} is not an object`);
}

function rootValue(
  source: SourceText,
  format: DocumentFormat,
): NonNullable<ReturnType<typeof parseDocument>['document']>['root'] {
  const { document, findings } = parseDocument(source, format);
  if (document === undefined) throw new Error(`${source.file}: ${firstProblem(findings)}`);
  return document.root;
}

function print(value: unknown, indent: string): string {
  return JSON.stringify(value, undefined, 2).replaceAll('\n', `\n${indent}`);
}

/** White space at the start of the line an offset stands in. */
function indentAt(text: string, offset: number): string {
  const lineStart = text.lastIndexOf('\n', Math.max(0, offset - 1)) + 1;
  return /^[ \t]*/.exec(text.slice(lineStart, offset))?.[0] ?? '';
}

function firstProblem([first]: readonly Finding[]): string {
  return first === undefined ? 'cannot be parsed' : printSentence(first.message);
}
