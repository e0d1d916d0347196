import type { KeyObject } from 'node:crypto';
import { findHeader } from './find-header.ts';
import { isSameBytes, placeOfFitting } from './fitting-key.ts';
import { type Proof, refused, refusedByAge } from './proof.ts';
import type { SignatureColumns, SignedRequest } from './scheme.ts';
import { hmacOf, readPresented, SIGNED_ID, type SignatureJudge } from './signature.ts';
import { readTime, unitOf } from './signed-time.ts';

/**
 * Mercado Pago signs the parameter `data.id` of the address in small letters, the header `x-request-id` and the time,
 * each where it is there, and not the body. So the id of the request is that of the delivery.
 */
export const MERCADO_PAGO = {
  algorithm: 'hmac-sha256',
  header: 'x-signature',
  encoding: 'hex',
  separator: ',',
  signatureField: 'v1',
  timestampField: 'ts',
  idHeader: 'x-request-id',
  signed: '',
} as const satisfies SignatureColumns;

export function judgeMercadoPago(
  { keys, toleranceSeconds }: Pick<SignatureJudge, 'keys' | 'toleranceSeconds'>,
  request: SignedRequest,
  nowMs: number,
): Proof {
  const presented = readPresented(MERCADO_PAGO, [], request);
  if (typeof presented === 'string') return refused(presented);
  const { signatures, timestamp = '' } = presented;
  const signedAtSeconds = Math.floor(readTime(timestamp, unitOf(timestamp)) ?? 0);
  const id = findHeader(request.rawHeaders, MERCADO_PAGO.idHeader);
  if (typeof id === 'symbol' || (id !== undefined && !isPart(id))) return refused('malformed-id');
  const text = mercadoPagoText(request.url, { id, timestamp });
  if (text === undefined) return refused('malformed-proof');
  const ageSeconds = Math.floor(nowMs / 1000) - signedAtSeconds;
  const fits = (key: KeyObject): boolean => {
    const expected = hmacOf('hmac-sha256', key, [text]);
    return signatures.filter((signature) => isSameBytes(signature, expected)).length > 0;
  };
  const retired = placeOfFitting(keys, fits);
  if (retired < 0) return refused('wrong-proof', ageSeconds);
  const tooFar = refusedByAge(ageSeconds, toleranceSeconds);
  if (tooFar !== undefined) return tooFar;
  return { kind: 'proved', retired, signedAtSeconds, ...(id === undefined ? {} : { signedId: id }) };
}

/** What is signed; undefined where the address names several things, or one that could be read as two parts. */
export function mercadoPagoText(
  url: string,
  { id, timestamp }: { readonly id: string | undefined; readonly timestamp: string },
): string | undefined {
  const search = url.includes('?') ? url.slice(url.indexOf('?')) : '';
  const [dataId, ...others] = new URLSearchParams(search).getAll('data.id');
  if (others.length > 0 || (dataId !== undefined && !isPart(dataId))) return undefined;
  const parts = { id: dataId?.toLowerCase(), 'request-id': id, ts: timestamp };
  return Object.entries(parts)
    .map(([name, value]) => (value === undefined ? '' : `${name}:${value};`))
    .join('');
}

const isPart = (text: string): boolean => SIGNED_ID.test(text) && !text.includes(';');
