import { CONDITION_NOT_MET } from '../../base/errors.ts';
import { defined, readJson } from '../../base/json.ts';
import { connectionCode, listField, parseRetryAfter, textField } from '../../base/outgoing/outgoing.ts';
import { deriveSignal } from '../../base/timers/timers.ts';

/** One delivery. A repeat has the same key and the same body. */
export interface EndpointRequest {
  /** Hook name, e.g. `mail`. */
  readonly path: string;
  readonly payload: object;
  /** `Idempotency-Key`: made of the message's identity. */
  readonly key: string;
}

export interface EndpointAnswer {
  readonly status: number;
  readonly code?: string;
  readonly detail?: string;
  readonly retryAfterMs?: number;
  /** True where a mapping has the name, but its condition was false. */
  readonly isConditionFalse?: boolean;
}

/** The way into the service that every hook takes. Rejects where no answer came. */
export type HookEndpoint = (request: EndpointRequest, signal: AbortSignal) => Promise<EndpointAnswer>;

/** What an answer means for the message and for those after it. */
export type DeliveryVerdict =
  | { readonly kind: 'delivered' }
  /** The service refused this message; it may accept the next one. */
  | { readonly kind: 'refused'; readonly status: number; readonly code: string; readonly reason: string }
  /** The service failed, because of this message or of a bug that passes. */
  | { readonly kind: 'failed'; readonly status: number; readonly code: string; readonly reason: string }
  /** The answer concerns every message: nothing moves until that is over. */
  | {
      readonly kind: 'delayed';
      readonly status: number | undefined;
      readonly code: string;
      readonly reason: string;
      readonly retryAfterMs: number | undefined;
    };

/** Statuses that say nothing of the message, but of the token, the path, the rate or the state of the service. */
const DELAYING = new Set([401, 403, 404, 405, 407, 408, 421, 425, 429, 502, 503, 504]);

export function judge(answer: EndpointAnswer): DeliveryVerdict {
  const { status } = answer;
  const code = answer.code ?? `http_${String(status)}`;
  const reason = answer.detail ?? `the service answered ${String(status)}`;
  if (status >= 200 && status < 300) return { kind: 'delivered' };
  // The key belongs to this very message, which came before, made by other settings or another version.
  if (code === 'idempotency_mismatch') return { kind: 'delivered' };
  if (code === 'no_mapping_matched' && answer.isConditionFalse === true) {
    return { kind: 'refused', status, code, reason };
  }
  if (DELAYING.has(status) || status < 400) {
    return { kind: 'delayed', status, code, reason, retryAfterMs: answer.retryAfterMs };
  }
  return { kind: status >= 500 ? 'failed' : 'refused', status, code, reason };
}

/** How long one delivery may take; transforms end far earlier. */
const DELIVERY_TIMEOUT_MS = 60_000;
/** Answers of the service are short. */
const MAX_ANSWER_CHARS = 64 * 1024;

/** Delivers over HTTP with the hook token, for a reader that runs next to the service. */
export function httpEndpoint({ url, token }: { readonly url: string; readonly token: string }): HookEndpoint {
  return async ({ path, payload, key }, signal) => {
    using derived = deriveSignal(signal, DELIVERY_TIMEOUT_MS);
    try {
      const response = await fetch(`${url}/${path}`, hookRequest({ payload, key, token }, derived.signal));
      const text = (await response.text()).slice(0, MAX_ANSWER_CHARS);
      return endpointAnswer(response.status, text, parseRetryAfter(response.headers.get('retry-after')));
    } catch (error) {
      if (signal.aborted) throw error;
      return unreachable(url, error);
    }
  };
}

function hookRequest(
  { payload, key, token }: { readonly payload: unknown; readonly key: string; readonly token: string },
  signal: AbortSignal,
): RequestInit {
  return {
    method: 'POST',
    headers: {
      authorization: `Bearer ${token}`,
      'content-type': 'application/json',
      'idempotency-key': key,
    },
    body: JSON.stringify(payload),
    redirect: 'manual',
    signal,
  };
}

/** An answer out of its status and its problem+json body. */
export function endpointAnswer(
  status: number,
  body: string,
  retryAfterMs: number | undefined,
): EndpointAnswer {
  // A proxy on the way may answer with a page of its own: its status says enough.
  const problem = status < 400 ? undefined : readJson(body);
  const code = textField(problem, 'code');
  const detail = textField(problem, 'detail') ?? textField(problem, 'title');
  return {
    status,
    ...defined({ code, detail, retryAfterMs }),
    ...(listField(problem, 'errors').some((item) => textField(item, 'code') === CONDITION_NOT_MET)
      ? { isConditionFalse: true }
      : {}),
  };
}

function unreachable(url: string, error: unknown): EndpointAnswer {
  const code = connectionCode(error);
  return {
    status: 503,
    code: 'unreachable',
    detail:
      code === undefined
        ? `the service at ${url} did not answer`
        : `the service at ${url} cannot be reached (${code})`,
  };
}

/** Delivers inside the process; `deliver` is the server's. */
export function ownEndpoint(
  deliver: (hook: {
    readonly name: string;
    readonly body: Buffer;
    readonly idempotencyKey: string;
  }) => Promise<{ readonly status: number; readonly body: string; readonly retryAfterSeconds?: number }>,
): HookEndpoint {
  return async ({ path, payload, key }) => {
    const body = Buffer.from(JSON.stringify(payload));
    const answer = await deliver({ name: path, body, idempotencyKey: key });
    const { retryAfterSeconds } = answer;
    return endpointAnswer(
      answer.status,
      answer.body,
      retryAfterSeconds === undefined ? undefined : retryAfterSeconds * 1000,
    );
  };
}
