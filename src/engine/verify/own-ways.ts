/** Senders that sign in a way of their own, which no columns describe. */
import { createHmac, hash, type KeyObject } from 'node:crypto';
import { readPartTexts } from '../../base/payload/payload.ts';
import { isSameBytes, placeOfFitting } from '../../base/compare-secrets.ts';
import { decodeExactly } from './keys.ts';
import { findHeader, isForm, isFormInParts, SEVERAL } from './find-header.ts';
import { type Proof, proofBy, type RefusalReason, refused } from './proof.ts';
import type { SignedRequest } from './scheme.ts';
import { hmacOf, type SignatureJudge } from './signature.ts';
import { readFormPairs, readJsonMembers } from './signed-fields.ts';

type OwnJudge = Pick<SignatureJudge, 'keys' | 'toleranceSeconds'>;

/**
 * Mailgun puts its signature into the body and signs only a time and a token there, not the event. So the token is
 * the id of the delivery: one token is good for one request.
 */
type MailgunFields = Readonly<Record<(typeof FIELDS)[number], string>>;

const FIELDS = ['timestamp', 'token', 'signature'] as const;
const TIMESTAMP = /^\d{1,13}$/;
const TOKEN = /^[\x21-\x7e]{1,256}$/;

export function judgeMailgun(judge: OwnJudge, request: SignedRequest, nowMs: number): Proof {
  const fields = readMailgunFields(request);
  if (fields === undefined) return refused('no-proof');
  if (!TIMESTAMP.test(fields.timestamp)) return refused('malformed-timestamp');
  if (!TOKEN.test(fields.token)) return refused('malformed-id');
  const presented = decodeExactly(fields.signature, 'hex');
  if (presented === undefined) return refused('malformed-proof');
  const retired = placeOfFitting(judge.keys, (key) => isSameBytes(presented, mailgunSignature(key, fields)));
  const signed = { atSeconds: Number(fields.timestamp), id: fields.token };
  return proofBy(retired, signed, { nowMs, toleranceSeconds: judge.toleranceSeconds });
}

export function mailgunSignature(
  key: KeyObject,
  { timestamp, token }: Omit<MailgunFields, 'signature'>,
): Buffer {
  return hmacOf('hmac-sha256', key, [timestamp + token]);
}

/** The member `signature` of a JSON body (webhooks), or three fields of a form (routes and older webhooks; in parts where a mail has attachments). */
function readMailgunFields({ rawHeaders, body }: SignedRequest): MailgunFields | undefined {
  const [timestamp, token, signature] = valuesOf(rawHeaders, body);
  if (timestamp === undefined || token === undefined || signature === undefined) return undefined;
  return { timestamp, token, signature };
}

function valuesOf(rawHeaders: readonly string[], body: Buffer): readonly (string | undefined)[] {
  if (isForm(rawHeaders)) return formFields(body);
  if (!isFormInParts(rawHeaders)) return readJsonMembers(body, ['signature'], FIELDS);
  const contentType = findHeader(rawHeaders, 'content-type');
  return typeof contentType === 'string'
    ? readPartTexts({ bytes: body, headers: { 'content-type': contentType } }, FIELDS)
    : [];
}

function formFields(body: Buffer): readonly (string | undefined)[] {
  const pairs = readFormPairs(body) ?? [];
  return FIELDS.map((name) => {
    const own = pairs.filter(([candidate]) => candidate === name);
    return own.length === 1 ? own[0]?.[1] : undefined;
  });
}

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
  return proofBy(retired);
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
