import { readJson } from '../json.ts';
import { parseRetryAfter } from './retry-after.ts';

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

/** The request was never begun. */
export class NotSentError extends Error {
  override readonly name = 'NotSentError';
}

/**
 * `fetch` for one API call: reads at most 1 MB of answer before it resolves and follows no redirect (a redirected POST
 * would become a GET). Every call has a connection of its own: one that the other side closes for being idle just as
 * a message leaves would make that message ambiguous. Rejects with `StatusError` on 5xx, on 3xx, and on 4xx that is
 * not JSON, so that a caller meets only answers of the interface.
 */
async function fetchBounded(url: string | URL, init: RequestInit): Promise<Response> {
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
  const body = await readBounded(response);
  if (status >= 400 && readJson(body.toString('utf8')) === undefined) throw refuse();
  return new Response(body.length === 0 ? null : body, { status, headers });
}

async function readBounded(response: Response): Promise<Buffer<ArrayBuffer>> {
  const parts: Uint8Array[] = [];
  let length = 0;
  for await (const part of response.body ?? []) {
    length += part.length;
    if (length > MAX_ANSWER_BYTES) throw new Error('the answer is longer than 1 MB');
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
  readonly method?: 'GET' | 'POST' | 'DELETE';
  readonly headers?: Readonly<Record<string, string>>;
  /** Sent as JSON; a `URLSearchParams` as a form. */
  readonly body?: unknown;
  readonly signal: AbortSignal;
}

/** One request with a JSON answer. */
export async function fetchJson(url: string | URL, request: JsonRequest): Promise<JsonAnswer> {
  const { body } = request;
  const isForm = body instanceof URLSearchParams;
  const response = await fetchBounded(url, {
    method: request.method ?? (body === undefined ? 'GET' : 'POST'),
    headers: {
      accept: 'application/json',
      ...(body === undefined || isForm ? {} : { 'content-type': 'application/json' }),
      ...request.headers,
    },
    ...(body === undefined ? {} : { body: isForm ? body : JSON.stringify(body) }),
    signal: request.signal,
  });
  const { status, headers } = response;
  const retryAfterMs = parseRetryAfter(headers.get('retry-after'));
  return { status, headers, body: readJson(await response.text()), retryAfterMs };
}
