import { randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import type { PathSettings } from '../../engine/mapping/mapping.ts';
import { CONTENT_TYPES, writeBody, writeQuery, type WrittenBody } from '../../base/payload/payload.ts';
import type { HookRequest } from '../../base/request.ts';
import { signRequest } from '../../engine/verify/facts.ts';
import type { SignedRequest } from '../../engine/verify/verify.ts';
import { CliError, type Terminal } from './terminal.ts';

/** A request as its sender puts it on the wire. */
export interface WireRequest extends SignedRequest {
  readonly headers: Readonly<Record<string, string>>;
}

/** A request of a file; `rawBody` are the bytes of its `bodyFile`. */
export interface RequestOfFile {
  readonly request: HookRequest;
  readonly rawBody?: Buffer | undefined;
}

/** Writes a request in the format that it names, else in that of its path, or with the bytes it has. `address` is that of the hooks. */
export function toWire(
  { request, rawBody }: RequestOfFile,
  settings: PathSettings,
  address: string,
): WireRequest {
  const { bodyFormat = 'json', method = 'POST' } = settings;
  const query = method === 'GET' ? writeQuery(request) : new URLSearchParams(request.query).toString();
  const { body, contentType } =
    method === 'GET' ? NO_BODY : rawBody === undefined ? writeBody(request, bodyFormat) : { body: rawBody };
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

const NO_BODY: WrittenBody = { body: Buffer.alloc(0) };

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
