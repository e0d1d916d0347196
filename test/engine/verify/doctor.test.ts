import { said } from '../../support/said.ts';
import { createHmac } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { signRequest } from '../../../src/engine/verify/facts.ts';
import {
  createVerifier,
  type ProofSettings,
  type SignedRequest,
  VerifySettings,
} from '../../../src/engine/verify/verify.ts';
import type { ProofCode } from '../../../src/engine/verify/facts.ts';
import { findSender, shippedSenders, type Sender } from '../../../src/engine/senders/senders.ts';
import { waysOf } from '../../../src/authoring/advice/vocabulary/senders.ts';
import { writtenScheme } from '../../../src/authoring/advice/proofs/written-verify.ts';
import { computingMs, threadMs } from '../../support/thread-time.ts';
import { findProofFault, sayProof } from '../../../src/authoring/advice/proofs.ts';

const NOW = 1_700_000_000;
const SECRET = 'c2VjcmV0LXNlY3JldC1zZWNyZXQ=';

interface Case {
  readonly settings?: object;
  readonly secret?: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
  readonly url?: string;
  readonly senders?: readonly Sender[];
}

function doctor({
  settings = { scheme: 'github' },
  secret = SECRET,
  headers,
  body = '{"a":1}',
  url,
  senders,
}: Case): {
  readonly code: ProofCode;
  readonly text: string;
} {
  const proof: ProofSettings = {
    settings: VerifySettings.parse({ secrets: ['${S}'], ...settings }),
    secrets: [secret],
  };
  const request: SignedRequest = {
    method: 'POST',
    url: url ?? 'https://hooks.example.com/hooks/x',
    rawHeaders: Object.entries(headers).flat(),
    body: Buffer.from(body, 'utf8'),
  };
  const fetchJson = (): Promise<never> => Promise.reject(new Error('no issuer here'));
  const judged = createVerifier(proof, { clock: () => NOW * 1000, fetchJson }).prove(request);
  if (judged instanceof Promise || judged.kind === 'proved') throw new Error('it should be refused');
  const found = findProofFault(proof, request, judged, senders && { senders });
  const text = said(sayProof(JSON.parse(JSON.stringify(found)) as typeof found));
  for (const shown of [text, JSON.stringify(found)]) {
    expect(shown).not.toContain(secret === '' ? SECRET : secret);
    for (const value of Object.values(headers)) expect(shown).not.toContain(value);
  }
  return { code: found.code, text };
}

/** What becomes of the request by a `verify` as it is written. */
function proves(written: string, { secret = SECRET, headers, body = '{"a":1}' }: Case): string {
  const { verify } = parse(written) as { readonly verify: unknown };
  const proof: ProofSettings = { settings: VerifySettings.parse(verify), secrets: [secret] };
  const fetchJson = (): Promise<never> => Promise.reject(new Error('no issuer here'));
  const judged = createVerifier(proof, { clock: () => NOW * 1000, fetchJson }).prove({
    method: 'POST',
    url: 'https://hooks.example.com/hooks/x',
    rawHeaders: Object.entries(headers).flat(),
    body: Buffer.from(body, 'utf8'),
  });
  return judged instanceof Promise ? 'later' : judged.kind;
}

const mac = (
  key: string | Buffer,
  text: string,
  encoding: 'hex' | 'base64' | 'base64url' = 'hex',
  hash = 'sha256',
): string => createHmac(hash, key).update(text).digest(encoding);
const basic = (pair: string): { authorization: string } => ({
  authorization: `Basic ${Buffer.from(pair).toString('base64')}`,
});
const github = (signature: string): Record<string, string> => ({
  'x-hub-signature-256': `sha256=${signature}`,
});

describe('the doctor', () => {
  test.each<readonly [string, Case, ProofCode, string]>([
    ['no header', { headers: {} }, 'no-proof', 'x-hub-signature-256 is not there'],
    [
      "another scheme's header",
      { headers: { 'Stripe-Signature': `t=1,v1=${mac('other', 'x')}` } },
      'other-scheme',
      "a header of Stripe; this path expects github: replace the whole verify of the mapping by: verify: { scheme: stripe, secrets: ['${S}'] }",
    ],
    [
      'a header that several schemes share',
      { settings: { scheme: 'stripe' }, headers: { 'X-Hub-Signature-256': `sha256=${mac('other', 'x')}` } },
      'other-scheme',
      'a header of GitHub or Meta',
    ],
    [
      'another scheme with the same secret, though the path describes its header',
      {
        settings: {
          scheme: 'hmac',
          header: 'svix-signature',
          encoding: 'base64',
          prefix: 'v1,',
          timestampHeader: 'svix-timestamp',
          idHeader: 'svix-id',
          signed: '{id}.{timestamp}.{body}',
        },
        secret: `whsec_${SECRET}`,
        headers: {
          'svix-id': 'm1',
          'svix-timestamp': String(NOW),
          'svix-signature': `v1,${mac(Buffer.from(SECRET, 'base64'), `m1.${String(NOW)}.{"a":1}`, 'base64')}`,
        },
      },
      'other-scheme',
      "by the scheme standard-webhooks, with the secret as it is, and this path reads it otherwise, as hmac: replace the whole verify of the mapping by: verify: { scheme: standard-webhooks, secrets: ['${S}'] }",
    ],
    [
      'a scheme that sends the secret itself',
      { settings: { scheme: 'hmac', header: 'x-gitlab-token' }, headers: { 'X-Gitlab-Token': SECRET } },
      'malformed-proof',
      'not in the form that this path reads (hmac)',
    ],
    [
      'the prefix is missing',
      { headers: { 'x-hub-signature-256': mac(SECRET, '{"a":1}') } },
      'prefix',
      "the request is right by the scheme hmac, with the secret as it is, and this path reads it otherwise, as github: replace the whole verify of the mapping by: verify: { scheme: hmac, header: x-hub-signature-256, secrets: ['${S}'] }",
    ],
    [
      'another prefix',
      { headers: { 'x-hub-signature-256': `sha1=${mac(SECRET, '{"a":1}', 'hex', 'sha1')}` } },
      'prefix',
      "by: verify: { scheme: hmac, header: x-hub-signature-256, algorithm: sha1, prefix: 'sha1=', secrets: ['${S}'] }",
    ],
    [
      'another prefix, and another secret',
      { headers: { 'x-hub-signature-256': `sha1=${mac('other', '{"a":1}', 'hex', 'sha1')}` } },
      'malformed-proof',
      'not in the form that this path reads (github)',
    ],
    [
      'the older signature that GitHub sends beside its own',
      { headers: { 'X-Hub-Signature': `sha1=${mac(SECRET, '{"a":1}', 'hex', 'sha1')}` } },
      'other-scheme',
      "right by the scheme hmac, with the secret as it is, and this path reads it otherwise, as github: replace the whole verify of the mapping by: verify: { scheme: hmac, header: x-hub-signature, algorithm: sha1, prefix: 'sha1=', secrets: ['${S}'] }",
    ],
    [
      'that header in a form of nobody',
      { headers: { 'X-Hub-Signature': `sha512=${mac(SECRET, '{"a":1}', 'hex', 'sha512')}` } },
      'other-scheme',
      "right by the scheme hmac, with the secret as it is, and this path reads it otherwise, as github: replace the whole verify of the mapping by: verify: { scheme: hmac, header: x-hub-signature, algorithm: sha512, prefix: 'sha512=', secrets: ['${S}'] }",
    ],
    [
      'a sender without a scheme of its own, with another secret',
      { headers: { 'X-Vercel-Signature': mac('other', '{"a":1}', 'hex', 'sha1') } },
      'other-scheme',
      "the request carries x-vercel-signature, a header of Vercel; this path expects github: replace the whole verify of the mapping by: verify: { scheme: hmac, header: x-vercel-signature, algorithm: sha1, secrets: ['${S}'] }, and set the secret that this sender signs with",
    ],
    [
      'a header of a sender that is not known',
      {
        settings: { scheme: 'stripe' },
        headers: { 'X-Acme-Signature': mac('other', '{"a":1}', 'base64', 'sha512') },
      },
      'no-proof',
      '(stripe): stripe-signature is not there, but x-acme-signature is, which looks like a signature',
    ],
    [
      'a time in a list and base64 without padding',
      {
        settings: { scheme: 'stripe' },
        headers: {
          'Sanity-Signature': `t=${String(NOW)}000,v1=${mac(SECRET, `${String(NOW)}000.{"a":1}`, 'base64url')}`,
        },
      },
      'other-scheme',
      "scheme: hmac, header: sanity-signature, encoding: base64url, separator: ',', signatureField: v1, signed: '{timestamp}.{body}', timestampField: t, timestampUnit: milliseconds, secrets",
    ],
    [
      'another header and another hash than the path says',
      {
        settings: { scheme: 'hmac', header: 'x-signature' },
        headers: { 'x-paystack-signature': mac(SECRET, '{"a":1}', 'hex', 'sha512') },
      },
      'other-scheme',
      'and this path reads it otherwise, as hmac: replace the whole verify of the mapping by: verify: { scheme: hmac, header: x-paystack-signature, algorithm: sha512, secrets',
    ],
    [
      'a time in milliseconds',
      {
        settings: {
          scheme: 'hmac',
          header: 'x-signature',
          timestampHeader: 'x-timestamp',
          signed: '{body}{timestamp}',
        },
        headers: {
          'X-Signature': mac(SECRET, `{"a":1}${String(NOW)}000`),
          'X-Timestamp': `${String(NOW)}000`,
        },
      },
      'timestamp-unit',
      "signed: '{body}{timestamp}', timestampHeader: x-timestamp, timestampUnit: milliseconds, secrets",
    ],
    [
      'a time in seconds, where milliseconds are read',
      {
        settings: {
          scheme: 'hmac',
          header: 'x-signature',
          timestampHeader: 'x-timestamp',
          timestampUnit: 'milliseconds',
          signed: '{timestamp}.{body}',
        },
        headers: { 'X-Signature': mac(SECRET, `${String(NOW)}.{"a":1}`), 'X-Timestamp': String(NOW) },
      },
      'timestamp-unit',
      "signed: '{timestamp}.{body}', timestampHeader: x-timestamp, secrets",
    ],
    [
      'a time in milliseconds by the scheme of a provider',
      {
        settings: { scheme: 'slack' },
        headers: {
          'x-slack-request-timestamp': `${String(NOW)}000`,
          'x-slack-signature': `v0=${mac(SECRET, `v0:${String(NOW)}000:{"a":1}`)}`,
        },
      },
      'timestamp-unit',
      "timestampHeader: x-slack-request-timestamp, timestampUnit: milliseconds, secrets: ['${S}'] }",
    ],
    [
      'a time as a date, and another text is signed',
      {
        settings: {
          scheme: 'hmac',
          header: 'x-signature',
          timestampHeader: 'x-time',
          signed: '{timestamp}.{body}',
        },
        headers: {
          'X-Signature': mac(SECRET, '2023-11-14T22:13:20Z{"a":1}'),
          'X-Time': '2023-11-14T22:13:20Z',
        },
      },
      'signed-content',
      "signed: '{timestamp}{body}', timestampHeader: x-time, timestampUnit: iso8601, secrets",
    ],
    [
      'a time as a date, and another secret',
      {
        settings: {
          scheme: 'hmac',
          header: 'x-signature',
          timestampHeader: 'x-time',
          signed: '{timestamp}.{body}',
        },
        headers: { 'X-Signature': mac('other', 'x'), 'X-Time': '2023-11-14T22:13:20.123456789+01:00' },
      },
      'malformed-timestamp',
      'the time of signing is not a whole number',
    ],
    [
      'a time that no clock of this machine explains',
      {
        settings: { scheme: 'slack' },
        headers: {
          'x-slack-request-timestamp': String(NOW + 400_000),
          'x-slack-signature': `v0=${mac(SECRET, `v0:${NOW + 400_000}:{"a":1}`)}`,
        },
      },
      'too-new',
      'set the clock of this machine; if it is right, the sender writes a wrong one',
    ],
    [
      'a prefix that verify does not name',
      {
        settings: { scheme: 'hmac', header: 'x-sig' },
        headers: { 'x-sig': `sha256=${mac(SECRET, '{"a":1}')}` },
      },
      'prefix',
      "verify: { scheme: hmac, header: x-sig, prefix: 'sha256=', secrets",
    ],
    [
      'such a prefix, with a hash of its own, and in base64',
      {
        settings: { scheme: 'hmac', header: 'authorization' },
        headers: { authorization: `HMAC ${mac(SECRET, '{"a":1}', 'base64', 'sha512')}` },
      },
      'prefix',
      "header: authorization, algorithm: sha512, encoding: base64, prefix: 'HMAC ', secrets",
    ],
    [
      'a prefix that verify names and that is not sent',
      {
        settings: { scheme: 'hmac', header: 'x-sig', prefix: 'sha256=' },
        headers: { 'x-sig': mac(SECRET, '{"a":1}') },
      },
      'prefix',
      'verify: { scheme: hmac, header: x-sig, secrets',
    ],
    [
      'a list in place of a signature',
      {
        settings: { scheme: 'hmac', header: 'x-sig' },
        headers: { 'x-sig': `t=${String(NOW)},v1=${mac('other', '{"a":1}')}` },
      },
      'malformed-proof',
      'not in the form that this path reads (hmac), or more than once',
    ],
    [
      'a list without the item',
      {
        settings: { scheme: 'hmac', header: 'x-sig', separator: ',', signatureField: 'v1' },
        headers: { 'x-sig': 't=1,v0=00' },
      },
      'malformed-proof',
      'not in the form that this path reads (hmac)',
    ],
    [
      'what is no signature',
      { settings: { scheme: 'hmac', header: 'x-sig' }, headers: { 'x-sig': 'hello there' } },
      'malformed-proof',
      'not in the form that this path reads (hmac)',
    ],
    [
      'a header that is there twice',
      { headers: { 'x-hub-signature-256': 'sha256=00', 'X-Hub-Signature-256': 'sha256=01' } },
      'malformed-proof',
      'or more than once',
    ],
    [
      'another encoding',
      { headers: github(mac(SECRET, '{"a":1}', 'base64')) },
      'encoding',
      "replace the whole verify of the mapping by: verify: { scheme: hmac, header: x-hub-signature-256, encoding: base64, prefix: 'sha256=', secrets: ['${S}'] }",
    ],
    [
      'another hash',
      { headers: github(mac(SECRET, '{"a":1}', 'hex', 'sha1')) },
      'algorithm',
      'replace the whole verify of the mapping by: verify: { scheme: hmac, header: x-hub-signature-256, algorithm: sha1, ',
    ],
    [
      'white space in the secret',
      { headers: github(mac('abc', '{"a":1}')), secret: ' abc\n' },
      'secret-white-space',
      'white space',
    ],
    [
      'quotes in the secret',
      { headers: github(mac('abc', '{"a":1}')), secret: '"abc"' },
      'secret-white-space',
      'quotes',
    ],
    [
      'a secret that is base64',
      { headers: github(mac(Buffer.from(SECRET, 'base64'), '{"a":1}')) },
      'secret-encoding',
      "replace the whole verify of the mapping by: verify: { scheme: hmac, header: x-hub-signature-256, prefix: 'sha256=', secretEncoding: base64, secrets: ['${S}'] }",
    ],
    [
      'a secret that is meant without its prefix',
      { headers: github(mac('abc', '{"a":1}')), secret: 'whsec_abc' },
      'secret-prefix',
      'without its prefix',
    ],
    [
      'another secret',
      { headers: github(mac('other', '{"a":1}')) },
      'wrong-secret',
      'a retired one; set it to the text that was entered as Secret of the webhook',
    ],
    [
      'the header of a sender with a scheme of its own, read in the general one',
      {
        settings: { scheme: 'hmac', header: 'svix-signature', secrets: ['${S}'] },
        headers: { 'svix-signature': `v1,${mac('other', '{"a":1}', 'base64')}` },
      },
      'other-scheme',
      'replace the whole verify of the mapping by: verify: { scheme: standard-webhooks',
    ],
    [
      'another text is signed',
      {
        settings: {
          scheme: 'hmac',
          header: 'x-cio-signature',
          timestampHeader: 'x-cio-timestamp',
          signed: '{timestamp}.{body}',
        },
        headers: {
          'X-CIO-Signature': mac(SECRET, `v0:${String(NOW)}:{"a":1}`),
          'X-CIO-Timestamp': String(NOW),
        },
      },
      'signed-content',
      "signed: 'v0:{timestamp}:{body}', timestampHeader: x-cio-timestamp, secrets",
    ],
    [
      'a time and an id are signed that the settings do not name',
      {
        settings: { scheme: 'hmac', header: 'x-signature' },
        headers: {
          'X-Signature': mac(SECRET, `msg_7.${String(NOW)}.{"a":1}`),
          'X-Hook-Timestamp': String(NOW),
          'X-Hook-Id': 'msg_7',
        },
      },
      'signed-content',
      "signed: '{id}.{timestamp}.{body}', timestampHeader: x-hook-timestamp, idHeader: x-hook-id, secrets",
    ],
    [
      'the time stands in another header than the settings name, in milliseconds',
      {
        settings: {
          scheme: 'hmac',
          header: 'x-signature',
          timestampHeader: 'x-timestamp',
          signed: '{timestamp}.{body}',
        },
        headers: {
          'X-Signature': mac(SECRET, `${String(NOW)}000.{"a":1}`),
          'X-Request-Time': `${String(NOW)}000`,
        },
      },
      'signed-content',
      'timestampHeader: x-request-time, timestampUnit: milliseconds, secrets',
    ],
    [
      'the time stands in another item of the list',
      {
        settings: {
          scheme: 'hmac',
          header: 'x-signature',
          separator: ',',
          signatureField: 'v1',
          timestampField: 't',
          signed: '{timestamp}.{body}',
        },
        headers: { 'X-Signature': `ts=${String(NOW)},v1=${mac(SECRET, `${String(NOW)}.{"a":1}`)}` },
      },
      'signed-content',
      "signed: '{timestamp}.{body}', timestampField: ts, secrets",
    ],
    [
      'the time stands in a header, and the settings look for it in the list',
      {
        settings: {
          scheme: 'hmac',
          header: 'x-signature',
          separator: ',',
          signatureField: 'v1',
          timestampField: 't',
          signed: '{timestamp}.{body}',
        },
        headers: {
          'X-Signature': `v1=${mac(SECRET, `${String(NOW)}.{"a":1}`)}`,
          'X-Timestamp': String(NOW),
        },
      },
      'signed-content',
      "signed: '{timestamp}.{body}', timestampHeader: x-timestamp, secrets",
    ],
    [
      'a time that the sender does not send',
      {
        settings: {
          scheme: 'hmac',
          header: 'x-signature',
          timestampHeader: 'x-timestamp',
          signed: '{timestamp}.{body}',
        },
        headers: { 'X-Signature': mac(SECRET, '{"a":1}') },
      },
      'signed-content',
      'verify: { scheme: hmac, header: x-signature, secrets',
    ],
    [
      'another text is signed, with another secret',
      {
        settings: { scheme: 'hmac', header: 'x-signature' },
        headers: { 'X-Signature': mac('other', `${String(NOW)}.{"a":1}`), 'X-Timestamp': String(NOW) },
      },
      'wrong-secret',
      'x-timestamp, which looks like a time of signing: the sender probably signs the time, too',
    ],
    [
      'another secret, of a sender that nobody knows',
      {
        settings: { scheme: 'hmac', header: 'x-signature' },
        headers: { 'X-Signature': mac('other', '{"a":1}') },
      },
      'wrong-secret',
      'or something on the way wrote the body anew',
    ],
    [
      'the method and the path are signed, too',
      {
        settings: { scheme: 'hmac', header: 'x-signature' },
        headers: { 'X-Signature': mac(SECRET, 'POST\n/hooks/a\n{"a":1}') },
      },
      'wrong-secret',
      'may sign more than the body (a time, the method, the address)',
    ],
    // A name that is known, and a value in another form: Mautic and GoCardless.
    ...(['base64', 'hex'] as const).flatMap((encoding) => {
      const headers = { 'webhook-signature': mac('other', '{"a":1}', encoding) };
      return (['standard-webhooks', 'github'] as const).map(
        (scheme) =>
          [
            `${encoding} in the header of Standard Webhooks, on a path of ${scheme}`,
            { settings: { scheme }, headers },
            scheme === 'github' ? 'no-proof' : 'malformed-proof',
            scheme === 'github' ? 'webhook-signature is, which looks like a signature' : 'not in the form',
          ] as const,
      );
    }),
    [
      'the same as the path reads it, with another secret',
      {
        settings: { scheme: 'hmac', header: 'webhook-signature', encoding: 'base64' },
        headers: { 'webhook-signature': mac('other', '{"a":1}', 'base64') },
      },
      'wrong-secret',
      'the secret at the sender may be another one',
    ],
    [
      'no secret',
      { headers: github(mac('other', '{"a":1}')), secret: '' },
      'not-configured',
      'S is not set in the service; without it this path refuses every request',
    ],
    [
      'a time that is too old',
      {
        settings: { scheme: 'slack' },
        headers: {
          'x-slack-request-timestamp': String(NOW - 412),
          'x-slack-signature': `v0=${mac(SECRET, `v0:${NOW - 412}:{"a":1}`)}`,
        },
      },
      'too-old',
      'timestamp is 412 s old and this path takes 300 s',
    ],
    [
      'a time in the future',
      {
        settings: { scheme: 'slack' },
        headers: {
          'x-slack-request-timestamp': String(NOW + 412),
          'x-slack-signature': `v0=${mac(SECRET, `v0:${NOW + 412}:{"a":1}`)}`,
        },
      },
      'too-new',
      'lies 412 s ahead',
    ],
    [
      'no time',
      { settings: { scheme: 'slack' }, headers: { 'x-slack-signature': `v0=${mac(SECRET, 'x')}` } },
      'no-timestamp',
      'the time of signing is not there',
    ],
    [
      'a body that Twilio does not cover',
      {
        settings: { scheme: 'twilio' },
        headers: { 'x-twilio-signature': mac(SECRET, 'https://hooks.example.com/hooks/x', 'base64', 'sha1') },
      },
      'body-not-covered',
      'bodySHA256',
    ],
    [
      'no fields of Mailgun',
      { settings: { scheme: 'mailgun' }, headers: { 'content-type': 'application/json' } },
      'no-proof',
      'timestamp, token and signature',
    ],
    [
      'a secret of Telegram with white space',
      {
        settings: { scheme: 'telegram' },
        secret: 'abc ',
        headers: { 'x-telegram-bot-api-secret-token': 'abc' },
      },
      'secret-white-space',
      'white space',
    ],
    ['no token', { settings: { scheme: 'token' }, headers: {} }, 'no-proof', 'Authorization: Bearer'],
    [
      'a signature in place of a token',
      { settings: { scheme: 'token' }, headers: { 'Linear-Signature': mac('other', '{"a":1}') } },
      'other-scheme',
      "the request carries linear-signature, a header of Linear; this path expects token: replace the whole verify of the mapping by: verify: { scheme: linear, secrets: ['${S}'] }, and set the secret",
    ],
    [
      'the signature of nobody known in place of a password',
      {
        settings: { scheme: 'basic', user: 'u' },
        headers: { 'X-Acme-Signature': mac('other', '{"a":1}', 'base64') },
      },
      'no-proof',
      'Authorization: Basic is not there, but x-acme-signature is, which looks like a signature',
    ],
    [
      'a wrong password',
      { settings: { scheme: 'basic', user: 'u' }, headers: { authorization: 'Basic dTp4' } },
      'wrong-proof',
      'the credentials are there and are wrong: compare them',
    ],
    [
      'another user',
      {
        settings: { scheme: 'basic', user: 'v' },
        secret: 'a-word-of-trust',
        headers: basic('u:a-word-of-trust'),
      },
      'wrong-proof',
      'the password is right, but the user is another one than "v"',
    ],
    [
      'another user and password',
      { settings: { scheme: 'basic', user: 'v' }, secret: 'a-word-of-trust', headers: basic('u:x') },
      'wrong-proof',
      'the credentials are there and are wrong',
    ],
    [
      'user and password in the secret',
      { settings: { scheme: 'basic', user: 'u' }, secret: 'u:pass', headers: basic('u:pass') },
      'secret-prefix',
      'the proof fits the secret without "u:" before it',
    ],
    [
      'a password in quotes',
      { settings: { scheme: 'basic', user: 'u' }, secret: '"a word"', headers: basic('u:a word') },
      'secret-white-space',
      'has quotes around it',
    ],
    [
      'a token in quotes',
      {
        settings: { scheme: 'token' },
        secret: 'a-word-of-trust',
        headers: { authorization: 'Bearer "a-word-of-trust"' },
      },
      'wrong-secret',
      'the sender sends the secret in quotes',
    ],
    [
      'a token in quotes beside credentials that are not judged',
      {
        settings: { scheme: 'token' },
        secret: 'a-word-of-trust',
        headers: { authorization: 'Basic dTp4', 'x-service-token': '"a-word-of-trust"' },
      },
      'wrong-secret',
      'the sender sends the secret in quotes',
    ],
    [
      'a token that is not ASCII, in quotes',
      {
        settings: { scheme: 'token' },
        secret: 'Schlüssel-für-alle',
        headers: { authorization: `Bearer "${Buffer.from('Schlüssel-für-alle').toString('latin1')}"` },
      },
      'wrong-secret',
      'the sender sends the secret in quotes',
    ],
    [
      'the secret in a header of its own, where a token was expected',
      {
        settings: { scheme: 'token' },
        secret: 'a-word-of-trust',
        headers: { 'x-acme-secret': 'a-word-of-trust' },
      },
      'other-scheme',
      "verify: { scheme: header, header: x-acme-secret, secrets: ['${S}'] }",
    ],
    [
      'the secret alone in Authorization, where a token was expected',
      {
        settings: { scheme: 'token' },
        secret: 'a-word-of-trust',
        headers: { authorization: 'a-word-of-trust' },
      },
      'other-scheme',
      "verify: { scheme: header, header: authorization, secrets: ['${S}'] }",
    ],
    [
      'the secret as Bearer, where its header was named',
      {
        settings: { scheme: 'header', header: 'authorization' },
        secret: 'a-word-of-trust',
        headers: { authorization: 'Bearer a-word-of-trust' },
      },
      'other-scheme',
      "verify: { scheme: token, secrets: ['${S}'] }",
    ],
    [
      'the secret as a password, where a signature was expected',
      {
        settings: { scheme: 'hmac', header: 'x-sig' },
        secret: 'a-word-of-trust',
        headers: { authorization: `Basic ${Buffer.from('hook:a-word-of-trust').toString('base64')}` },
      },
      'no-proof',
      'x-sig is not there; set the secret at the sender',
    ],
    [
      'the token of GitLab, where a signature was expected',
      { settings: { scheme: 'github' }, headers: { 'x-gitlab-token': 'a-word-of-trust' } },
      'no-proof',
      'x-hub-signature-256 is not there; set the secret at the sender',
    ],
    [
      'a signature of nobody known under the header of a known sender',
      {
        settings: { scheme: 'standard-webhooks' },
        headers: { 'webhook-signature': mac(SECRET, '{"a":1}', 'base64') },
      },
      'secret-encoding',
      "verify: { scheme: hmac, header: webhook-signature, encoding: base64, secrets: ['${S}'] }",
    ],
    [
      'a header with a word before the secret',
      {
        settings: { scheme: 'header', header: 'x-key' },
        secret: 'a-word-of-trust',
        headers: { 'x-key': 'Token a-word-of-trust' },
      },
      'secret-prefix',
      'write the word Token and a blank before it',
    ],
    [
      'the token of a bot where the secret token belongs',
      {
        settings: { scheme: 'telegram' },
        secret: '7012345678:not-the-token-of-any-bot-0000000000000',
        headers: { 'x-telegram-bot-api-secret-token': 'another' },
      },
      'wrong-secret',
      'has the form of the token of a Telegram bot, and is no signing secret: set it to the secret_token',
    ],
    [
      'another text in a header that carries a secret',
      { settings: { scheme: 'telegram' }, headers: { 'x-telegram-bot-api-secret-token': 'x-y-z' } },
      'wrong-secret',
      'the value of the header x-telegram-bot-api-secret-token is not the secret of this path',
    ],
  ])('%s', (_name, trial, code, words) => {
    const found = doctor(trial);
    expect(found.code).toBe(code);
    expect(found.text).toContain(words);
    const [, written] = /replace the whole verify (?:of the mapping )?by: (.*\})/.exec(found.text) ?? [];
    const isGuess = found.text.startsWith('the request carries');
    if (written !== undefined && !isGuess) expect(proves(written, trial)).toBe('proved');
  });

  /** Senders without a scheme of their own, which sign in a way that the general scheme describes. */
  const signedBy = shippedSenders().flatMap((sender) => {
    const [first] = sender.verify?.scheme === 'hmac' ? waysOf(sender) : [];
    return first?.kind === 'signature' ? [{ sender, columns: first.columns }] : [];
  });

  test.each(signedBy.map((each) => [each.sender.title, each] as const))(
    'writes the whole verify of %s',
    (_name, { sender, columns }) => {
      expect(findSender(sender.name.toUpperCase())).toBe(sender);
      const written = `verify: { scheme: ${writtenScheme(columns)}, secrets: ['\${S}'] }`;
      const { verify } = parse(written) as { readonly verify: unknown };
      const proof: ProofSettings = { settings: VerifySettings.parse(verify), secrets: [SECRET] };
      const url = 'https://hooks.example.com/hooks/x';
      const request: SignedRequest = { method: 'POST', url, rawHeaders: [], body: Buffer.from('{"a":1}') };
      const signed = signRequest(proof, request, { nowMs: NOW * 1000, id: 'm1' });
      if (signed.kind === 'problem') throw new Error(signed.problem);
      expect(proves(written, { headers: signed.headers })).toBe('proved');
      const found = doctor({ headers: signed.headers });
      const [, told = ''] = /replace the whole verify of the mapping by: (.*\})/.exec(found.text) ?? [];
      expect(proves(told, { headers: signed.headers })).toBe('proved');
    },
  );

  test('a header of a strange or long name is not told to be written into a mapping', () => {
    const value = mac('other', 'x');
    for (const name of ['x-acme`$-signature', `x-${'a'.repeat(60)}-signature`])
      expect(doctor({ headers: { [name]: value } }).code).toBe('no-proof');
  });

  test('a token of many quotes is looked at in linear time', () => {
    const presented = `x${'"'.repeat(200_000)}x`;
    const started = threadMs();
    const found = doctor({ settings: { scheme: 'token' }, headers: { 'x-service-token': presented } });
    expect(found.code).toBe('wrong-proof');
    expect(threadMs() - started).toBeLessThan(computingMs(2_000));
  });

  test('many headers that look like ids are looked at in linear time', () => {
    const ids = Array.from({ length: 10_000 }, (_, i) => [`x-${String(i)}-id`, '\u00e9'] as const);
    const settings = {
      scheme: 'hmac',
      header: 'x-sign',
      algorithm: 'sha256',
      encoding: 'hex',
      signed: '{body}',
    };
    const started = threadMs();
    const found = doctor({ settings, headers: { 'x-sign': mac('other', 'x'), ...Object.fromEntries(ids) } });
    expect(found.code).toBe('wrong-secret');
    expect(threadMs() - started).toBeLessThan(computingMs(500));
  });

  test('a sender of the user is known by its header and by what it signs', () => {
    const acme: Sender = {
      name: 'acme',
      title: 'Acme',
      folder: '/hooks/senders',
      verify: {
        scheme: 'hmac',
        header: 'x-acme-mark',
        signed: 'acme/{timestamp}/{body}',
        timestampHeader: 'x-acme-at',
      },
    };
    const verify =
      "verify: { scheme: hmac, header: x-acme-mark, signed: 'acme/{timestamp}/{body}', timestampHeader: x-acme-at,";
    for (const key of [SECRET, 'other']) {
      const headers = { 'x-acme-mark': mac(key, `acme/${String(NOW)}/{"a":1}`), 'x-acme-at': String(NOW) };
      const { code, text } = doctor({ headers, senders: [acme] });
      expect([code, text]).toEqual(['other-scheme', expect.stringContaining(verify)]);
      if (key === 'other') expect(text).toContain('the request carries x-acme-mark, a header of Acme');
      expect(doctor({ headers }).code).toBe('no-proof');
    }
  });
});
