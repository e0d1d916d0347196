import { randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { isJsonObject, type JsonObject } from '../json.ts';
import type { PathSettings } from '../mapping/mapping.ts';
import { announcedFormat, type BodyFormat, isFormFile, isInParts, writeParts } from '../payload/payload.ts';
import type { HookRequest, JsonValue } from '../request.ts';
import { signRequest, type SignedRequest } from '../verify/verify.ts';
import { CliError, type Terminal } from './terminal.ts';

/** A request as its sender puts it on the wire. */
export interface WireRequest extends SignedRequest {
  readonly headers: Readonly<Record<string, string>>;
}

const CONTENT_TYPES = {
  json: 'application/json',
  cloudevents: 'application/cloudevents+json',
  form: 'application/x-www-form-urlencoded',
  text: 'text/plain; charset=utf-8',
  xml: 'text/xml; charset=utf-8',
} as const;

/** A request of a file; `rawBody` are the bytes of its `bodyFile`. */
export interface RequestOfFile {
  readonly request: HookRequest;
  readonly rawBody?: Buffer | undefined;
}

/** Writes a request in the format that its path takes, or with the bytes it has. `address` is that of the hooks. */
export function toWire(
  { request, rawBody }: RequestOfFile,
  settings: PathSettings,
  address: string,
): WireRequest {
  const { bodyFormat = 'json', method = 'POST' } = settings;
  const query = new URLSearchParams(
    method === 'GET' ? textsOf(request.payload, 'a query') : request.query,
  ).toString();
  const { body, contentType } =
    method === 'GET' ? NO_BODY : rawBody === undefined ? bodyOf(request, bodyFormat) : { body: rawBody };
  const headers = {
    'content-type': CONTENT_TYPES[bodyFormat],
    ...request.headers,
    ...(contentType === undefined ? {} : { 'content-type': contentType }),
  };
  return {
    method,
    url: `${address}/${request.path}${query === '' ? '' : `?${query}`}`,
    headers,
    rawHeaders: Object.entries(headers).flat(),
    body,
  };
}

/** A form where the request says so itself, else JSON. `curl -d` calls every body a form: a path of JSON took it as JSON. */
export function announcedBody(request: HookRequest, bodyFormat: BodyFormat): WrittenBody {
  const isForm = bodyFormat !== 'json' && announcesForm({ request }) && isJsonObject(request.payload);
  return bodyOf(request, isForm ? 'form' : 'json');
}

export function announcesForm({ request, rawBody }: RequestOfFile): boolean {
  return rawBody === undefined && announcedFormat(request.headers['content-type']) === 'form';
}

export interface WrittenBody {
  readonly body: Buffer;
  /** In place of the one of the file. */
  readonly contentType?: string;
}

const NO_BODY: WrittenBody = { body: Buffer.alloc(0) };

function bodyOf({ payload, headers }: HookRequest, format: keyof typeof CONTENT_TYPES): WrittenBody {
  if (format !== 'form') return { body: Buffer.from(bodyText(payload, format), 'utf8') };
  if (!isInParts(headers['content-type']))
    return { body: Buffer.from(new URLSearchParams(formTexts(payload)).toString(), 'utf8') };
  const { bytes, contentType } = writeParts(fieldsOf(payload));
  return { body: bytes, contentType };
}

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

function bodyText(payload: JsonValue, format: keyof typeof CONTENT_TYPES): string {
  if (format === 'json' || format === 'cloudevents') return JSON.stringify(payload);
  if (typeof payload === 'string') return payload;
  throw new CliError(
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

function textsOf(payload: JsonValue, what: string): Readonly<Record<string, string>> {
  if (!isJsonObject(payload) || isNested(payload))
    throw new CliError(`the path takes ${what}: write "body" of the request file as an object of texts`);
  const textOf = (value: JsonValue): string => (typeof value === 'string' ? value : JSON.stringify(value));
  return Object.fromEntries(Object.entries(payload).map(([name, value]) => [name, textOf(value)]));
}

/** Signs a request as the sender of its path would; on a path without `verify` it stays as it is. */
export async function signWire(
  terminal: Terminal,
  wire: WireRequest,
  { settings, keyFile }: { readonly settings: PathSettings; readonly keyFile: string | undefined },
): Promise<WireRequest> {
  if (settings.verify === undefined) return wire;
  const privateKey =
    keyFile === undefined ? undefined : await readFile(resolve(terminal.cwd, keyFile), 'utf8');
  const result = signRequest(settings.verify, wire, {
    nowMs: Date.now(),
    id: `msg_${randomUUID().replaceAll('-', '')}`,
    ...(privateKey === undefined ? {} : { privateKey }),
  });
  if (result.kind === 'problem') throw new CliError(`the request cannot be signed: ${result.problem}`);
  const headers = { ...wire.headers, ...result.headers };
  return { ...wire, headers, rawHeaders: Object.entries(headers).flat(), body: result.body, url: result.url };
}
