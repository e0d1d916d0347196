import { createHmac } from 'node:crypto';
import { defined } from '../../../base/json.ts';
import { callbackPlace, type NewCallback } from '../../../engine/storage/storage.ts';
import type { GatewayConfiguration } from '../gateway-base.ts';
import { deriveSignal } from '../../../base/timers/timers.ts';
import { connectionCode, connectionText, parseRetryAfter } from '../../../base/outgoing/outgoing.ts';

const CALLBACK_TIMEOUT_MS = 10_000;

export type CallbackResult =
  | { readonly kind: 'done' }
  | {
      readonly kind: 'failed';
      readonly code: string;
      readonly message: string;
      /** True where the receiver wants no more (410). */
      readonly final: boolean;
      readonly retryAfterMs?: number;
    };

export interface PostOptions {
  /** The same for every attempt, so that the receiver knows a repeat. */
  readonly id: string;
  readonly secret: string | undefined;
  /** Absent where no address is a reference. */
  readonly readReference?: GatewayConfiguration['readReference'];
  readonly nowMs: number;
  readonly signal: AbortSignal;
}

/**
 * Posts a callback once, signed as Standard Webhooks where there is a secret. Redirects are not followed: the signed
 * outcome goes to the configured address only. Messages never name the URL, which may carry a secret.
 */
export async function postCallback(callback: NewCallback, options: PostOptions): Promise<CallbackResult> {
  const url = addressOf(callback, options);
  if (url === undefined)
    return failed('no_address', `${callbackPlace(callback)}, which callbackUrl names, holds no address`);
  using bounded = deriveSignal(options.signal, CALLBACK_TIMEOUT_MS);
  try {
    const response = await fetch(url, {
      method: 'POST',
      headers: headersOf(callback, options),
      body: callback.body,
      redirect: 'manual',
      signal: bounded.signal,
    });
    await response.body?.cancel();
    return readStatus(response);
  } catch (error) {
    return error instanceof Error && error.name === 'TimeoutError'
      ? failed('timeout', `no answer within ${CALLBACK_TIMEOUT_MS / 1000} s`)
      : failed('unreachable', `the receiver could not be reached (${networkCode(error)})`);
  }
}

/** A reference is read when it is called, so that no secret is stored; a store of an older version has the address. */
function addressOf({ url }: NewCallback, { readReference }: PostOptions): string | undefined {
  const address = typeof url === 'string' && URL.canParse(url) ? url : readReference?.(url);
  return address !== undefined && URL.canParse(address) ? address : undefined;
}

function headersOf(
  { body, traceparent }: NewCallback,
  { id, secret, nowMs }: PostOptions,
): Readonly<Record<string, string>> {
  const timestamp = Math.floor(nowMs / 1000);
  // The base64 HMAC-SHA256 over `id.timestamp.body`; the key is the part after `whsec_`, from base64.
  const key = secret && Buffer.from(secret.replace(/^whsec_/, ''), 'base64');
  const signature =
    key && `v1,${createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest('base64')}`;
  return {
    'content-type': 'application/json',
    'user-agent': 'sluice',
    'webhook-id': id,
    'webhook-timestamp': String(timestamp),
    ...defined({ traceparent, 'webhook-signature': signature }),
  };
}

function readStatus(response: Response): CallbackResult {
  if (response.ok) return { kind: 'done' };
  const { status } = response;
  if (status === 410)
    return { ...failed('gone', 'the receiver answered 410: it wants no more callbacks'), final: true };
  const retryAfterMs = parseRetryAfter(response.headers.get('retry-after'));
  const meaning = meaningOf(status);
  const said = `the receiver answered ${status}${meaning === undefined ? '' : `: ${meaning}`}`;
  return { ...failed(`status_${status}`, said), ...defined({ retryAfterMs }) };
}

/** What an operator should look at, by the status. */
function meaningOf(status: number): string | undefined {
  if (status >= 300 && status < 400) return 'redirects are not followed; write the address it leads to';
  if (status === 401 || status === 403)
    return 'a callback is signed with gateway.callbackSecret (Standard Webhooks), and sends no other proof';
  if (status === 404) return 'correct the path of callbackUrl';
  return status === 405 ? 'callbacks come as POST' : undefined;
}

function failed(code: string, message: string): Extract<CallbackResult, { readonly kind: 'failed' }> {
  return { kind: 'failed', code, message, final: false };
}

function networkCode(error: unknown): string {
  const known = connectionCode(error);
  if (known !== undefined) return connectionText(known);
  const cause = error instanceof Error ? error.cause : undefined;
  return cause instanceof Error && 'code' in cause ? String(cause.code) : 'no code';
}
