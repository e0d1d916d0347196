/** Calls to systems outside: bounded in time and size, no redirects, and what their failures prove. */
import { parseJson, readJson } from '../json.ts';

/** A day; a longer delay is cut to this. */
const MAX_ASKED_DELAY_MS = 86_400_000;

/** Milliseconds of a `Retry-After` value (seconds or an HTTP date), at most a day. */
export function parseRetryAfter(value: string | null | undefined): number | undefined {
  if (value === null || value === undefined || value.trim() === '') return undefined;
  const seconds = Number(value);
  const waitMs = Number.isFinite(seconds) ? seconds * 1000 : Date.parse(value) - Date.now();
  return retryDelay(waitMs);
}

/** A delay a platform asked for, in whole milliseconds within a day; undefined where it is no number. */
export function retryDelay(ms: number | undefined): number | undefined {
  if (ms === undefined || !Number.isFinite(ms)) return undefined;
  return Math.min(Math.max(Math.ceil(ms), 0), MAX_ASKED_DELAY_MS);
}

const MAX_DESCRIPTION_CHARS = 300;

/** A platform's words on one line of at most 300 characters, with our secrets removed. */
export function describe(text: unknown, secrets: readonly string[]): string | undefined {
  if (typeof text !== 'string' || text.trim() === '') return undefined;
  let clean = text.slice(0, MAX_DESCRIPTION_CHARS * 4);
  for (const secret of secrets) if (secret !== '') clean = clean.replaceAll(secret, '***');
  clean = clean.replaceAll(/[\s\p{C}]+/gu, ' ').trim();
  return clean.length > MAX_DESCRIPTION_CHARS ? `${clean.slice(0, MAX_DESCRIPTION_CHARS - 1)}…` : clean;
}

/** A property of an unknown value; undefined where it is no object. */
export function field(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>)[name] : undefined;
}

/** A property that is a list; empty where it is none. */
export function listField(value: unknown, name: string): readonly unknown[] {
  const list = field(value, name);
  return Array.isArray(list) ? (list as readonly unknown[]) : [];
}

/** A property that is text; undefined where it is not. */
export function textField(value: unknown, name: string): string | undefined {
  const text = field(value, name);
  return typeof text === 'string' ? text : undefined;
}

const NO_NAME = 'no such host name is known here; between containers it is the name of the service';
const NO_WAY = 'no way leads to that address from here';
const UNTRUSTED =
  'its certificate is not trusted here: name the file of its authority in NODE_EXTRA_CA_CERTS';

/** Codes of a connection that was never made, so that no byte of the request left, and what they mean. */
const UNSENT: Readonly<Record<string, string>> = {
  ECONNREFUSED:
    'nothing listens on that host and port; within a container, localhost and 127.0.0.1 are the container itself',
  ENOTFOUND: NO_NAME,
  EAI_AGAIN: NO_NAME,
  EHOSTUNREACH: NO_WAY,
  ENETUNREACH: NO_WAY,
  EADDRNOTAVAIL: NO_WAY,
  UND_ERR_CONNECT_TIMEOUT: 'no answer from that host and port, as where a firewall stands between',
  CERT_HAS_EXPIRED: 'its certificate has expired',
  DEPTH_ZERO_SELF_SIGNED_CERT: UNTRUSTED,
  SELF_SIGNED_CERT_IN_CHAIN: UNTRUSTED,
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: UNTRUSTED,
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: UNTRUSTED,
  ERR_TLS_CERT_ALTNAME_INVALID: 'its certificate is for another host name',
  ERR_SSL_WRONG_VERSION_NUMBER: 'that port speaks http: write http:// in place of https://',
  'blocked port': 'no client calls that port by the Fetch standard: let the receiver listen on another one',
};

/** A code of `connectionCode` with what it means. */
export function connectionText(code: string): string {
  const meaning = Object.hasOwn(UNSENT, code) ? UNSENT[code] : undefined;
  return meaning === undefined ? code : `${code}: ${meaning}`;
}

/** The system's code where an error proves that no connection was made, so that no byte left; else undefined. */
export function connectionCode(error: unknown): string | undefined {
  for (const link of errorChain(error)) {
    const { code, syscall } = link as { code?: unknown; syscall?: unknown };
    // A connection that was made may end with a code of the way to it (read EHOSTUNREACH).
    if (syscall === 'read' || syscall === 'write') return undefined;
    if (typeof code === 'string' && Object.hasOwn(UNSENT, code)) return code;
    // Ports that the Fetch standard blocks; undici gives no code.
    if (link.message === 'bad port') return 'blocked port';
  }
  return undefined;
}

/** An error and what it wraps under the names SDKs use, outermost first. */
export function errorChain(error: unknown): Error[] {
  const chain: Error[] = [];
  let link: unknown = error;
  while (link instanceof Error && chain.length < 8) {
    chain.push(link);
    const {
      cause,
      error: inner,
      original,
    } = link as { cause?: unknown; error?: unknown; original?: unknown };
    link = cause ?? inner ?? original;
  }
  return chain;
}

/** Longest answer of a platform that is read. */
const MAX_ANSWER_BYTES = 1_000_000;

/** An answer that is no answer of the platform's interface: 5xx, a redirect, or a page in place of JSON. */
export class StatusError extends Error {
  override readonly name = 'StatusError';
  readonly status: number;
  readonly retryAfterMs: number | undefined;

  constructor(status: number, retryAfterMs: number | undefined) {
    super(`answered ${status}`);
    this.status = status;
    this.retryAfterMs = retryAfterMs;
  }
}

export class NotSentError extends Error {
  override readonly name = 'NotSentError';
}

/** An answer with more bytes than are read. */
export class TooLongError extends Error {
  override readonly name = 'TooLongError';
}

/**
 * `fetch` for one API call: reads at most 1 MB of answer before it resolves and follows no redirect (a redirected POST
 * would become a GET). Every call has a connection of its own: one that the other side closes for being idle just as
 * a message leaves would make that message ambiguous. Rejects with `StatusError` on 5xx, on 3xx, and on 4xx that is
 * not JSON, so that a caller meets only answers of the interface.
 */
async function fetchBounded(
  url: string | URL,
  init: RequestInit,
  maxBytes = MAX_ANSWER_BYTES,
): Promise<Response> {
  if (init.signal?.aborted) throw new NotSentError('stopped before the request was sent');
  const requestHeaders = new Headers(init.headers);
  requestHeaders.set('connection', 'close');
  const response = await fetch(url, { ...init, headers: requestHeaders, redirect: 'manual' });
  const { headers, status } = response;
  const refuse = (): StatusError => new StatusError(status, parseRetryAfter(headers.get('retry-after')));
  if (status >= 500 || (status >= 300 && status < 400)) {
    await response.body?.cancel();
    throw refuse();
  }
  const body = await readBounded(response, maxBytes);
  if (status >= 400 && readJson(body.toString('utf8')) === undefined) throw refuse();
  return new Response(body.length === 0 ? null : body, { status, headers });
}

async function readBounded(response: Response, maxBytes: number): Promise<Buffer<ArrayBuffer>> {
  const parts: Uint8Array[] = [];
  let length = 0;
  for await (const part of response.body ?? []) {
    length += part.length;
    if (length > maxBytes) throw new TooLongError(`the answer is longer than ${maxBytes / 1_000_000} MB`);
    parts.push(part);
  }
  return Buffer.concat(parts);
}

/** The answer to a JSON request; `body` is undefined where it is not JSON. */
export interface JsonAnswer {
  readonly status: number;
  readonly body: unknown;
  readonly headers: Headers;
  readonly retryAfterMs: number | undefined;
}

export interface JsonRequest {
  /** Default: POST where there is a body, else GET. */
  readonly method?: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  readonly headers?: Readonly<Record<string, string>>;
  /** Sent as JSON; a `URLSearchParams` as a form. */
  readonly body?: unknown;
  readonly signal: AbortSignal;
  /** Numbers keep their digits, as `parseJson` reads them. */
  readonly exact?: boolean | undefined;
  /** Default 1 MB. */
  readonly maxBytes?: number | undefined;
}

export async function fetchJson(url: string | URL, request: JsonRequest): Promise<JsonAnswer> {
  const { body } = request;
  const isForm = body instanceof URLSearchParams;
  const init: RequestInit = {
    method: request.method ?? (body === undefined ? 'GET' : 'POST'),
    headers: {
      accept: 'application/json',
      ...(body === undefined || isForm ? {} : { 'content-type': 'application/json' }),
      ...request.headers,
    },
    ...(body === undefined ? {} : { body: isForm ? body : JSON.stringify(body) }),
    signal: request.signal,
  };
  const response = await fetchBounded(url, init, request.maxBytes);
  const { status, headers } = response;
  const retryAfterMs = parseRetryAfter(headers.get('retry-after'));
  const text = await response.text();
  const read = readJson(text);
  const isExact = request.exact === true && read !== undefined;
  return { status, headers, body: isExact ? parseJson(text) : read, retryAfterMs };
}
