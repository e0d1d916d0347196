import { CONTENT_TYPES, writeBody, writeQuery, type WrittenBody } from '../../base/payload/payload.ts';
import type { PathSettings } from '../mapping/mapping.ts';
import type { SignedRequest } from '../verify/verify.ts';
import type { WrittenRequest } from './read-payload.ts';

/** A request as its sender puts it on the wire. */
export interface WireRequest extends SignedRequest {
  readonly headers: Readonly<Record<string, string>>;
}

/** Writes a request in the format that it names, else in that of its path, or with the bytes it has. `address` is that of the hooks. */
export function toWire(
  { request, rawBody }: WrittenRequest,
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
