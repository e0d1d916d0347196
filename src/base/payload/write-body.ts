/** The bytes of a body that a request file has as a value: the way back from what a mapping reads. */
import { isJsonObject, isScalar, type JsonObject, type JsonValue } from '../json.ts';
import { announcedFormat, type BodyFormat, isInParts, mediaType } from './formats.ts';
import { charsetOf, encodingOfXml } from './text.ts';

/** What senders of each format write where they write nothing else. */
export const CONTENT_TYPES = {
  json: 'application/json',
  cloudevents: 'application/cloudevents+json',
  form: 'application/x-www-form-urlencoded',
  text: 'text/plain; charset=utf-8',
  xml: 'text/xml; charset=utf-8',
} as const satisfies Record<BodyFormat, string>;

/** The value cannot be sent to a path of this format. Its message is for who wrote the request file. */
export class UnwritableBody extends Error {
  override readonly name = 'UnwritableBody';
}

interface WrittenPayload {
  readonly payload: JsonValue;
  readonly headers: Readonly<Record<string, string>>;
}

/**
 * The query of a request to a path that takes GET: what the body of its file says, and parameters beside it.
 * @throws UnwritableBody
 */
export function writeQuery({
  payload,
  query,
}: Pick<WrittenPayload, 'payload'> & { readonly query: Readonly<Record<string, string>> }): string {
  if (!isJsonObject(payload)) throw notTexts('a query');
  const beside = Object.entries(query).filter(
    ([name]) => !Object.hasOwn(payload, /^[^[]*/.exec(name)?.[0] ?? ''),
  );
  const own = Object.entries(payload).flatMap(([name, value]) => parametersOf(name, value));
  return new URLSearchParams([...beside, ...own]).toString();
}

/** A field as forms write what is nested: `a[b]=1`, `a[]=1&a[]=2`, and lists of objects with their indices. */
function parametersOf(name: string, value: JsonValue): [string, string][] {
  if (Array.isArray(value)) {
    const list = value as readonly JsonValue[];
    const isFlat = list.every((each) => isScalar(each) || each === null);
    return list.flatMap((each, index) => parametersOf(`${name}[${isFlat ? '' : index}]`, each));
  }
  if (isJsonObject(value))
    return Object.entries(value).flatMap(([key, inner]) => parametersOf(`${name}[${key}]`, inner));
  return [[name, typeof value === 'string' ? value : JSON.stringify(value)]];
}

export interface WrittenBody {
  readonly body: Buffer;
  /** In place of the one of the file. */
  readonly contentType?: string;
}

/**
 * Writes a body as the sender of a path with this format would.
 * @throws UnwritableBody
 */
export function writeBody({ payload, headers }: WrittenPayload, ofPath: BodyFormat): WrittenBody {
  const format = writtenFormat({ payload, headers }, ofPath);
  const written = typeof payload === 'string' ? payload : '';
  const said = headers['content-type'] ?? CONTENT_TYPES[format];
  // The body is written as UTF-8, whatever its sender did.
  const isSaid =
    charsetOf(said) !== undefined || encodingOfXml(Buffer.from(written)) !== undefined || hasCharset(payload);
  const type = isSaid && format in OF_TEXT ? { contentType: `${mediaType(said)}; charset=utf-8` } : {};
  if (format !== 'form') return { body: Buffer.from(bodyText(payload, format), 'utf8'), ...type };
  if (!isInParts(headers['content-type']))
    return { body: Buffer.from(new URLSearchParams(formTexts(payload)).toString(), 'utf8'), ...type };
  const { bytes, contentType } = writeParts(fieldsOf(payload));
  return { body: bytes, contentType };
}

/** The format that its own header names, where a sender can have written this body so; else that of its path. */
function writtenFormat({ payload, headers }: WrittenPayload, ofPath: BodyFormat): BodyFormat {
  const named = announcedFormat(headers['content-type']) ?? ofPath;
  const isText = typeof payload === 'string';
  if (named === 'json') return ofPath === 'cloudevents' || (ofPath === 'text' && isText) ? ofPath : named;
  return (named === 'form' ? isJsonObject(payload) : isText) ? named : ofPath;
}

/** Without the name of a form where the body was read as JSON: `curl -d` calls every body a form. */
export function asItWasRead<Request extends WrittenPayload & { readonly maybeLists?: string }>(
  request: Request,
): Request {
  const { 'content-type': type, ...headers } = request.headers;
  const isNoForm = isJsonObject(request.payload) && request.maybeLists !== 'texts';
  return isNoForm && announcedFormat(type) === 'form' ? { ...request, headers } : request;
}

/** Formats whose charset is read. */
const OF_TEXT = { form: true, text: true, xml: true };

const hasCharset = (payload: JsonValue): boolean =>
  isJsonObject(payload) && (Object.hasOwn(payload, 'charset') || Object.hasOwn(payload, '_charset_'));

/** The fields of a form in parts: files beside texts. */
function fieldsOf(payload: JsonValue): Readonly<Record<string, JsonValue>> {
  const entries = isJsonObject(payload) ? Object.entries(payload) : [];
  const files = entries.filter(([, value]) => isFormFile(value));
  const texts = entries.filter(([, value]) => !isFormFile(value));
  return {
    ...formTexts(isJsonObject(payload) ? Object.fromEntries(texts) : payload),
    ...Object.fromEntries(files),
  };
}

function bodyText(payload: JsonValue, format: BodyFormat): string {
  if (format === 'json' || format === 'cloudevents') return JSON.stringify(payload);
  if (typeof payload === 'string') return payload;
  throw new UnwritableBody(
    `the path takes ${format}: write the whole body as one text under "body" of the request file`,
  );
}

/** Fields of a form; what is nested goes into the field `payload`, from which the path takes it out again. */
function formTexts(payload: JsonValue): Readonly<Record<string, string>> {
  return isJsonObject(payload) && isNested(payload)
    ? { payload: JSON.stringify(payload) }
    : textsOf(payload, 'a form');
}

function isNested(payload: JsonObject): boolean {
  return Object.values(payload).some((value) => Array.isArray(value) || isJsonObject(value));
}

const notTexts = (what: string): UnwritableBody =>
  new UnwritableBody(`the path takes ${what}: write "body" of the request file as an object of texts`);

function textsOf(payload: JsonValue, what: string): Readonly<Record<string, string>> {
  if (!isJsonObject(payload) || isNested(payload)) throw notTexts(what);
  const textOf = (value: JsonValue): string => (typeof value === 'string' ? value : JSON.stringify(value));
  return Object.fromEntries(Object.entries(payload).map(([name, value]) => [name, textOf(value)]));
}

/** A form in parts as its sender writes it. */
export interface WrittenParts {
  readonly contentType: string;
  readonly bytes: Buffer;
}

const BOUNDARY = 'sluice-form-boundary-7d3a1c9e5b2f';
/** No file of a test is longer; what is said to be is cut. */
const MAX_FILE_BYTES = 4_194_304;

/** Writes fields as parts: texts as they are, a file as so many zeros as it is said to have bytes. */
export function writeParts(fields: Readonly<Record<string, JsonValue>>): WrittenParts {
  const parts = Object.entries(fields).flatMap(([name, value]) => [
    Buffer.from(`--${BOUNDARY}\r\nContent-Disposition: form-data; name="${quoted(name)}"`),
    ...contentOf(value),
    Buffer.from('\r\n'),
  ]);
  const bytes = Buffer.concat([...parts, Buffer.from(`--${BOUNDARY}--\r\n`)]);
  return { contentType: `multipart/form-data; boundary=${BOUNDARY}`, bytes };
}

function contentOf(value: JsonValue): readonly Buffer[] {
  if (!isFormFile(value)) {
    return [Buffer.from(`\r\n\r\n${typeof value === 'string' ? value : JSON.stringify(value)}`)];
  }
  const { filename, contentType, size } = value;
  const header = `; filename="${quoted(filename)}"\r\nContent-Type: ${contentType.replaceAll(/[\r\n]/g, '')}\r\n\r\n`;
  return [Buffer.from(header), Buffer.alloc(Math.min(size, MAX_FILE_BYTES))];
}

function quoted(text: string): string {
  return text.replaceAll(/[\r\n]/g, ' ').replaceAll(/["\\]/g, String.raw`\$&`);
}

/** Whether a value is what the payload of a form in parts has in the place of a file. */
export function isFormFile(
  value: JsonValue | undefined,
): value is { readonly filename: string; readonly contentType: string; readonly size: number } {
  return (
    isJsonObject(value) &&
    Object.keys(value).length === 3 &&
    typeof value['filename'] === 'string' &&
    typeof value['contentType'] === 'string' &&
    Number.isInteger(value['size']) &&
    Number(value['size']) >= 0
  );
}
