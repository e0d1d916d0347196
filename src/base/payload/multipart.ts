/**
 * A form in parts (multipart/form-data, RFC 7578). Its text fields are those of any form; of a file only what names it
 * is kept, never its bytes. The parts are views of the body, so reading them costs no second copy of it. What a sender
 * may make long is bounded before it is looked at: the boundary, the header of a part, the number of parts.
 */
import { createRequire } from 'node:module';
import type { TextDecoder } from 'node:util';
import type * as Multipart from '@remix-run/multipart-parser';
import { HookError } from '../errors.ts';
import { isJsonObject, type JsonValue, readJson } from '../json.ts';
import { type FormFile, FormFields, MAX_FIELDS } from './form.ts';
import { mediaType, SET_BY_LIBRARY, type ReceivedBody } from './formats.ts';
import { type Decode, decoderOf, decodeUtf8, isUtf8Name } from './text.ts';

/** RFC 2046 says 70; some libraries write a few more. */
const MAX_BOUNDARY_CHARS = 200;
/** Name of the field, name of the file and type; browsers write some hundred bytes. */
const MAX_HEADER_BYTES = 8192;
/** Parts of a form whose sender is not proved yet, at most: a mail that Mailgun passes on has some thirty, and one for each attachment. */
const MAX_UNPROVED_PARTS = 100;
/** So many parts are read without a pause. */
const PARTS_A_STEP = 50;

const LINE_FEED = 0x0a;

const require = createRequire(import.meta.url);
/** Loaded with the first such form: most services never see one. */
const library = (): typeof Multipart => require('@remix-run/multipart-parser') as typeof Multipart;

interface MultipartPart {
  readonly name: string;
  /** Without its parameters; undefined where the part says none. */
  readonly type: string | undefined;
  readonly filename: string | undefined;
  readonly charset: string | undefined;
  readonly bytes: Buffer;
}

/**
 * Parses a form in parts, in steps. A file is `{filename, contentType, size}`. A text is UTF-8 unless its part names
 * a charset, or the field `charsets` does, which is how SendGrid says it of the mails it passes on.
 * @throws HookError `invalid_utf8`, `invalid_body`, `invalid_json`
 */
export function* parseMultipart(body: ReceivedBody, decoder: TextDecoder): Generator<undefined, JsonValue> {
  const parts = yield* readParts(body);
  const fields = new FormFields();
  const decode = textDecoderOf(parts, decoder);
  for (const [index, part] of parts.entries()) {
    if (index % PARTS_A_STEP === PARTS_A_STEP - 1) yield;
    fields.put(part.name, fileOf(part) ?? decode(part));
  }
  return fields.toPayload();
}

/** The texts of the fields asked for, of a body that is not proved yet; a field that is there twice counts as none, and so do all of a form with very many parts. */
export function readPartTexts(body: ReceivedBody, names: readonly string[]): readonly (string | undefined)[] {
  const parts = allParts(body);
  return names.map((name) => {
    const own = parts.filter((part) => part.name === name && fileOf(part) === undefined);
    return own.length === 1 ? own[0]?.bytes.toString('utf8') : undefined;
  });
}

function allParts(body: ReceivedBody): readonly MultipartPart[] {
  try {
    const steps = readParts(body, MAX_UNPROVED_PARTS);
    let step = steps.next();
    while (step.done !== true) step = steps.next();
    return step.value;
  } catch (error) {
    if (error instanceof HookError) return [];
    throw error;
  }
}

function* readParts(
  { bytes, headers }: ReceivedBody,
  maxParts = MAX_FIELDS,
): Generator<undefined, readonly MultipartPart[]> {
  const boundary = boundaryOf(headers['content-type']);
  const start = bytes.indexOf(`--${boundary}`, 0, 'latin1');
  if (start < 0)
    throw broken('the boundary that the Content-Type names is nowhere in the body', SENT_AS_WRITTEN);
  if (bytes[start + 2 + boundary.length] === LINE_FEED)
    throw broken(
      'the lines of the form end with LF alone',
      'end each with CRLF (\\r\\n) but those within a value',
    );
  const parts: MultipartPart[] = [];
  const limits = { maxHeaderSize: MAX_HEADER_BYTES, maxFileSize: bytes.length, maxTotalSize: bytes.length };
  try {
    const found = library().parseMultipart(bytes.subarray(start), {
      boundary,
      ...limits,
      maxParts,
    });
    for (const part of found) {
      parts.push(readPart(part, parts.length + 1));
      if (parts.length % PARTS_A_STEP === 0) yield;
    }
  } catch (error) {
    throw problemOf(error, parts.length + 1);
  }
  return parts;
}

function boundaryOf(contentType: string | undefined): string {
  if (mediaType(contentType) !== 'multipart/form-data') {
    throw broken('of the types that begin with multipart/ only multipart/form-data is a form', 'send that');
  }
  const boundary = parametersOf(contentType ?? '').get('boundary') ?? '';
  if (boundary === '') throw broken('the Content-Type multipart/form-data names no boundary', SET_BY_LIBRARY);
  if (boundary.length > MAX_BOUNDARY_CHARS)
    throw broken(
      `the boundary in the Content-Type is longer than ${MAX_BOUNDARY_CHARS} signs`,
      SET_BY_LIBRARY,
    );
  return boundary;
}

const SENT_AS_WRITTEN =
  'each part begins with a line of two hyphens and the boundary; a library that makes the whole form gets both right';

function broken(what: string, remedy: string): HookError {
  return new HookError('invalid_body', `${what}; ${remedy}`);
}

function problemOf(error: unknown, number: number): unknown {
  const { MaxHeaderSizeExceededError, MaxPartsExceededError, MultipartParseError } = library();
  if (error instanceof MaxPartsExceededError)
    return new HookError('invalid_body', `the form has more than ${MAX_FIELDS} fields`);
  if (error instanceof MaxHeaderSizeExceededError) {
    const what = `part ${number} of the form has a header that does not end within ${MAX_HEADER_BYTES} bytes`;
    return broken(what, 'its lines end with CRLF, and a blank line ends it');
  }
  if (!(error instanceof MultipartParseError)) return error;
  const what = `the form breaks off in part ${number}: no line with the boundary and two more hyphens ends it`;
  return broken(what, 'the body was cut short on the way');
}

function readPart(part: Multipart.MultipartPart, number: number): MultipartPart {
  const headers = headersOf(part, number);
  const disposition = parametersOf(headers['content-disposition'] ?? '');
  const name = disposition.get('name');
  if (name === undefined) {
    const what = `part ${number} of the form has no name`;
    throw broken(what, 'its first line is Content-Disposition: form-data; name="…"');
  }
  const announced = headers['content-type'];
  const [content = new Uint8Array()] = part.content;
  return {
    name,
    type: announced === undefined ? undefined : mediaType(announced),
    filename: extendedName(disposition.get('filename*')) ?? disposition.get('filename'),
    charset: announced === undefined ? undefined : parametersOf(announced).get('charset'),
    bytes: Buffer.from(content.buffer, content.byteOffset, content.byteLength),
  };
}

function headersOf(part: Multipart.MultipartPart, number: number): Multipart.MultipartPart['headers'] {
  try {
    return part.headers;
  } catch {
    throw new HookError('invalid_utf8', `the header of part ${number} of the form is not UTF-8`);
  }
}

/** A quote that is not closed ends with the header, so that no place is looked at twice. */
const PARAMETER = /;[ \t]*([\w*-]{1,40})=(?:"((?:[^"\\]|\\.?)*)(?:"|$)|([^;"]*))/g;

/** The parameters of a header, with names in lower case; of a name that is there twice, the first one counts. */
function parametersOf(header: string): ReadonlyMap<string, string> {
  const found = new Map<string, string>();
  for (const [, name = '', quoted, plain = ''] of header.matchAll(PARAMETER)) {
    const key = name.toLowerCase();
    // Browsers of old left the backslashes of a path as they are.
    const value = quoted === undefined ? plain.trim() : quoted.replaceAll(/\\(["\\])/g, '$1');
    if (!found.has(key)) found.set(key, value);
  }
  return found;
}

/** `filename*` of RFC 8187; undefined where it is absent or not as that says. */
function extendedName(value: string | undefined): string | undefined {
  const encoded = value === undefined ? undefined : /^utf-8'[\w-]{0,40}'(.*)$/i.exec(value)?.[1];
  if (encoded === undefined) return undefined;
  try {
    return decodeURIComponent(encoded);
  } catch {
    return undefined;
  }
}

/** What names the file of a part; undefined where the part is a text. */
function fileOf({ filename, type, bytes }: MultipartPart): FormFile | undefined {
  const isFile =
    filename !== undefined || type === 'application/octet-stream' || type?.startsWith('multipart/') === true;
  if (!isFile) return undefined;
  return Object.assign(Object.create(null) as object, {
    filename: filename ?? '',
    contentType: type ?? 'application/octet-stream',
    size: bytes.length,
  });
}

function textDecoderOf(
  parts: readonly MultipartPart[],
  decoder: TextDecoder,
): (part: MultipartPart) => string {
  const charsets = charsetsOf(parts);
  const decoders = new Map<string, Decode>();
  return ({ name, charset = charsets.get(name) ?? 'utf-8', bytes }) => {
    const key = charset.toLowerCase();
    if (isUtf8Name(key)) return decodeUtf8(bytes, decoder);
    const own = decoders.get(key) ?? decoderOf(key);
    if (own === undefined)
      throw broken(
        'a field of the form is in a charset that is not known here',
        'let the sender write UTF-8',
      );
    decoders.set(key, own);
    return own(bytes);
  };
}

/** Charsets by field, as the JSON of the field `charsets` says. */
function charsetsOf(parts: readonly MultipartPart[]): ReadonlyMap<string, string> {
  const text = parts.find(({ name }) => name === 'charsets')?.bytes.toString('utf8');
  const value = text?.startsWith('{') === true ? readJson(text) : undefined;
  const entries = isJsonObject(value) ? Object.entries(value) : [];
  return new Map(entries.filter((entry): entry is [string, string] => typeof entry[1] === 'string'));
}
