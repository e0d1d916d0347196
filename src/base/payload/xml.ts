import { createRequire } from 'node:module';
import type * as Saxes from 'saxes';
import { HookError } from '../errors.ts';
import type { JsonValue } from '../json.ts';
import { MAX_DEPTH } from './json-body.ts';

const require = createRequire(import.meta.url);
/** Loaded with the first body that is XML: most services never see one. */
const library = (): typeof Saxes => require('saxes') as typeof Saxes;

const TEXT = '#text';
/** One step reads so many characters: 1 to 5 ms of the processor, whatever they are. */
const STEP_CHARS = 16_384;

/** Nothing of an element is handed over before its start tag ends, so that all its attributes are one step. */
const MAX_ATTRIBUTES = 1_000;

/** Mistakes of senders that can mean one thing only: what is written stays as it is. */
const PASSED_OVER: ReadonlySet<string> = new Set([
  'undefined entity.',
  'malformed character entity.',
  'the string "]]>" is disallowed in char data.',
]);

/** An element whose end has not come yet. */
interface OpenElement {
  readonly name: string;
  readonly object: Record<string, JsonValue>;
  isEmpty: boolean;
  text: string;
}

/**
 * Parses XML in steps: each takes a few milliseconds, and other work may be done between them.
 * An element is an object, or its text where it has nothing else; attributes begin with `@`, text beside
 * other content is `#text`, elements of one name are a list. All values are texts. A document type is refused, so
 * nothing can declare an entity; the five of XML itself and numeric references are replaced.
 * @throws HookError `invalid_body`
 */
export function* parseXml(text: string): Generator<undefined, JsonValue> {
  const root = open('', {});
  const parser = createParser(root);
  for (let at = 0; at < text.length; at += STEP_CHARS) {
    if (at > 0) yield;
    parser.write(text.slice(at, at + STEP_CHARS));
  }
  parser.close();
  return root.object;
}

function createParser(root: OpenElement): Saxes.SaxesParser {
  const parser = new (library().SaxesParser)();
  const elements = [root];
  let inner = root;
  let text = '';
  let attributeCount = 0;
  const endText = (): void => {
    inner.text += text.trim();
    text = '';
  };
  parser.fail = (message) => {
    if (PASSED_OVER.has(message)) return parser;
    // Said of any `<!` but CDATA and a comment, such as an HTML page has it.
    if (message === 'incorrect syntax.') refuseDocumentType();
    const place = `line ${parser.line}, column ${parser.column}`;
    throw new HookError('invalid_body', `the body is not XML at ${place}`);
  };
  parser.on('doctype', refuseDocumentType);
  parser.on('text', (more) => {
    text += more;
  });
  parser.on('cdata', (more) => {
    endText();
    inner.text += more;
  });
  parser.on('processinginstruction', endText);
  parser.on('attribute', () => {
    attributeCount += 1;
    if (attributeCount > MAX_ATTRIBUTES) {
      throw new HookError('invalid_body', `an element has more than ${MAX_ATTRIBUTES} attributes`);
    }
  });
  parser.on('opentag', ({ name, attributes }) => {
    endText();
    attributeCount = 0;
    if (elements.length > MAX_DEPTH) {
      throw new HookError('invalid_body', `the body is nested more than ${MAX_DEPTH} levels deep`);
    }
    inner = open(name, attributes);
    elements.push(inner);
  });
  parser.on('closetag', () => {
    endText();
    const ended = inner;
    elements.pop();
    inner = elements.at(-1) ?? root;
    put(inner, ended.name, valueOf(ended));
  });
  return parser;
}

function refuseDocumentType(): never {
  throw new HookError('invalid_body', 'the XML has a document type (DOCTYPE), which is not taken');
}

/** An object without a prototype, as elements may be called `constructor` and `__proto__`. */
function open(name: string, attributes: Readonly<Record<string, string>>): OpenElement {
  const object = Object.create(null) as Record<string, JsonValue>;
  let isEmpty = true;
  for (const attribute in attributes) {
    object[`@${attribute}`] = (attributes[attribute] ?? '').trim();
    isEmpty = false;
  }
  return { name, object, isEmpty, text: '' };
}

function put(element: OpenElement, name: string, value: JsonValue): void {
  const { object } = element;
  const before = object[name];
  if (before === undefined) object[name] = value;
  else if (Array.isArray(before)) (before as JsonValue[]).push(value);
  else object[name] = [before, value];
  element.isEmpty = false;
}

function valueOf({ object, isEmpty, text }: OpenElement): JsonValue {
  if (isEmpty) return text;
  if (text !== '') object[TEXT] = text;
  return object;
}
