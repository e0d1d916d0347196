import {
  CONDITION_NOT_MET,
  errorFinding,
  HOOK_ERRORS,
  HookError,
  type HookErrorCode,
} from '../../base/errors.ts';
import { quoted, requestFindingToJson } from '../../base/finding.ts';
import { defined } from '../../base/json.ts';
import { isBuiltInRoute } from '../../engine/hook/hook.ts';
import { StorageError, unavailable } from '../../engine/storage/storage.ts';
import type { RequestOutcome } from './deps.ts';
import type { HttpAnswer, Ending, RequestFacts } from './exchange.ts';

/**
 * The one place that turns an error into an answer (RFC 9457). `detail` comes from the `HookError`, which never
 * quotes a payload; for a 5xx it is a fixed sentence per code instead, because the sender can do nothing with the
 * service's insides. `type` is `urn:sluice:error:<code>`; `ok` and `error` are for senders that look only at those.
 */
export function problemAnswer(error: HookError, requestId: string): HttpAnswer {
  const { status } = HOOK_ERRORS[error.code];
  return {
    status,
    body: JSON.stringify(problemOf(error, requestId)),
    contentType: 'application/problem+json',
    headers: headersOf(error, status),
  };
}

function problemOf(error: HookError, requestId: string): Record<string, unknown> {
  const { status, title } = HOOK_ERRORS[error.code];
  const problem: Record<string, unknown> = {
    type: `urn:sluice:error:${error.code}`,
    title,
    status,
    detail: SERVER_DETAILS[error.code] ?? error.detail,
    code: error.code,
  };
  if (error.errors.length > 0) {
    problem['errors'] = error.errors
      .map(requestFindingToJson)
      .map(({ code, field, index, message }) =>
        status < 500 ? { code, field, index, message } : { code, index, message: title },
      );
  }
  problem['requestId'] = requestId;
  problem['ok'] = false;
  problem['error'] = title;
  return problem;
}

/**
 * The one place where what was thrown becomes an error of a request: a store that fails is a temporary error, whatever
 * was asked of it. All else is a bug; its cause is for the log only.
 */
export function toHookError(error: unknown, code: HookErrorCode = 'internal'): HookError {
  if (error instanceof HookError) return error;
  if (error instanceof StorageError) return unavailable(error);
  return new HookError(code, 'the request could not be handled', { cause: error });
}

/** Class, code and stack frames of an unexpected error. Its message may quote a payload and stays out. */
export function describeFault(error: unknown): object {
  if (!(error instanceof Error)) return { name: typeof error };
  const code = (error as NodeJS.ErrnoException).code;
  const frames = (error.stack ?? '')
    .split('\n')
    .filter((line) => /^\s+at /.test(line))
    .slice(0, 12)
    .map((line) => line.trim());
  return { name: error.name, ...(typeof code === 'string' ? { code } : {}), frames };
}

const SERVER_DETAILS: Partial<Record<HookErrorCode, string>> = {
  transform_failed: 'the transform of this hook failed; the operator finds it under the request id',
  mapping_failed: 'the mapping of this hook failed; the operator finds it under the request id',
  internal: 'something unexpected happened; the operator finds it under the request id',
  unknown_transfer_coding: 'the only accepted Transfer-Encoding is chunked; send the body as it is',
  transform_unavailable: 'the transform of this hook cannot run right now; send the request again later',
  storage_unavailable: 'the store did not confirm the request; send it again later',
  bodies_full:
    'nothing was accepted, because too many bodies are being received; send the request again later',
  backlog_full: 'nothing was accepted, because too much work is waiting; send the request again later',
  events_full:
    'nothing was accepted, because too many system events are waiting; send the request again later',
  not_configured: 'this hook lacks a part of its configuration; the operator finds it in the log',
  stopping: 'nothing was accepted, because the service is stopping; send the request again later',
};

function headersOf(error: HookError, status: number): string[] {
  const headers: string[] = [];
  if (status === 503 || status === 429) headers.push('retry-after', String(error.retryAfterSeconds ?? 1));
  if (status === 401) headers.push('www-authenticate', 'Bearer realm="hooks"');
  if (status === 415) headers.push('accept-encoding', 'gzip, deflate');
  return headers;
}

type EndingDetails = Pick<Ending, 'proof' | 'hookName' | 'judged'> & {
  /** Default `refused`: it ended before it was evaluated. */
  readonly outcome?: RequestOutcome;
  /** Further header names and values of the answer, flat. */
  readonly headers?: readonly string[];
};

/** The one place where what was thrown becomes an ending. */
export function failedEnding(exchange: RequestFacts, thrown: unknown, known: EndingDetails = {}): Ending {
  const error = toHookError(thrown);
  const { headers = [], ...rest } = known;
  const { request, evaluation } = rest.judged ?? {};
  const isMapped = request !== undefined && evaluation !== undefined;
  const answer = problemAnswer(isMapped ? senderError(error, request.path) : error, exchange.ids.id);
  return {
    outcome: 'refused',
    ...rest,
    error,
    answer: headers.length === 0 ? answer : { ...answer, headers: [...(answer.headers ?? []), ...headers] },
  };
}

/** Warnings whose field is one that the sender wrote into a body of our own form. */
const OWN_WARNINGS: ReadonlySet<string> = new Set([
  'blank_idempotency_key',
  'coerced_field',
  'unknown_field',
  'unknown_thinking',
  'unused_field',
]);

/** The warnings that a sender may read; of a mapped request only the one on its `Idempotency-Key`. */
export const senderWarnings = <Of extends { readonly code: string }>(
  path: string,
  found: readonly Of[],
): readonly Of[] =>
  found.filter(({ code }) =>
    isBuiltInRoute(path) ? OWN_WARNINGS.has(code) : code === 'blank_idempotency_key',
  );

const NOTHING_OF_BODY =
  'this hook makes nothing of this body; the operator finds the reason under the request id';
const NO_TEXT = 'this hook found no text in the body';

/** The detail of an error that came from a mapping: what it means to the sender, and whom to ask. */
const OF_MAPPINGS: Partial<Readonly<Record<HookErrorCode, string>>> = {
  invalid_body: 'the body has not the shape that this hook reads',
  invalid_field: NOTHING_OF_BODY,
  mapping_requires_text: NO_TEXT,
  mapping_requires_message: NO_TEXT,
  model_not_allowed: NOTHING_OF_BODY,
  unknown_channel: NOTHING_OF_BODY,
  invalid_recipient: NOTHING_OF_BODY,
  too_many_actions: 'the request would start too much at once',
  too_much_work: 'the request asks for too much work; send less in one request',
  no_mapping_matched: 'no mapping takes this request; the operator finds the reason under the request id',
};

/** The error as its sender may read it; status and code stay. */
function senderError(error: HookError, path: string): HookError {
  if (isBuiltInRoute(path)) return error;
  const { code, errors, retryAfterSeconds, title } = error;
  const isMissed = code === 'no_mapping_matched';
  const items = isMissed ? [errorFinding(CONDITION_NOT_MET, title)] : errors;
  return new HookError(code, OF_MAPPINGS[code] ?? title, {
    errors: items.map((each) => ({
      ...each,
      message: quoted(title),
      subject: defined({ index: each.subject?.index }),
    })),
    ...(retryAfterSeconds === undefined ? {} : { retryAfterSeconds }),
  });
}
