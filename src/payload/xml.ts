import { createRequire } from 'node:module';
import type * as FastXml from 'fast-xml-parser';
import { HookError } from '../errors.ts';
import type { JsonValue } from '../json.ts';
import { MAX_DEPTH } from './json-body.ts';

/** What the parser makes of one element, in the order of the document. */
type OrderedNode = Readonly<Record<string, unknown>>;

const require = createRequire(import.meta.url);
/** Loaded with the first body that is XML: most services never see one. */
const library = (): typeof FastXml => require('fast-xml-parser') as typeof FastXml;

const ATTRIBUTES = ':@';
const TEXT = '#text';

/**
 * Parses XML in steps: each takes a time that grows with the text alone, and other work may be done between them.
 * An element is an object, or its text where it has nothing else; attributes begin with `@`, text beside
 * other content is `#text`, elements of one name are a list. All values are texts. A document type is refused, so
 * nothing can declare an entity; the five of XML itself and numeric references are replaced.
 * @throws HookError `invalid_body`
 */
export function* parseXml(text: string): Generator<undefined, JsonValue> {
  checkXml(text);
  yield;
  const nodes = parseNodes(text);
  yield;
  return toObject(nodes);
}

function checkXml(text: string): void {
  if (/<!(?:DOCTYPE|ENTITY)/i.test(text)) {
    throw new HookError('invalid_body', 'the XML has a document type (DOCTYPE), which is not taken');
  }
  const checked = library().XMLValidator.validate(text);
  if (checked !== true) {
    const { line, col } = checked.err;
    // The validator knows no column of what never ends.
    const column = Number.isInteger(col) ? `, column ${col}` : '';
    throw new HookError('invalid_body', `the body is not XML at line ${line}${column}`);
  }
}

function parseNodes(text: string): readonly OrderedNode[] {
  try {
    return createParser().parse(text) as readonly OrderedNode[];
  } catch (error) {
    const isDeep = error instanceof Error && error.message.includes('nested');
    const detail = isDeep
      ? `the body is nested more than ${MAX_DEPTH} levels deep`
      : 'the body is XML that cannot be read';
    throw new HookError('invalid_body', detail);
  }
}

function createParser(): FastXml.XMLParser {
  return new (library().XMLParser)({
    preserveOrder: true,
    maxNestedTags: MAX_DEPTH,
    ignoreAttributes: false,
    attributeNamePrefix: '@',
    ignoreDeclaration: true,
    ignorePiTags: true,
    parseTagValue: false,
    parseAttributeValue: false,
    processEntities: false,
    trimValues: true,
    cdataPropName: '#cdata',
    transformTagName: markedName,
  });
}

/** No name of an element begins with it. */
const MARK = '<';

/**
 * The parser refuses elements whose names objects have of themselves, such as `constructor`, and renames others. Such
 * an element is an ordinary one to its sender, and becomes an own member of an object that has no prototype: it only
 * must not look so to the parser. Called for some names twice.
 */
function markedName(name: string): string {
  return name in Object.prototype || name === 'prototype' ? MARK + name : name;
}

function toObject(nodes: readonly OrderedNode[]): JsonValue {
  const object = Object.create(null) as Record<string, JsonValue>;
  const texts: string[] = [];
  for (const node of nodes) {
    const name = nameOf(node);
    if (name === undefined) continue;
    const content = node[name];
    if (name === TEXT) texts.push(replaceReferences(String(content)));
    else if (name === '#cdata') texts.push(cdataOf(content));
    else put(object, writtenName(name), elementOf(node, content as readonly OrderedNode[]));
  }
  const text = texts.join('');
  if (isEmpty(object)) return text;
  if (text !== '') put(object, TEXT, text);
  return object;
}

function nameOf(node: OrderedNode): string | undefined {
  for (const key in node) if (key !== ATTRIBUTES) return key;
  return undefined;
}

function writtenName(name: string): string {
  return name.startsWith(MARK) ? name.slice(MARK.length) : name;
}

function isEmpty(object: object): boolean {
  for (const _ in object) return false;
  return true;
}

function elementOf(node: OrderedNode, content: readonly OrderedNode[]): JsonValue {
  const inner = toObject(content);
  const attributes = node[ATTRIBUTES] as Readonly<Record<string, unknown>> | undefined;
  if (attributes === undefined) return inner;
  const object = Object.create(null) as Record<string, JsonValue>;
  for (const name in attributes) object[name] = replaceReferences(String(attributes[name]));
  if (typeof inner === 'string') return inner === '' ? object : Object.assign(object, { [TEXT]: inner });
  return Object.assign(object, inner);
}

function cdataOf(content: unknown): string {
  const [only] = content as readonly Readonly<Record<string, string>>[];
  return only?.[TEXT] ?? '';
}

function put(object: Record<string, JsonValue>, name: string, value: JsonValue): void {
  const before = object[name];
  if (before === undefined) object[name] = value;
  else if (Array.isArray(before)) (before as JsonValue[]).push(value);
  else object[name] = [before, value];
}

const NAMED: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" };
const REFERENCE = /&(?:(amp|lt|gt|quot|apos)|#(\d{1,7})|#x([0-9a-fA-F]{1,6}));/g;

function replaceReferences(text: string): string {
  return text.replaceAll(REFERENCE, (all, name?: string, decimal?: string, hex?: string) => {
    if (name !== undefined) return NAMED[name] as string;
    const code = decimal === undefined ? Number.parseInt(hex ?? '', 16) : Number(decimal);
    return code > 0 && code <= 0x10_ff_ff ? String.fromCodePoint(code) : all;
  });
}
