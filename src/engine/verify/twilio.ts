import { createHmac, hash, type KeyObject } from 'node:crypto';
import { decodeExactly } from './encodings.ts';
import { findHeader, isForm, SEVERAL } from './find-header.ts';
import { isSameBytes, placeOfFitting } from './fitting-key.ts';
import { type Proof, type RefusalReason, refused } from './proof.ts';
import type { SignedRequest } from './scheme.ts';
import { readFormPairs } from './signed-fields.ts';

/**
 * Twilio signs the address and the fields of the form, sorted by name, name and value written one after the other.
 * A body that is no form is signed through its SHA-256 in the query parameter `bodySHA256` of the address. A body
 * that is covered by neither is refused, whatever the signature says.
 * Mandrill signs forms in the same way, under its own header.
 */
export const TWILIO_HEADER = 'x-twilio-signature';

const BODY_HASH = /[?&]bodySHA256=([0-9a-f]{64})(?:&|$)/i;

export function judgeTwilio(keys: readonly KeyObject[], name: string, request: SignedRequest): Proof {
  const header = findHeader(request.rawHeaders, name);
  if (header === undefined || header === '') return refused('no-proof');
  const presented = header === SEVERAL ? undefined : decodeExactly(header, 'base64');
  if (presented === undefined) return refused('malformed-proof');
  const fields = signedFields(request);
  if (fields.kind === 'reason') return refused(fields.reason);
  const urls = withAndWithoutPort(request.url);
  const bytes = Buffer.from(fields.text, 'utf8');
  const retired = placeOfFitting(
    keys,
    (key) => urls.filter((url) => isSameBytes(presented, twilioSignature(key, url, bytes))).length > 0,
  );
  return retired < 0 ? refused('wrong-proof') : { kind: 'proved', retired };
}

export function twilioSignature(key: KeyObject, url: string, fields: string | Buffer): Buffer {
  return createHmac('sha1', key).update(url, 'utf8').update(fields).digest();
}

export type SignedFields =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'reason'; readonly reason: RefusalReason };

/** What follows the address in the signed text. */
export function signedFields({ url, rawHeaders, body }: SignedRequest): SignedFields {
  const announced = BODY_HASH.exec(url)?.[1];
  if (announced !== undefined && hash('sha256', body) !== announced.toLowerCase()) {
    return { kind: 'reason', reason: 'wrong-proof' };
  }
  if (!isForm(rawHeaders)) {
    return body.length > 0 && announced === undefined
      ? { kind: 'reason', reason: 'body-not-covered' }
      : { kind: 'text', text: '' };
  }
  const pairs = readFormPairs(body);
  if (pairs === undefined) return { kind: 'reason', reason: 'unreadable-body' };
  return { kind: 'text', text: sortedFields(pairs) };
}

/** Names in the order of their characters' codes; of a name with several values each value once, sorted. */
function sortedFields(pairs: readonly (readonly [string, string])[]): string {
  const byName = new Map<string, Set<string>>();
  for (const [name, value] of pairs) {
    const values = byName.get(name);
    if (values === undefined) byName.set(name, new Set([value]));
    else values.add(value);
  }
  // Without a comparison of their own, toSorted compares code units, which is what Twilio's libraries do.
  return [...byName.keys()]
    .toSorted()
    .flatMap((name) => [...(byName.get(name) as Set<string>)].toSorted().map((value) => name + value))
    .join('');
}

/** Twilio signs the address with its standard port or without it, by the kind of request. */
function withAndWithoutPort(url: string): readonly string[] {
  const match = /^(https?):\/\/([^/?#]*)(.*)$/is.exec(url);
  if (match === null) return [url];
  const [, scheme = '', authority = '', rest = ''] = match;
  const standard = scheme.toLowerCase() === 'https' ? ':443' : ':80';
  if (authority.endsWith(standard))
    return [url, `${scheme}://${authority.slice(0, -standard.length)}${rest}`];
  return /:\d+$/.test(authority) ? [url] : [url, `${scheme}://${authority}${standard}${rest}`];
}
