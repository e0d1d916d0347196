import { createHmac } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import {
  createVerifier,
  type Diagnosis,
  type ProofSettings,
  type SignedRequest,
  signRequest,
  VerifySettings,
} from '../../src/verify/verify.ts';
import { findSender } from '../../src/senders/senders.ts';
import { signedBy } from '../../src/advice/vocabulary/senders.ts';
import { writtenScheme } from '../../src/advice/proofs/written-verify.ts';
import { threadMs } from '../support/thread-time.ts';
import { diagnose } from '../../src/advice/proofs.ts';
import { printSentence } from '../../src/finding.ts';
import { printed } from '../support/printed.ts';

const NOW = 1_700_000_000;
const SECRET = 'c2VjcmV0LXNlY3JldC1zZWNyZXQ=';

interface Case {
  readonly settings?: object;
  readonly secret?: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
  readonly url?: string;
}

function doctor({
  settings = { scheme: 'github' },
  secret = SECRET,
  headers,
  body = '{"a":1}',
  url,
}: Case): Diagnosis {
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
  const found = diagnose(proof, request, judged);
  expect(found.text).not.toContain(secret === '' ? SECRET : secret);
  for (const value of Object.values(headers)) expect(found.text).not.toContain(value);
  return found;
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
  test.each<readonly [string, Case, Diagnosis['code'], string]>([
    ['no header', { headers: {} }, 'no-proof', 'x-hub-signature-256 is not there'],
    [
      "another scheme's header",
      { headers: { 'Stripe-Signature': 't=1,v1=00' } },
      'other-scheme',
      "which is the header of stripe; this path expects github: replace the whole verify of the mapping by: verify: { scheme: stripe, secrets: ['${S}'] }",
    ],
    [
      'a header that several schemes share',
      { settings: { scheme: 'stripe' }, headers: { 'X-Hub-Signature-256': 'sha256=00' } },
      'other-scheme',
      'the header of github and meta',
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
      "by the scheme standard-webhooks, which reads svix-signature, svix-timestamp, svix-id, with the secret as it is: replace the whole verify by: verify: { scheme: standard-webhooks, secrets: ['${S}'] }",
    ],
    [
      'a scheme that sends the secret itself',
      { settings: { scheme: 'hmac', header: 'x-gitlab-token' }, headers: { 'X-Gitlab-Token': SECRET } },
      'other-scheme',
      "replace the whole verify by: verify: { scheme: gitlab, secrets: ['${S}'] }",
    ],
    [
      'the prefix is missing',
      { headers: { 'x-hub-signature-256': mac(SECRET, '{"a":1}') } },
      'prefix',
      'does not begin with "sha256=", which this path expects: replace the whole verify by: verify: { scheme: hmac, header: x-hub-signature-256, secrets: [\'${S}\'] }',
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
      'prefix',
      'begins with "sha1=": it does not begin with "sha256=", which this path expects, and is as long as one of sha1: replace the whole verify by: verify: { scheme: hmac, header: x-hub-signature-256, algorithm: sha1, prefix: \'sha1=\', ',
    ],
    [
      'the header of a named scheme in the form of another sender',
      { headers: { 'X-Hub-Signature': `sha1=${mac(SECRET, '{"a":1}', 'hex', 'sha1')}` } },
      'other-scheme',
      "right by the scheme intercom, which reads x-hub-signature, with the secret as it is: replace the whole verify by: verify: { scheme: intercom, secrets: ['${S}'] }",
    ],
    [
      'that header in a form of nobody',
      { headers: { 'X-Hub-Signature': `sha512=${mac(SECRET, '{"a":1}', 'hex', 'sha512')}` } },
      'other-scheme',
      "and this path expects github in x-hub-signature-256: replace the whole verify of the mapping by: verify: { scheme: hmac, header: x-hub-signature, algorithm: sha512, prefix: 'sha512=', secrets: ['${S}'] }",
    ],
    [
      'a sender without a scheme of its own, with another secret',
      { headers: { 'X-Vercel-Signature': mac('other', '{"a":1}', 'hex', 'sha1') } },
      'other-scheme',
      "the request carries x-vercel-signature, the signature of Vercel; this path expects github: replace the whole verify of the mapping by: verify: { scheme: hmac, header: x-vercel-signature, algorithm: sha1, secrets: ['${S}'] }; the secret of this path does not fit",
    ],
    [
      'a header of a sender that is not known',
      {
        settings: { scheme: 'stripe' },
        headers: { 'X-Acme-Signature': mac('other', '{"a":1}', 'base64', 'sha512') },
      },
      'other-scheme',
      'x-acme-signature, a signature in the form of HMAC with sha512 in base64; this path expects stripe',
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
      'and this path expects hmac in x-signature: replace the whole verify of the mapping by: verify: { scheme: hmac, header: x-paystack-signature, algorithm: sha512, secrets',
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
      'the proof is right, but the timestamp is in milliseconds, and this path reads seconds: write timestampUnit: milliseconds in verify of the mapping',
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
      'and this path reads milliseconds: write timestampUnit: seconds in',
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
      "write signed: '{timestamp}{body}', timestampUnit: iso8601 in verify of the mapping",
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
      'timestamp-unit',
      'the timestamp is a date and time (ISO 8601), and this path reads seconds: write timestampUnit: iso8601 in',
    ],
    [
      'a time in nanoseconds',
      {
        settings: {
          scheme: 'hmac',
          header: 'x-signature',
          timestampHeader: 'x-time',
          signed: '{timestamp}.{body}',
        },
        headers: { 'X-Signature': mac('other', 'x'), 'X-Time': `${String(NOW)}000000000` },
      },
      'timestamp-unit',
      'let the sender write seconds or milliseconds',
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
      'compare the clock of this machine (date -u) with the true time',
    ],
    [
      'a prefix that verify does not name',
      {
        settings: { scheme: 'hmac', header: 'x-sig' },
        headers: { 'x-sig': `sha256=${mac(SECRET, '{"a":1}')}` },
      },
      'prefix',
      `the value of x-sig begins with "sha256=", and verify has no prefix: write prefix: 'sha256=' in verify of the mapping`,
    ],
    [
      'such a prefix, with a hash of its own, and in base64',
      {
        settings: { scheme: 'hmac', header: 'authorization' },
        headers: { authorization: `HMAC ${mac(SECRET, '{"a":1}', 'base64', 'sha512')}` },
      },
      'prefix',
      "write prefix: 'HMAC ', encoding: base64, algorithm: sha512 in verify of the mapping",
    ],
    [
      'such a prefix, while the secret is another one',
      {
        settings: { scheme: 'hmac', header: 'x-sig' },
        headers: { 'x-sig': `v1=${mac('other', '{"a":1}')}` },
      },
      'prefix',
      `begins with "v1=", and verify has no prefix: write prefix: 'v1=' in verify of the mapping`,
    ],
    [
      'a prefix that verify names and that is not sent',
      {
        settings: { scheme: 'hmac', header: 'x-sig', prefix: 'sha256=' },
        headers: { 'x-sig': mac(SECRET, '{"a":1}') },
      },
      'prefix',
      'does not begin with "sha256=", which this path expects: remove prefix from verify of the mapping',
    ],
    [
      'a list in place of a signature',
      {
        settings: { scheme: 'hmac', header: 'x-sig' },
        headers: { 'x-sig': `t=${String(NOW)},v1=${mac('other', '{"a":1}')}` },
      },
      'malformed-proof',
      "(t=…,v1=…), and this path expects the signature alone: write separator: ',', signatureField: v1, timestampField: t, signed: '{timestamp}.{body}' in verify",
    ],
    [
      'a list without the item',
      {
        settings: { scheme: 'hmac', header: 'x-sig', separator: ',', signatureField: 'v1' },
        headers: { 'x-sig': 't=1,v0=00' },
      },
      'malformed-proof',
      'has no item v1=…, which this path expects; its items are t, v0',
    ],
    [
      'what is no signature',
      { settings: { scheme: 'hmac', header: 'x-sig' }, headers: { 'x-sig': 'hello there' } },
      'malformed-proof',
      'is no signature in hex, nor in another encoding (11 characters)',
    ],
    [
      'a header that is there twice',
      { headers: { 'x-hub-signature-256': 'sha256=00', 'X-Hub-Signature-256': 'sha256=01' } },
      'malformed-proof',
      'carries x-hub-signature-256 more than once',
    ],
    [
      'another encoding',
      { headers: github(mac(SECRET, '{"a":1}', 'base64')) },
      'encoding',
      "written in base64; this path expects hex: replace the whole verify by: verify: { scheme: hmac, header: x-hub-signature-256, encoding: base64, prefix: 'sha256=', secrets: ['${S}'] }",
    ],
    [
      'another hash',
      { headers: github(mac(SECRET, '{"a":1}', 'hex', 'sha1')) },
      'algorithm',
      'signs with sha1, and this path expects sha256: replace the whole verify by: verify: { scheme: hmac, header: x-hub-signature-256, algorithm: sha1, ',
    ],
    [
      'a body that was written again',
      { headers: github(mac(SECRET, '{"a":1,"b":[2]}')), body: '{ "a": 1, "b": [2] }' },
      're-encoded-body',
      'as compact JSON',
    ],
    [
      'a body that Python wrote, and a proxy wrote again',
      { headers: github(mac(SECRET, String.raw`{"a": 1, "b": ["\u00e4"]}`)), body: '{"a":1,"b":["ä"]}' },
      're-encoded-body',
      'Python',
    ],
    [
      'a line end that was added',
      { headers: github(mac(SECRET, '{"a":1}')), body: '{"a":1}\n' },
      're-encoded-body',
      'without the white space at its end',
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
      "replace the whole verify by: verify: { scheme: hmac, header: x-hub-signature-256, prefix: 'sha256=', secretEncoding: base64, secrets: ['${S}'] } (the secret of this path is S)",
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
      'several secrets in one value',
      { secret: 'other-one,right-one', headers: github(mac('right-one', '{"a":1}')) },
      'secret-white-space',
      'holds several, and one of them fits',
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
      "the secret is right; the sender signed v0:{timestamp}:{body}, and this path expects {timestamp}.{body}: write signed: 'v0:{timestamp}:{body}' in verify of the mapping",
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
      "write signed: '{id}.{timestamp}.{body}', timestampHeader: x-hook-timestamp, idHeader: x-hook-id in",
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
      'write timestampHeader: x-request-time, timestampUnit: milliseconds in',
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
      'write timestampField: ts in verify of the mapping',
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
      'write timestampHeader: x-timestamp in place of timestampField in verify of the mapping',
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
      "write signed: '{body}' in verify of the mapping, and remove timestampHeader, which is not signed",
    ],
    [
      'another text is signed, with another secret',
      {
        settings: { scheme: 'hmac', header: 'x-signature' },
        headers: { 'X-Signature': mac('other', `${String(NOW)}.{"a":1}`), 'X-Timestamp': String(NOW) },
      },
      'wrong-secret',
      'most likely the secret at the sender is another one',
    ],
    [
      'no secret, with its name',
      { headers: github(mac('other', '{"a":1}')), secret: '' },
      'not-configured',
      'S is not set in the service',
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
      'the scheme of the address',
      {
        settings: { scheme: 'square' },
        url: 'http://hooks.example.com/hooks/x',
        headers: {
          'x-square-hmacsha256-signature': mac(SECRET, 'https://hooks.example.com/hooks/x{"a":1}', 'base64'),
        },
      },
      'other-url',
      'with https for http',
    ],
    [
      'the port of the address',
      {
        settings: { scheme: 'twilio' },
        url: 'http://hooks.example.com:8787/hooks/x',
        body: 'a=1',
        headers: {
          'content-type': 'application/x-www-form-urlencoded',
          'x-twilio-signature': mac(SECRET, 'https://hooks.example.com/hooks/xa1', 'base64', 'sha1'),
        },
      },
      'other-url',
      'with https for http and without its port',
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
      "the request carries linear-signature, which is the header of linear; this path expects token: replace the whole verify of the mapping by: verify: { scheme: linear, secrets: ['${S}'] }, and set the secret",
    ],
    [
      'the signature of nobody known in place of a password',
      {
        settings: { scheme: 'basic', user: 'u' },
        headers: { 'X-Acme-Signature': mac('other', '{"a":1}', 'base64') },
      },
      'other-scheme',
      "verify: { scheme: hmac, header: x-acme-signature, encoding: base64, secrets: ['${S}'] }",
    ],
    [
      'a wrong password',
      { settings: { scheme: 'basic', user: 'u' }, headers: { authorization: 'Basic dTp4' } },
      'wrong-proof',
      'the user is right, and the password is wrong: it is not the one that the secret holds (the secret of this path is S)',
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
      'so is the password: verify names "v"',
    ],
    [
      'user and password in the secret',
      { settings: { scheme: 'basic', user: 'u' }, secret: 'u:pass', headers: basic('u:pass') },
      'secret-prefix',
      'the password is right, but the value of the secret begins with "u:"',
    ],
    [
      'the whole header as secret',
      {
        settings: { scheme: 'basic', user: 'u' },
        secret: basic('u:pass').authorization,
        headers: basic('u:pass'),
      },
      'secret-encoding',
      'the whole header in base64',
    ],
    [
      'a password in quotes',
      { settings: { scheme: 'basic', user: 'u' }, secret: '"a word"', headers: basic('u:a word') },
      'secret-white-space',
      'remove the quotes',
    ],
    [
      'a line of an env file as secret',
      { headers: github(mac('abc', '{"a":1}')), secret: 'GITHUB_SECRET="abc"' },
      'secret-white-space',
      'begins with a name and "="',
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
      'other-scheme',
      "verify: { scheme: basic, user: hook, secrets: ['${S}'] }",
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
    [
      'an address with its path twice',
      {
        settings: { scheme: 'square' },
        url: 'https://hooks.example.com/hooks/x/hooks/x',
        headers: {
          'x-square-hmacsha256-signature': mac(SECRET, 'https://hooks.example.com/hooks/x{"a":1}', 'base64'),
        },
      },
      'other-url',
      'with the path /hooks/x, but this service took it for /hooks/x/hooks/x: server.publicUrl is only the beginning of the address, and the path of the hook is added to it: write it without /hooks/x at its end',
    ],
    [
      'an address with its path twice, and another scheme',
      {
        settings: { scheme: 'twilio' },
        url: 'http://hooks.example.com/gate/hooks/hooks/x',
        body: 'a=1',
        headers: {
          'content-type': 'application/x-www-form-urlencoded',
          'x-twilio-signature': mac(SECRET, 'https://hooks.example.com/hooks/xa1', 'base64', 'sha1'),
        },
      },
      'other-url',
      'with the path /hooks/x, but this service took it for /gate/hooks/hooks/x, and with https for http',
    ],
  ])('%s', (_name, trial, code, words) => {
    const found = doctor(trial);
    expect(found.code).toBe(code);
    const said = printSentence(found.text);
    expect(said).toContain(words);
    const [, written] = /replace the whole verify (?:of the mapping )?by: (.*\})/.exec(said) ?? [];
    const isGuess = /^the request carries|does not fit|is as long as|^svix-signature is the header of/.test(
      said,
    );
    if (written !== undefined && !isGuess) expect(proves(written, trial)).toBe('proved');
  });

  test.each(signedBy().map((each) => [each.sender.title, each] as const))(
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
      const [, told = ''] =
        /replace the whole verify of the mapping by: (.*\})/.exec(printSentence(found.text)) ?? [];
      expect(proves(told, { headers: signed.headers })).toBe('proved');
    },
  );

  test('an item of a list that has no name is not told: it may be the signature itself', () => {
    const settings = { scheme: 'hmac', header: 'x-sig' };
    const text = printed(doctor({ settings, headers: { 'x-sig': 't=1,v1=2,its-own-value' } }).text);
    expect(text).toContain('is a list (t=…,v1=…)');
    expect(text).not.toContain('its-own-value');
  });

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
    expect(threadMs() - started).toBeLessThan(2_000);
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
    expect(threadMs() - started).toBeLessThan(500);
  });

  test('a body so deep that it cannot be written again harms nothing', () => {
    const body = '['.repeat(30_000) + ']'.repeat(30_000);
    expect(doctor({ headers: github(mac('other', 'x')), body }).code).toBe('wrong-secret');
  });
});
