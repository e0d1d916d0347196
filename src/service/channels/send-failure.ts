/*
 * The one rule that says what a failed send to a platform means.
 *
 * `retry` needs proof that nothing was delivered: the connection was never made, or the platform answered 408 (it has
 * not got the whole message), 429 or 5xx in place of a result (504 is no such proof: it is a gateway that stopped waiting
 * for an answer). Everything that breaks off after the request may have been read, and a 2xx answer that cannot be read,
 * is `ambiguous`.
 * Messages are our own words and the platform's description with secrets removed; never a URL, which may carry one.
 */
import {
  connectionCode,
  connectionText,
  describe,
  errorChain,
  type JsonAnswer,
  NotSentError,
  StatusError,
} from '../../base/outgoing/outgoing.ts';
import type { ChannelCheck, SendResult } from './channel.ts';

export type SendFailure = Exclude<SendResult, { kind: 'sent' }>;

/** One message, from connecting to the end of the answer; the caller's signal may end it earlier. */
export const SEND_TIMEOUT_MS = 30_000;

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
  /** What to do, for every status. */
  readonly advice?: string | undefined;
}

export function refusal(platform: string, status: number, options: RefusalOptions = {}): SendFailure {
  const said = options.description ? `: ${options.description}` : '';
  if (status === 504)
    return { kind: 'ambiguous', code: 'timeout', message: `a gateway before ${platform} timed out (504)` };
  if (status === 408 || status === 429 || status >= 500) {
    const isLimit = status === 429;
    return {
      kind: 'retry',
      code: isLimit ? 'rate_limited' : 'unavailable',
      message: `${platform} ${isLimit ? 'asks to slow down' : `answered ${status}`}${said}`,
      ...(options.retryAfterMs === undefined ? {} : { retryAfterMs: options.retryAfterMs }),
    };
  }
  return { kind: 'failed', ...finalRefusal(platform, status, { ...options, said }) };
}

function finalRefusal(
  platform: string,
  status: number,
  { said, advice, remedy = advice }: RefusalOptions & { readonly said: string },
): { readonly code: string; readonly message: string } {
  const hint = (advice ?? remedy) === undefined ? '' : ` (${advice ?? remedy ?? ''})`;
  const always = advice === undefined ? '' : hint;
  if (status === 401)
    return { code: 'unauthorized', message: `${platform} refused the credentials${said}${hint}` };
  if (status === 403) return { code: 'forbidden', message: `${platform} does not allow it${said}${hint}` };
  if (status === 404)
    return { code: 'not_found', message: `${platform} knows no such recipient or address${said}${always}` };
  const redirect = status < 400 ? ' (a redirect, which is not followed: check baseUrl)' : '';
  return { code: 'rejected', message: `${platform} answered ${status}${said}${redirect}${always}` };
}

/** The failure behind a JSON answer with a status other than 2xx; `said` are the platform's words. */
export function refusedBy(
  platform: string,
  { status, retryAfterMs }: Pick<JsonAnswer, 'status' | 'retryAfterMs'>,
  {
    said,
    secrets = [],
    ...options
  }: RefusalOptions & { readonly said?: unknown; readonly secrets?: readonly string[] },
): SendFailure | undefined {
  if (status < 300) return undefined;
  return refusal(platform, status, { description: describe(said, secrets), retryAfterMs, ...options });
}

/** The result where the platform took a message, with its id out of the answer. */
export function sentAs(platform: string, id: unknown): SendResult {
  return typeof id === 'string' || typeof id === 'number'
    ? { kind: 'sent', messageId: String(id) }
    : unreadable(platform);
}

/** The result where a 2xx answer cannot be read: the message probably arrived. */
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
    return { kind: 'retry', code: how, message: `${platform} cannot be reached (${connectionText(code)})` };
  }
  if (chain.some((link) => link.name === 'TimeoutError' || link.name === 'AbortError')) {
    return { kind: 'ambiguous', code: 'timeout', message: `${platform} did not answer in time` };
  }
  return { kind: 'ambiguous', code: 'connection_lost', message: `the connection to ${platform} broke off` };
}

/** A step before the message itself (a token, a channel to be opened) did not succeed: nothing arrived. */
export class PreparationError extends Error {
  override readonly name = 'PreparationError';
  /** Absent where an error is the cause, whose meaning is decided later. */
  readonly failure: SendFailure | undefined;

  constructor(failure: SendFailure | undefined, options?: ErrorOptions) {
    super('a step before the message failed', options);
    this.failure = failure;
  }
}

/** Takes a step before the message: whatever it throws proves that nothing was sent. */
export async function prepare<T>(step: () => Promise<T>): Promise<T> {
  try {
    return await step();
  } catch (error) {
    throw error instanceof PreparationError ? error : new PreparationError(undefined, { cause: error });
  }
}

/**
 * What a step before the message brought.
 * @throws PreparationError where it was refused or brought nothing
 */
export function brought(platform: string, failure: SendFailure | undefined, id: string | undefined): string {
  if (failure !== undefined || id === undefined) throw new PreparationError(failure ?? unreadable(platform));
  return id;
}

export function notSent(): SendFailure {
  return { kind: 'retry', code: 'not_sent', message: 'stopped before the request was sent' };
}

export function failedCheck(failure: SendFailure): ChannelCheck {
  const code = failure.kind === 'refused-format' ? 'rejected' : failure.code;
  return { ok: false, code, message: failure.message };
}

/** The check's result where a 2xx answer is not what the platform would say: something else answers there. */
export function unreadableCheck(platform: string): ChannelCheck {
  const message = `what answers there is not ${platform}: the answer cannot be read (check baseUrl)`;
  return { ok: false, code: 'malformed_answer', message };
}
