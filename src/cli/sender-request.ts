import { randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { isJsonObject } from '../json.ts';
import type { PathSettings } from '../mapping/mapping.ts';
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
  const query = new URLSearchParams(method === 'GET' ? textsOf(request.payload) : request.query).toString();
  const headers = { 'content-type': CONTENT_TYPES[bodyFormat], ...request.headers };
  return {
    method,
    url: `${address}/${request.path}${query === '' ? '' : `?${query}`}`,
    headers,
    rawHeaders: Object.entries(headers).flat(),
    body: method === 'GET' ? Buffer.alloc(0) : (rawBody ?? bodyOf(request.payload, bodyFormat)),
  };
}

function bodyOf(payload: JsonValue, format: keyof typeof CONTENT_TYPES): Buffer {
  return Buffer.from(bodyText(payload, format), 'utf8');
}

function bodyText(payload: JsonValue, format: keyof typeof CONTENT_TYPES): string {
  if (format === 'json' || format === 'cloudevents') return JSON.stringify(payload);
  if (format === 'form') return new URLSearchParams(textsOf(payload)).toString();
  if (typeof payload === 'string') return payload;
  throw new CliError(
    `the path takes ${format}: write the whole body as one text under "body" of the request file`,
  );
}

function textsOf(payload: JsonValue): Record<string, string> {
  const entries = isJsonObject(payload) ? Object.entries(payload) : undefined;
  if (entries === undefined || entries.some(([, value]) => Array.isArray(value) || isJsonObject(value))) {
    throw new CliError('the path takes a form: write "body" of the request file as an object of texts');
  }
  const textOf = (value: JsonValue): string => (typeof value === 'string' ? value : JSON.stringify(value));
  return Object.fromEntries(entries.map(([name, value]) => [name, textOf(value)]));
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
