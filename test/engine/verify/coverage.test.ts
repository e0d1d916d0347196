import { createHmac } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import {
  createVerifier,
  findCoverageGaps,
  SCHEMES,
  VerifySettings,
} from '../../../src/engine/verify/verify.ts';
import { proofCoverage } from '../../../src/engine/verify/facts.ts';
import type { Scheme } from '../../../src/engine/verify/scheme.ts';

const proofOf = (settings: object, secrets = ['secret']) => ({
  settings: VerifySettings.parse({
    ...settings,
    ...('issuer' in settings ? {} : { secrets: secrets.map(() => '${A}') }),
  }),
  secrets,
});
const hmac = { scheme: 'hmac', header: 'x-sig' };

describe('what a proof covers', () => {
  test.each([
    [{ ...hmac }, { body: true, url: false, headers: [] }],
    [
      { ...hmac, signed: '{url}' },
      { body: false, url: true, headers: [] },
    ],
    [
      { ...hmac, signed: '{id}.{timestamp}.{body}', idHeader: 'x-id', timestampHeader: 'x-time' },
      { body: true, url: false, headers: ['x-id', 'x-time'] },
    ],
    [
      { ...hmac, idHeader: 'x-id' },
      { body: true, url: false, headers: [] },
    ],
    [{ scheme: 'twilio' }, { body: true, url: true, headers: [] }],
    [{ scheme: 'square' }, { body: true, url: true, headers: [] }],
    [{ scheme: 'mailgun' }, { body: false, url: false, headers: [] }],
    [{ scheme: 'mandrill' }, { body: true, url: true, headers: [] }],
    [{ scheme: 'header', header: 'x-secret' }, undefined],
    [{ scheme: 'token' }, undefined],
    [{ scheme: 'oidc', issuer: 'https://a.example', audience: 'b' }, undefined],
  ])('says what the proof %j covers', (settings, expected) => {
    expect(proofCoverage(proofOf(settings))).toEqual(expected);
  });

  test('the secret decides which way of GitLab counts', () => {
    expect(proofCoverage(proofOf({ scheme: 'gitlab' }, ['a token']))).toBeUndefined();
    expect(proofCoverage(proofOf({ scheme: 'gitlab' }, ['whsec_AAAA']))).toMatchObject({ body: true });
  });
});

describe('what is used and not covered', () => {
  test.each([
    ['a query', hmac, { method: 'GET' }],
    ['a query with the signature of a provider', { scheme: 'stripe' }, { method: 'GET' }],
    ['a time', { ...hmac, timestampHeader: 'x-time' }, {}],
    ['a time in the list', { ...hmac, separator: ',', timestampField: 't', signatureField: 'v1' }, {}],
    ['the attributes of an event', hmac, { bodyFormat: 'cloudevents' }],
    ['an id beside the body', { ...hmac, idHeader: 'x-id', signed: '{id}{body}' }, {}],
    ['an id behind the body', { ...hmac, idHeader: 'x-id', signed: '{body}{id}' }, {}],
    ['the body', { ...hmac, signed: '{url}' }, {}],
    ['the way to the keys', { scheme: 'oidc', issuer: 'http://a.example', audience: 'b' }, {}],
    [
      'the way to keys elsewhere',
      { scheme: 'oidc', issuer: 'https://a.example', audience: 'b', jwksUri: 'http://a.example/keys' },
      {},
    ],
  ] as const)('%s', (_, settings, path) => {
    expect(findCoverageGaps(proofOf(settings), path)).toHaveLength(1);
  });

  test.each([
    ['a query that is signed', { ...hmac, signed: '{url}' }, { method: 'GET' }],
    ['a time that is signed', { ...hmac, timestampHeader: 'x-time', signed: '{timestamp}.{body}' }, {}],
    ['a time in the body', { ...hmac, timestampMember: 'at' }, {}],
    ['an id set apart', { ...hmac, idHeader: 'x-id', signed: '{id}.{body}' }, {}],
    ['an id before a time', { ...hmac, idHeader: 'x-id', signed: '{id}{timestamp}{body}' }, {}],
    ['events behind a secret', { scheme: 'header', header: 'x-secret' }, { bodyFormat: 'cloudevents' }],
    ['a token in a GET', { scheme: 'token' }, { method: 'GET' }],
    ['an issuer on this machine', { scheme: 'oidc', issuer: 'http://127.0.0.1:9/x', audience: 'b' }, {}],
    [
      'an issuer that is only a name',
      { scheme: 'oidc', issuer: 'http://a.example', audience: 'b', jwksUri: 'https://a.example/keys' },
      {},
    ],
  ] as const)('not %s', (_, settings, path) => {
    expect(findCoverageGaps(proofOf(settings), path)).toEqual([]);
  });

  test.each(Object.entries(SCHEMES as Readonly<Record<string, Scheme>>))(
    'nothing of %s, as its provider documents it',
    (scheme) => {
      expect(findCoverageGaps(proofOf({ scheme }), {})).toEqual([]);
    },
  );
});

test("with signed: '{url}' a captured GET fits no other query", async () => {
  const proof = proofOf({ ...hmac, signed: '{url}' });
  const verifier = createVerifier(proof, { clock: () => 0, fetchJson: () => Promise.reject(new Error()) });
  const url = 'https://hooks.example.com/hooks/ping?host=a';
  const signature = createHmac('sha256', 'secret').update(url).digest('hex');
  const send = (called: string) =>
    verifier.prove({
      method: 'GET',
      url: called,
      rawHeaders: ['X-Sig', signature],
      body: Buffer.alloc(0),
    });
  expect(verifier.signsUrl).toBe(true);
  expect(await send(url)).toMatchObject({ kind: 'proved' });
  expect(await send(`${url}&host=b`)).toMatchObject({ kind: 'refused', reason: 'wrong-proof' });
});
