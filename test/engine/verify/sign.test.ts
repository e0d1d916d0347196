import { generateKeyPairSync } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import {
  createVerifier,
  type ProofSettings,
  type SignedRequest,
  VerifySettings,
} from '../../../src/engine/verify/verify.ts';
import { signRequest, PROVIDER_NAMES } from '../../../src/engine/verify/facts.ts';

const NOW_MS = 1_700_000_000_123;
const FACTS = { nowMs: NOW_MS, id: 'msg_1' };
const PRIVATE = generateKeyPairSync('ed25519');
const CURVE = generateKeyPairSync('ec', { namedCurve: 'P-256' });

const request: SignedRequest = {
  method: 'POST',
  url: 'https://hooks.example.com/hooks/x?a=1',
  rawHeaders: ['Content-Type', 'application/json'],
  body: Buffer.from('{"a":1}'),
};

const form: SignedRequest = {
  ...request,
  url: `${request.url}&data.id=AB1`,
  rawHeaders: ['content-type', 'application/x-www-form-urlencoded'],
  body: Buffer.from('b=2&a=%C3%A4+1'),
};

function proofOf(settings: object, secret: string): ProofSettings {
  const references = 'issuer' in settings ? {} : { secrets: ['${S}'] };
  return { settings: VerifySettings.parse({ ...references, ...settings }), secrets: [secret] };
}

function sent(proof: ProofSettings, from: SignedRequest, privateKey?: string): SignedRequest {
  const facts = privateKey === undefined ? FACTS : { ...FACTS, privateKey };
  const result = signRequest(proof, from, facts);
  if (result.kind === 'problem') throw new Error(result.problem);
  const { headers, body, url } = result;
  return { ...from, rawHeaders: [...from.rawHeaders, ...Object.entries(headers).flat()], body, url };
}

function kindOf(proof: ProofSettings, signed: SignedRequest): string {
  const verifier = createVerifier(proof, {
    clock: () => NOW_MS,
    fetchJson: () => Promise.reject(new Error('no issuer here')),
  });
  const judged = verifier.prove(signed);
  if (judged instanceof Promise) throw new Error('only oidc needs to wait');
  return judged.kind;
}

/** A secret of each provider, and the private key where the path holds the public one. */
function secretOf(name: string): readonly [string, string?] {
  const pem = { format: 'pem', type: 'pkcs8' } as const;
  if (name === 'discord') {
    const { x = '' } = PRIVATE.publicKey.export({ format: 'jwk' });
    return [Buffer.from(x, 'base64url').toString('hex'), PRIVATE.privateKey.export(pem) as string];
  }
  if (name === 'sendgrid') {
    const der = CURVE.publicKey.export({ format: 'der', type: 'spki' });
    return [der.toString('base64'), CURVE.privateKey.export(pem) as string];
  }
  return [name === 'standard-webhooks' ? `whsec_${Buffer.alloc(32, 3).toString('base64')}` : 'a secret'];
}

describe('signing for tests', () => {
  test.each(PROVIDER_NAMES)('a request signed as %s proves itself', (scheme) => {
    const [secret, privateKey] = secretOf(scheme);
    const proof = proofOf({ scheme }, secret);
    const own = scheme === 'mandrill' ? form : request;
    expect(kindOf(proof, sent(proof, own, privateKey))).toBe('proved');
  });

  test.each([
    ['a signing token of GitLab', { scheme: 'gitlab' }, `whsec_${Buffer.alloc(32, 3).toString('base64')}`],
    ['basic', { scheme: 'basic', user: 'u' }, 'p'],
    ['header', { scheme: 'header', header: 'x-s' }, 'p'],
    ['token', { scheme: 'token' }, 'p'],
    [
      'hmac with a list and an id',
      {
        scheme: 'hmac',
        header: 'x-s',
        separator: ',',
        signatureField: 's',
        timestampField: 't',
        idHeader: 'x-i',
        signed: '{id}.{timestamp}.{method}.{url}.{body}',
      },
      'p',
    ],
  ])('%s', (_name, settings, secret) => {
    const proof = proofOf(settings, secret);
    expect(kindOf(proof, sent(proof, request))).toBe('proved');
  });

  test('a form of Twilio, Mandrill and Mailgun', () => {
    for (const scheme of ['twilio', 'mandrill', 'mailgun']) {
      const proof = proofOf({ scheme }, 'p');
      expect(kindOf(proof, sent(proof, form)), scheme).toBe('proved');
    }
  });

  test.each([
    ['oidc', { scheme: 'oidc', issuer: 'https://a.example', audience: 'x' }, 'p', 'only the issuer'],
    ['a public key', { scheme: 'discord' }, secretOf('discord')[0], '--sign-key'],
    ['a missing secret', { scheme: 'github' }, '', 'missing or empty'],
  ])('says why it cannot sign for %s', (_name, settings, secret, message) => {
    const result = signRequest(proofOf(settings, secret), request, FACTS);
    expect(result).toMatchObject({ kind: 'problem', problem: expect.stringContaining(message) as string });
  });
});

test('numbers that a double cannot hold are signed and sent as they are written', () => {
  const body = Buffer.from('{"id":820982911946154508}');
  for (const scheme of ['mailgun', 'linear']) {
    const signed = sent(proofOf({ scheme }, 'a secret'), { ...request, body });
    expect(signed.body.toString()).toContain('"id":820982911946154508,');
    expect(kindOf(proofOf({ scheme }, 'a secret'), signed)).toBe('proved');
  }
});
