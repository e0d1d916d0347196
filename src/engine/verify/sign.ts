import { createPrivateKey, createSecretKey, hash, type KeyObject, sign } from 'node:crypto';
import { isJsonObject, type JsonObject, parseJson } from '../../base/json.ts';
import { isForm, isFormInParts } from './find-header.ts';
import { readKey } from './keys.ts';
import { mailgunSignature, signedFields, TWILIO_HEADER, twilioSignature } from './own-ways.ts';
import type { SignatureColumns, SignedRequest, Way } from './scheme.ts';
import { writeTime, hmacOf } from './signature.ts';
import { compileContent, contentBytes } from './signed-content.ts';
import type { ProofSettings } from './verifier.ts';
import { belongs, schemeOf, type TableSettings } from './ways.ts';

export interface SigningFacts {
  readonly nowMs: number;
  /** The id of the delivery, for schemes that sign one. */
  readonly id: string;
  /** PEM of the sender's private key, for schemes of which the path holds only the public key. */
  readonly privateKey?: string;
}

/** The request as the sender would have sent it, or why it cannot be made here. */
export type SignResult =
  | {
      readonly kind: 'signed';
      readonly headers: Readonly<Record<string, string>>;
      readonly body: Buffer;
      readonly url: string;
    }
  | { readonly kind: 'problem'; readonly problem: string };

const ONLY_THE_ISSUER =
  'only the issuer can make a token of oidc; send one with --header "authorization: Bearer …"';

/** Signs a request as its sender would, with the current secret; for tests and for `sluice send --sign`. */
export function signRequest(
  { settings, secrets }: ProofSettings,
  request: SignedRequest,
  facts: SigningFacts,
): SignResult {
  const [secret = ''] = secrets;
  if (settings.scheme === 'oidc') return problem(ONLY_THE_ISSUER);
  if (secret === '') return problem('the first secret of the path is missing or empty');
  if (settings.scheme === 'basic') {
    const encoded = Buffer.from(`${settings.user}:${secret}`, 'utf8').toString('base64');
    return authorized(`Basic ${encoded}`, request);
  }
  if (settings.scheme === 'token') return authorized(`Bearer ${secret}`, request);
  const way = wayOf(settings, secret);
  return way === undefined
    ? problem('the first secret fits no way of the scheme')
    : signWay(way, { secret, request, facts });
}

function problem(text: string): SignResult {
  return { kind: 'problem', problem: text };
}

function authorized(authorization: string, { body, url }: SignedRequest): SignResult {
  return { kind: 'signed', headers: { authorization }, body, url };
}

function wayOf(settings: TableSettings, secret: string): Way | undefined {
  return schemeOf(settings).ways.find((entry) => belongs(entry, secret))?.way;
}

interface Signing {
  readonly secret: string;
  readonly request: SignedRequest;
  readonly facts: SigningFacts;
}

function signWay(way: Way, signing: Signing): SignResult {
  const { secret, request } = signing;
  const { body, url } = request;
  switch (way.kind) {
    case 'secret':
      return { kind: 'signed', headers: { [way.header]: secret }, body, url };
    case 'twilio':
      return signTwilio(way.header, signing);
    case 'mailgun':
      return signMailgun(signing);
    case 'signature':
      return signHeader(way.columns, signing);
  }
}

function signTwilio(header: string, { secret, request }: Signing): SignResult {
  const isCovered =
    header !== TWILIO_HEADER ||
    request.body.length === 0 ||
    isForm(request.rawHeaders) ||
    request.url.includes('bodySHA256=');
  const separator = request.url.includes('?') ? '&' : '?';
  const url = isCovered
    ? request.url
    : `${request.url}${separator}bodySHA256=${hash('sha256', request.body)}`;
  const fields = signedFields({ ...request, url });
  if (fields.kind === 'reason') return problem('the body is no form that this sender could have sent');
  const value = twilioSignature(textKey(secret), url, fields.text).toString('base64');
  return { kind: 'signed', headers: { [header]: value }, body: request.body, url };
}

function signMailgun({ secret, request, facts }: Signing): SignResult {
  const timestamp = String(Math.floor(facts.nowMs / 1000));
  const token = hash('sha256', facts.id).slice(0, 50);
  const signature = mailgunSignature(textKey(secret), { timestamp, token }).toString('hex');
  const { body: original, url } = request;
  if (isForm(request.rawHeaders)) {
    const fields = new URLSearchParams(original.toString('utf8'));
    for (const [name, value] of Object.entries({ timestamp, token, signature })) fields.set(name, value);
    return { kind: 'signed', headers: {}, body: Buffer.from(fields.toString(), 'utf8'), url };
  }
  if (isFormInParts(request.rawHeaders))
    return problem(
      'a form in parts is not signed here: write content-type: application/x-www-form-urlencoded',
    );
  const payload = parseObject(original);
  if (payload === undefined) return problem('a request of Mailgun is a JSON object, and this body is none');
  const signed = { ...payload, signature: { timestamp, token, signature } };
  return { kind: 'signed', headers: {}, body: Buffer.from(JSON.stringify(signed), 'utf8'), url };
}

function parseObject(body: Buffer): JsonObject | undefined {
  try {
    const value = parseJson(body.toString('utf8'), body);
    return isJsonObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

function textKey(secret: string): KeyObject {
  return createSecretKey(Buffer.from(secret, 'utf8'));
}

function signHeader(columns: SignatureColumns, { secret, request, facts }: Signing): SignResult {
  const timestamp = writeTime(facts.nowMs, columns.timestampUnit);
  const body = withTimestampMember(columns, request.body, timestamp);
  if (body === undefined) return problem('the body is no JSON object, and this sender puts its time there');
  const values = { ...request, body, timestamp, id: facts.id };
  const signature = signatureOf(columns, contentBytes(compileContent(columns.signed), values), {
    secret,
    facts,
  });
  if (typeof signature !== 'string') return signature;
  const headers: Record<string, string> = { [columns.header]: headerValue(columns, signature, timestamp) };
  if (columns.timestampHeader !== undefined) headers[columns.timestampHeader] = timestamp;
  if (columns.idHeader !== undefined) headers[columns.idHeader] = facts.id;
  return { kind: 'signed', headers, body, url: request.url };
}

/** The member is replaced where it stands, so that the rest of the file is sent as it is written. */
function withTimestampMember(
  { timestampMember, timestampUnit }: SignatureColumns,
  body: Buffer,
  timestamp: string,
): Buffer | undefined {
  if (timestampMember === undefined) return body;
  const payload = parseObject(body);
  const time = timestampUnit === 'iso8601' ? timestamp : Number(timestamp);
  return payload === undefined
    ? undefined
    : Buffer.from(JSON.stringify({ ...payload, [timestampMember]: time }), 'utf8');
}

function headerValue(columns: SignatureColumns, signature: string, timestamp: string): string {
  const { separator, assign = '=', signatureField, timestampField, prefix = '' } = columns;
  if (separator === undefined) return prefix + signature;
  const time = timestampField === undefined ? [] : [`${timestampField}${assign}${timestamp}`];
  return [...time, `${signatureField ?? ''}${assign}${prefix}${signature}`].join(separator);
}

const NO_PRIVATE_KEY =
  "the path holds only the sender's public key; give a private key of your own with --sign-key";

function signatureOf(
  columns: SignatureColumns,
  content: readonly Buffer[],
  { secret, facts }: Pick<Signing, 'secret' | 'facts'>,
): string | SignResult {
  const { algorithm, encoding } = columns;
  if (algorithm === 'ed25519' || algorithm === 'ecdsa-sha256') {
    if (facts.privateKey === undefined) return problem(NO_PRIVATE_KEY);
    const digest = algorithm === 'ed25519' ? undefined : 'sha256';
    return sign(digest, Buffer.concat(content), createPrivateKey(facts.privateKey)).toString(encoding);
  }
  const read = readKey(columns, secret);
  if (read.kind === 'problem') return problem(`the first secret of the path cannot be used: ${read.problem}`);
  return hmacOf(algorithm, read.key, content).toString(encoding);
}
