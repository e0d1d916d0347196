/*
 * The one rule by which a failed send to a platform is told apart.
 *
 * `retry` needs proof that nothing was delivered: the connection was never made, or the platform answered 429 or 5xx
 * in place of a result (504 is no such proof: it is a gateway that stopped waiting for an answer). Everything that
 * breaks off after the request may have been read, and a 2xx answer that cannot be read, is `ambiguous`.
 * Messages are our own words and the platform's description with secrets removed; never a URL, which may carry one.
 */
import { connectionCode, errorChain, NotSentError, StatusError } from '../outgoing/outgoing.ts';
import type { ChannelCheck, SendResult } from './channel.ts';

/** A send that did not succeed. */
export type SendFailure = Exclude<SendResult, { kind: 'sent' }>;

/** One message, from connecting to the end of the answer; the caller's signal may end it earlier. */
export const SEND_TIMEOUT_MS = 30_000;
const NOT_SENT = 'stopped before the request was sent';

/** Ends with the caller's signal, and by itself after `SEND_TIMEOUT_MS`. */
export function bounded(signal: AbortSignal): AbortSignal {
  return AbortSignal.any([signal, AbortSignal.timeout(SEND_TIMEOUT_MS)]);
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
