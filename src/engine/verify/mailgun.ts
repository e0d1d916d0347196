import type { KeyObject } from 'node:crypto';
import { readPartTexts } from '../../base/payload/payload.ts';
import { decodeExactly } from './encodings.ts';
import { findHeader, isForm, isFormInParts } from './find-header.ts';
import { isSameBytes, placeOfFitting } from './fitting-key.ts';
import { type Proof, refused, refusedByAge } from './proof.ts';
import type { SignedRequest } from './scheme.ts';
import { hmacOf, type SignatureJudge } from './signature.ts';
import { readFormPairs, readJsonMembers } from './signed-fields.ts';

/**
 * Mailgun puts its signature into the body and signs only a time and a token there, not the event. So the token is
 * the id of the delivery: one token is good for one request.
 */
export interface MailgunFields {
  readonly timestamp: string;
  readonly token: string;
  readonly signature: string;
}

const FIELDS = ['timestamp', 'token', 'signature'] as const;
const TIMESTAMP = /^\d{1,13}$/;
const TOKEN = /^[\x21-\x7e]{1,256}$/;

export type MailgunJudge = Pick<SignatureJudge, 'keys' | 'toleranceSeconds'>;

export function judgeMailgun(judge: MailgunJudge, request: SignedRequest, nowMs: number): Proof {
  const fields = readMailgunFields(request);
  if (fields === undefined) return refused('no-proof');
  if (!TIMESTAMP.test(fields.timestamp)) return refused('malformed-timestamp');
  if (!TOKEN.test(fields.token)) return refused('malformed-id');
  const presented = decodeExactly(fields.signature, 'hex');
  if (presented === undefined) return refused('malformed-proof');
  const ageSeconds = Math.floor(nowMs / 1000) - Number(fields.timestamp);
  const retired = placeOfFitting(judge.keys, (key) => isSameBytes(presented, mailgunSignature(key, fields)));
  if (retired < 0) return refused('wrong-proof', ageSeconds);
  const tooFar = refusedByAge(ageSeconds, judge.toleranceSeconds);
  if (tooFar !== undefined) return tooFar;
  return { kind: 'proved', retired, signedAtSeconds: Number(fields.timestamp), signedId: fields.token };
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
