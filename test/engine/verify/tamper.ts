/** What may have been changed on the way, made for any vector. */
import type { SignedRequest } from '../../../src/engine/verify/verify.ts';
import type { Vector } from './vectors.ts';

export interface Variant {
  readonly name: string;
  readonly vector: Vector;
  /** When it arrives, counted from when it was sent. */
  readonly laterSeconds?: number;
}

/** Every change that must be refused. */
export function tamper(vector: Vector): readonly Variant[] {
  return [
    ...tamperBody(vector),
    ...tamperHeaders(vector),
    ...tamperSecret(vector),
    ...tamperTime(vector),
    ...tamperUrl(vector),
  ];
}

function withRequest(vector: Vector, change: Partial<SignedRequest>): Vector {
  return { ...vector, request: { ...vector.request, ...change } };
}

function tamperBody(vector: Vector): readonly Variant[] {
  const { body } = vector.request;
  const last = Buffer.from(body);
  last[last.length - 2] = (last.at(-2) as number) ^ 1;
  const emptied = { name: 'an empty body', vector: withRequest(vector, { body: Buffer.alloc(0) }) };
  if (!vector.coversBody) return vector.header === undefined ? [emptied, ...tamperMailgun(vector)] : [];
  return [
    emptied,
    { name: 'one bit of the body', vector: withRequest(vector, { body: last }) },
    { name: 'a byte more', vector: withRequest(vector, { body: Buffer.concat([body, Buffer.from('1')]) }) },
    { name: 'a byte less', vector: withRequest(vector, { body: body.subarray(0, -1) }) },
  ];
}

/** Mailgun's proof stands in the body: its three members are the header of others. */
function tamperMailgun(vector: Vector): readonly Variant[] {
  const text = vector.request.body.toString('utf8');
  const changes: readonly (readonly [string, string])[] = [
    ['another time', text.replace('"1529006854"', '"1529006855"')],
    ['another token', text.replace('"a8ce', '"a8cf')],
    ['one digit of the signature', text.replace('"b63c', '"b63d')],
    ['no signature', text.replace('"signature":"', '"other":"')],
    ['the signature twice', text.replace('"token"', '"signature":"b63c","token"')],
    ['a signature that is no text', text.replace(/"signature":"[^"]*"/, '"signature":{}')],
  ];
  return changes.map(([name, changed]) => ({
    name,
    vector: withRequest(vector, { body: Buffer.from(changed, 'utf8') }),
  }));
}

function tamperHeaders(vector: Vector): readonly Variant[] {
  const { header, signedHeaders = [], request } = vector;
  if (header === undefined) return [];
  const value = request.rawHeaders[indexOf(request, header) + 1] as string;
  const at = value.length - 10;
  const other = value[at] === 'a' ? 'b' : 'a';
  const proofs: readonly Variant[] = [
    { name: 'no proof', vector: withHeader(vector, header, undefined) },
    { name: 'a blank proof', vector: withHeader(vector, header, ' ') },
    {
      name: 'one character of the proof',
      vector: withHeader(vector, header, value.slice(0, at) + other + value.slice(at + 1)),
    },
    { name: 'half of the proof', vector: withHeader(vector, header, value.slice(0, value.length / 2)) },
    { name: 'more after the proof', vector: withHeader(vector, header, `${value}0`) },
    { name: 'more before the proof', vector: withHeader(vector, header, `0${value}`) },
    {
      name: 'the proof twice',
      vector: withRequest(vector, { rawHeaders: [...request.rawHeaders, header, value] }),
    },
  ];
  return [...proofs, ...signedHeaders.flatMap((name) => tamperSigned(vector, name))];
}

function tamperSigned(vector: Vector, name: string): readonly Variant[] {
  const { request } = vector;
  const value = request.rawHeaders[indexOf(request, name) + 1] as string;
  return [
    { name: `no ${name}`, vector: withHeader(vector, name, undefined) },
    { name: `another ${name}`, vector: withHeader(vector, name, `${value}0`) },
    { name: `${name} with text after it`, vector: withHeader(vector, name, `${value}.5`) },
    {
      name: `${name} twice`,
      vector: withRequest(vector, { rawHeaders: [...request.rawHeaders, name, value] }),
    },
  ];
}

function tamperSecret(vector: Vector): readonly Variant[] {
  const { proof } = vector;
  const [secret = ''] = proof.secrets;
  const at = secret.length - 8;
  const near = secret.slice(0, at) + (secret[at] === '2' ? '3' : '2') + secret.slice(at + 1);
  return [
    { name: 'a secret with another character', vector: { ...vector, proof: { ...proof, secrets: [near] } } },
    { name: 'no secret', vector: { ...vector, proof: { ...proof, secrets: [''] } } },
  ];
}

function tamperTime(vector: Vector): readonly Variant[] {
  const { toleranceSeconds } = vector;
  if (toleranceSeconds === undefined) return [];
  return [
    { name: 'what is older than the tolerance', vector, laterSeconds: toleranceSeconds + 1 },
    { name: 'what comes from the future', vector, laterSeconds: -toleranceSeconds - 1 },
  ];
}

function tamperUrl(vector: Vector): readonly Variant[] {
  const { url } = vector.request;
  if (vector.coversUrl !== true) return [];
  return [
    { name: 'another host', vector: withRequest(vector, { url: url.replace('://', '://a.') }) },
    { name: 'a parameter more', vector: withRequest(vector, { url: `${url}?x=1` }) },
    { name: 'http for https', vector: withRequest(vector, { url: url.replace('https:', 'http:') }) },
  ];
}

function indexOf({ rawHeaders }: SignedRequest, name: string): number {
  return rawHeaders.findIndex((entry, index) => index % 2 === 0 && entry.toLowerCase() === name);
}

function withHeader(vector: Vector, name: string, value: string | undefined): Vector {
  const at = indexOf(vector.request, name);
  const { rawHeaders } = vector.request;
  const changed = value === undefined ? [] : [rawHeaders[at] as string, value];
  return withRequest(vector, {
    rawHeaders: [...rawHeaders.slice(0, at), ...changed, ...rawHeaders.slice(at + 2)],
  });
}
