/*
 * What calls to platforms share: a bounded fetch, and the one rule by which a failed send is told apart.
 *
 * `retry` needs proof that nothing was delivered: the connection was never made, or the platform answered 429 or 5xx
 * in place of a result (504 is no such proof: it is a gateway that stopped waiting for an answer). Everything that
 * breaks off after the request may have been read, and a 2xx answer that cannot be read, is `ambiguous`.
 * Messages are our own words and the platform's description with secrets removed; never a URL, which may carry one.
 */
import type { ChannelCheck, SendResult } from './channel.ts';

/** A send that did not succeed. */
export type SendFailure = Exclude<SendResult, { kind: 'sent' }>;

/** Longest answer of a platform that is read. */
const MAX_ANSWER_BYTES = 1_000_000;
/** One message, from connecting to the end of the answer; the caller's signal may end it earlier. */
export const SEND_TIMEOUT_MS = 30_000;
const MAX_RETRY_AFTER_MS = 86_400_000;
const MAX_DESCRIPTION_CHARS = 300;
const NOT_SENT = 'stopped before the request was sent';

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
class NotSentError extends Error {
  override readonly name = 'NotSentError';
}

/**
 * `fetch` for one API call: reads at most 1 MB of answer before it resolves and follows no redirect (a redirected POST
 * would become a GET). Every call has a connection of its own: one that the other side closes for being idle just as
 * a message leaves would make that message ambiguous. Rejects with `StatusError` on 5xx, on 3xx, and on 4xx that is
 * not JSON, so that every SDK meets only answers it understands.
 */
export async function wireFetch(url: string | URL, init: RequestInit): Promise<Response> {
  if (init.signal?.aborted) throw new NotSentError(NOT_SENT);
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
  if (status >= 400 && parseJson(body.toString('utf8')) === undefined) throw refuse();
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
  readonly retryAfterMs: number | undefined;
}

export interface JsonRequest {
  readonly method?: 'GET' | 'POST';
  readonly headers?: Readonly<Record<string, string>>;
  /** Sent as JSON; a `URLSearchParams` as a form. */
  readonly body?: unknown;
  readonly signal: AbortSignal;
}

/** One request with a JSON answer, for the channels that need no SDK. */
export async function fetchJson(url: string | URL, request: JsonRequest): Promise<JsonAnswer> {
  const { body } = request;
  const isForm = body instanceof URLSearchParams;
  const response = await wireFetch(url, {
    method: request.method ?? 'POST',
    headers: {
      accept: 'application/json',
      ...(body === undefined || isForm ? {} : { 'content-type': 'application/json' }),
      ...request.headers,
    },
    ...(body === undefined ? {} : { body: isForm ? body : JSON.stringify(body) }),
    signal: request.signal,
  });
  const text = await response.text();
  return {
    status: response.status,
    body: parseJson(text),
    retryAfterMs: parseRetryAfter(response.headers.get('retry-after')),
  };
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Ends with the caller's signal, and by itself after `SEND_TIMEOUT_MS`. */
export function bounded(signal: AbortSignal): AbortSignal {
  return AbortSignal.any([signal, AbortSignal.timeout(SEND_TIMEOUT_MS)]);
}

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
  return Math.min(Math.max(Math.ceil(ms), 0), MAX_RETRY_AFTER_MS);
}

export interface RefusalOptions {
  /** The platform's own words; secrets are removed by `describe`. */
  readonly description?: string | undefined;
  readonly retryAfterMs?: number | undefined;
  /** What to do about 401 and 403. */
  readonly remedy?: string;
}

/** The failure behind an HTTP status other than 2xx. */
export function refusal(platform: string, status: number, options: RefusalOptions = {}): SendFailure {
  const said = options.description ? `: ${options.description}` : '';
  const retryAfter = options.retryAfterMs === undefined ? {} : { retryAfterMs: options.retryAfterMs };
  const remedy = options.remedy ? ` (${options.remedy})` : '';
  if (status === 429) {
    return {
      kind: 'retry',
      code: 'rate_limited',
      message: `${platform} asks to slow down${said}`,
      ...retryAfter,
    };
  }
  if (status === 504) {
    return { kind: 'ambiguous', code: 'timeout', message: `a gateway before ${platform} timed out (504)` };
  }
  if (status >= 500) {
    return {
      kind: 'retry',
      code: 'unavailable',
      message: `${platform} answered ${status}${said}`,
      ...retryAfter,
    };
  }
  if (status === 401) {
    return {
      kind: 'failed',
      code: 'unauthorized',
      message: `${platform} refused the credentials${said}${remedy}`,
    };
  }
  if (status === 403) {
    return { kind: 'failed', code: 'forbidden', message: `${platform} does not allow it${said}${remedy}` };
  }
  if (status === 404) {
    return {
      kind: 'failed',
      code: 'not_found',
      message: `${platform} knows no such recipient or address${said}`,
    };
  }
  const hint = status < 400 ? ' (a redirect, which is not followed: check baseUrl)' : '';
  return { kind: 'failed', code: 'rejected', message: `${platform} answered ${status}${said}${hint}` };
}

/** An answer that says it was done but cannot be read: it probably arrived. */
export function unreadable(platform: string): SendFailure {
  return {
    kind: 'ambiguous',
    code: 'malformed_answer',
    message: `${platform} gave an answer that cannot be read`,
  };
}

/** Codes of a connection that was never made: no byte of the request left. */
const UNSENT = new Set([
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'EADDRNOTAVAIL',
  'UND_ERR_CONNECT_TIMEOUT',
  'CERT_HAS_EXPIRED',
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'SELF_SIGNED_CERT_IN_CHAIN',
  'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
  'ERR_TLS_CERT_ALTNAME_INVALID',
  'ERR_SSL_WRONG_VERSION_NUMBER',
]);

/** The failure behind an error thrown by fetch or an SDK, which may have wrapped it. */
export function failureOf(error: unknown, platform: string): SendFailure {
  const chain = errorChain(error);
  for (const link of chain) {
    if (link instanceof StatusError) {
      return refusal(platform, link.status, { retryAfterMs: link.retryAfterMs });
    }
    if (link instanceof NotSentError) return notSent();
  }
  const code = connectionCode(error);
  if (code !== undefined) {
    const how = code === 'ECONNREFUSED' ? 'connection_refused' : 'unreachable';
    return { kind: 'retry', code: how, message: `${platform} cannot be reached (${code})` };
  }
  if (chain.some((link) => link.name === 'TimeoutError' || link.name === 'AbortError')) {
    return { kind: 'ambiguous', code: 'timeout', message: `${platform} did not answer in time` };
  }
  return { kind: 'ambiguous', code: 'connection_lost', message: `the connection to ${platform} broke off` };
}

/** The system's code where an error proves that no connection was made, so that no byte left; else undefined. */
export function connectionCode(error: unknown): string | undefined {
  for (const link of errorChain(error)) {
    const { code } = link as { code?: unknown };
    if (typeof code === 'string' && UNSENT.has(code)) return code;
    // Ports that the Fetch standard blocks; undici gives no code.
    if (link.message === 'bad port') return 'blocked port';
  }
  return undefined;
}

/** An error and what it wraps under the names SDKs use, outermost first. */
function errorChain(error: unknown): Error[] {
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

/** A failure of a step before the message itself was sent (a token, a channel to be opened): nothing arrived. */
export function beforeSending(failure: SendFailure): SendFailure {
  return failure.kind === 'ambiguous' ? { ...failure, kind: 'retry' } : failure;
}

/** The result where the caller's signal had ended before anything was begun. */
export function notSent(): SendFailure {
  return { kind: 'retry', code: 'not_sent', message: NOT_SENT };
}

/** A failed send as the result of a check. */
export function failedCheck(failure: SendFailure): ChannelCheck {
  const code = failure.kind === 'refused-format' ? 'rejected' : failure.code;
  return { ok: false, code, message: failure.message };
}

/** The check's result where a 2xx answer is not what the platform would say: something else answers there. */
export function unreadableCheck(platform: string): ChannelCheck {
  const message = `what answers there is not ${platform}: the answer cannot be read (check baseUrl)`;
  return { ok: false, code: 'malformed_answer', message };
}

/** A platform's words on one line of at most 300 characters, with our secrets removed. */
export function describe(text: unknown, secrets: readonly string[]): string | undefined {
  if (typeof text !== 'string' || text.trim() === '') return undefined;
  let clean = text.slice(0, MAX_DESCRIPTION_CHARS * 4);
  for (const secret of secrets) clean = clean.replaceAll(secret, '***');
  clean = clean.replaceAll(/[\s\p{C}]+/gu, ' ').trim();
  return clean.length > MAX_DESCRIPTION_CHARS ? `${clean.slice(0, MAX_DESCRIPTION_CHARS - 1)}…` : clean;
}

/** A property of an unknown value; undefined where it is no object. */
export function field(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>)[name] : undefined;
}

/** A property that is text; undefined where it is not. */
export function textField(value: unknown, name: string): string | undefined {
  const text = field(value, name);
  return typeof text === 'string' ? text : undefined;
}
