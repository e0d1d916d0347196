import { type Finding, type FindingSubject, quoted } from './finding.ts';
import { defined } from './json.ts';

/**
 * Request-time errors. Each code has one status and one title; `server/` turns a thrown `HookError` into the
 * problem+json answer (RFC 9457). What is wrong in operator files is a finding (`document/`), never these.
 */
export const HOOK_ERRORS = {
  invalid_json: { status: 400, title: 'Body is not valid JSON' },
  invalid_utf8: { status: 400, title: 'Body is not valid UTF-8' },
  invalid_body: { status: 400, title: 'Body has the wrong shape' },
  invalid_field: { status: 400, title: 'A field has the wrong value' },
  missing_text: { status: 400, title: 'text required' },
  missing_message: { status: 400, title: 'message required' },
  mapping_requires_text: { status: 400, title: 'hook mapping requires text' },
  mapping_requires_message: { status: 400, title: 'hook mapping requires message' },
  model_not_allowed: { status: 400, title: 'Model is not in the allowed list' },
  unknown_channel: { status: 400, title: 'Unknown channel' },
  invalid_recipient: { status: 400, title: 'Recipient does not fit the channel' },
  too_many_actions: { status: 400, title: 'Too many actions from one request' },
  malformed_request: { status: 400, title: 'Request is not valid HTTP' },
  request_aborted: { status: 400, title: 'The sender ended the request early' },
  unauthorized: { status: 401, title: 'Authentication failed' },
  not_found: { status: 404, title: 'Not found' },
  no_mapping_matched: { status: 404, title: 'No mapping matched' },
  method_not_allowed: { status: 405, title: 'Method not allowed' },
  headers_timeout: { status: 408, title: 'The headers did not arrive in time' },
  body_timeout: { status: 408, title: 'The body did not arrive in time' },
  body_too_large: { status: 413, title: 'Request body too large' },
  too_much_work: { status: 413, title: 'The request asks for too much work' },
  unsupported_encoding: { status: 415, title: 'Content-Encoding is not supported' },
  attempt_over: { status: 409, title: 'The run has ended, or another attempt has begun' },
  idempotency_mismatch: { status: 422, title: 'Idempotency-Key was used with another body' },
  too_many_failures: { status: 429, title: 'Too many failed authentications' },
  rate_limited: { status: 429, title: 'Too many requests for this hook' },
  headers_too_large: { status: 431, title: 'Request headers too large' },
  transform_failed: { status: 500, title: 'hook mapping failed' },
  mapping_failed: { status: 500, title: 'hook mapping failed' },
  internal: { status: 500, title: 'Internal error' },
  unknown_transfer_coding: { status: 501, title: 'Transfer-Encoding is not supported' },
  transform_unavailable: { status: 503, title: 'The transform cannot run right now' },
  storage_unavailable: { status: 503, title: 'The request could not be stored' },
  bodies_full: { status: 503, title: 'Too many bodies are being received' },
  backlog_full: { status: 503, title: 'Too much work is waiting' },
  events_full: { status: 503, title: 'Too many system events are waiting' },
  not_configured: { status: 503, title: 'This hook lacks a part of its configuration' },
  stopping: { status: 503, title: 'The service is stopping' },
} as const satisfies Record<string, { status: number; title: string }>;

export type HookErrorCode = keyof typeof HOOK_ERRORS;

/** Reason of `no_mapping_matched` where mappings take the name, but none takes this request. */
export const CONDITION_NOT_MET = 'condition_not_met';

/** What is wrong with a request, for its sender: with a field, or with an element of a batch (0-based). */
export const errorFinding = (
  code: HookErrorCode | typeof CONDITION_NOT_MET,
  message: string,
  subject?: Pick<FindingSubject, 'field' | 'index'>,
): Finding => ({
  severity: 'error',
  audience: 'sender',
  code,
  message: quoted(message),
  ...defined({ subject }),
});

export interface HookErrorOptions {
  /** Each with its field, or its element of a batch. */
  readonly errors?: readonly Finding[];
  /** Whole seconds for the `Retry-After` header; every 503 and 429 sends one (default 1). */
  readonly retryAfterSeconds?: number;
  readonly cause?: unknown;
  readonly field?: string;
  /** See `HookError.facts`. */
  readonly facts?: object;
}

/**
 * A request that gets an error answer. `detail` is shown to the sender and logged, so it never quotes the payload,
 * a header value or a token: it names the place, what kind of thing was found and the remedy.
 */
export class HookError extends Error {
  override readonly name = 'HookError';
  readonly code: HookErrorCode;
  readonly detail: string;
  readonly errors: readonly Finding[];
  readonly retryAfterSeconds: number | undefined;
  /** The field of the body that is wrong; shown only where the operator's files name it, too, as the sender chose it. */
  readonly field: string | undefined;
  readonly #facts: object | undefined;

  constructor(code: HookErrorCode, detail: string, options: HookErrorOptions = {}) {
    // An answer to a request is no bug; collecting the stack would take longer than refusing the request.
    const frames = Error.stackTraceLimit;
    Error.stackTraceLimit = 0;
    super(`${code}: ${detail}`, options.cause === undefined ? undefined : { cause: options.cause });
    Error.stackTraceLimit = frames;
    this.code = code;
    this.detail = detail;
    this.errors = options.errors ?? [];
    this.retryAfterSeconds = options.retryAfterSeconds;
    this.field = options.field;
    this.#facts = options.facts;
  }

  /** What advice needs to know; it may hold what the sender wrote, so no log and no answer shows it. */
  get facts(): object | undefined {
    return this.#facts;
  }

  get status(): number {
    return HOOK_ERRORS[this.code].status;
  }

  get title(): string {
    return HOOK_ERRORS[this.code].title;
  }
}

const FRAMING = 'the length of its body does not follow from Content-Length and Transfer-Encoding';
const LINE_ENDS =
  'a line of its head does not end with CR LF: most often the value of a header has a line break in it, as a token that was read from a file has at its end; in a shell $(cat FILE) leaves it out';
const CHUNKS = 'the chunks of its body are not written as the protocol asks';
const REQUEST_LINE =
  'its first line must be METHOD ADDRESS HTTP/1.1; a space in the address is written as %20';

/** What is wrong with a request, by the code of Node's parser. */
const MALFORMED: Readonly<Record<string, string>> = {
  HPE_INVALID_METHOD: 'it does not begin with a method such as POST',
  HPE_INVALID_CONSTANT: REQUEST_LINE,
  HPE_INVALID_VERSION: REQUEST_LINE,
  HPE_INVALID_URL:
    'the address in its first line holds a character that has to be percent-encoded, or does not begin with /',
  HPE_INVALID_HEADER_TOKEN: 'the name or value of a header holds a character that is not allowed there',
  HPE_INVALID_CONTENT_LENGTH: FRAMING,
  HPE_UNEXPECTED_CONTENT_LENGTH: FRAMING,
  HPE_INVALID_TRANSFER_ENCODING: FRAMING,
  HPE_INVALID_CHUNK_SIZE: CHUNKS,
  HPE_CHUNK_EXTENSIONS_OVERFLOW: CHUNKS,
  HPE_STRICT: CHUNKS,
  HPE_CR_EXPECTED: LINE_ENDS,
  HPE_LF_EXPECTED: LINE_ENDS,
  HPE_PAUSED_H2_UPGRADE: 'it is HTTP/2',
};

/** What is wrong with bytes that are no request, by the code of Node's parser; undefined where it says nothing. */
export const describeMalformed = (code: string): string | undefined =>
  Object.hasOwn(MALFORMED, code) ? MALFORMED[code] : undefined;

/** What an error says, or whatever else was thrown as text. */
export const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));
