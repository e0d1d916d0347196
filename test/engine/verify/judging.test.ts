import { createHmac, createPrivateKey, createPublicKey, generateKeyPairSync, sign } from 'node:crypto';
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { createVerifier, VerifySettings } from '../../../src/engine/verify/verify.ts';
import type { Proof } from '../../../src/engine/verify/proof.ts';
import type { ReceivedRequest } from '../../../src/engine/verify/verifier.ts';
import { CODE_POINT } from '../../support/code-point.ts';

const NOW = 1_700_000_000;

interface Case {
  readonly settings: object;
  readonly secrets: readonly string[];
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Buffer;
  readonly url?: string;
  readonly method?: string;
  readonly queryToken?: () => string;
}

function prove({ settings, secrets, headers = {}, body = '', ...rest }: Case): Proof {
  const proof = verifierOf(settings, secrets).prove({
    method: 'POST',
    url: 'https://hooks.example.com/hooks/x',
    ...rest,
    rawHeaders: Object.entries(headers).flat(),
    body: typeof body === 'string' ? Buffer.from(body, 'utf8') : body,
  } satisfies ReceivedRequest);
  if (proof instanceof Promise) throw new Error('only oidc needs to wait');
  return proof;
}

function verifierOf(settings: object, secrets: readonly string[]): ReturnType<typeof createVerifier> {
  const parsed = VerifySettings.parse({ secrets: secrets.map(() => '${SECRET}'), ...settings });
  return createVerifier(
    { settings: parsed, secrets },
    { clock: () => NOW * 1000, fetchJson: () => Promise.reject(new Error('no issuer here')) },
  );
}

const hex = (secret: string, text: string | Buffer, algorithm = 'sha256'): string =>
  createHmac(algorithm, secret).update(text).digest('hex');

describe('rotation', () => {
  const signed = (secret: string): Case => ({
    settings: { scheme: 'github' },
    secrets: ['new', 'old', 'older'],
    headers: { 'x-hub-signature-256': `sha256=${hex(secret, 'x')}` },
    body: 'x',
  });

  test.each([
    ['new', 0],
    ['old', 1],
    ['older', 2],
  ])('a request signed with %s says which secret it was', (secret, retired) => {
    expect(prove(signed(secret))).toEqual({ kind: 'proved', retired });
  });

  test('a secret that cannot be read does not move the others', () => {
    const id = 'msg_1';
    const key = Buffer.alloc(24, 7);
    const mac = createHmac('sha256', key).update(`${id}.${NOW}.x`).digest('base64');
    const settings = { scheme: 'standard-webhooks' };
    const secrets = ['whsec_not base64', `whsec_${key.toString('base64')}`];
    const headers = { 'webhook-id': id, 'webhook-timestamp': String(NOW), 'webhook-signature': `v1,${mac}` };
    expect(prove({ settings, secrets, headers, body: 'x' }).kind).toBe('proved');
    expect(verifierOf(settings, secrets).problems).toEqual([
      { index: 0, problem: expect.stringContaining('it is not base64 after "whsec_"') as string },
    ]);
  });

  test('a sender that rotates sends several signatures, and one that fits is enough', () => {
    const value = `v1=${hex('other', 'x')},v1=${hex('mine', 'x')},v2=00`;
    const headers = { 'x-pagerduty-signature': value };
    expect(prove({ settings: { scheme: 'pagerduty' }, secrets: ['mine'], headers, body: 'x' }).kind).toBe(
      'proved',
    );
  });

  test('more signatures than any sender sends are refused unread', () => {
    const value = Array.from({ length: 9 }, () => `v1=${hex('mine', 'x')}`).join(',');
    const headers = { 'x-pagerduty-signature': value };
    expect(prove({ settings: { scheme: 'pagerduty' }, secrets: ['mine'], headers, body: 'x' })).toEqual({
      kind: 'refused',
      reason: 'malformed-proof',
    });
  });
});

describe('raw bytes', () => {
  test('bytes that are no UTF-8 are signed as they are, and not as their replacement', () => {
    const body = Buffer.from([0x7b, 0xff, 0xfe, 0x7d]);
    const settings = { scheme: 'github' };
    const right = { 'x-hub-signature-256': `sha256=${hex('s', body)}` };
    const replaced = { 'x-hub-signature-256': `sha256=${hex('s', body.toString('utf8'))}` };
    expect(prove({ settings, secrets: ['s'], headers: right, body }).kind).toBe('proved');
    expect(prove({ settings, secrets: ['s'], headers: replaced, body }).kind).toBe('refused');
  });
});

describe('timestamps', () => {
  test.each(['1700000000abc', '+1700000000', ' ', '1.7e9', '１７０００００００００', '-1', '99999999999999'])(
    'a time written as %j is refused, whatever the signature says',
    (timestamp) => {
      const mac = createHmac('sha256', 's').update(`v0:${timestamp}:x`, 'latin1').digest('hex');
      const headers = { 'x-slack-signature': `v0=${mac}`, 'x-slack-request-timestamp': timestamp };
      expect(prove({ settings: { scheme: 'slack' }, secrets: ['s'], headers, body: 'x' })).toMatchObject({
        kind: 'refused',
      });
    },
  );

  test('the age of a request that is too old is told', () => {
    const at = NOW - 412;
    const headers = {
      'x-slack-signature': `v0=${hex('s', `v0:${at}:x`)}`,
      'x-slack-request-timestamp': String(at),
    };
    expect(prove({ settings: { scheme: 'slack' }, secrets: ['s'], headers, body: 'x' })).toEqual({
      kind: 'refused',
      reason: 'too-old',
      ageSeconds: 412,
    });
  });

  test("the path's own tolerance counts", () => {
    const at = NOW - 412;
    const headers = {
      'x-slack-signature': `v0=${hex('s', `v0:${at}:x`)}`,
      'x-slack-request-timestamp': String(at),
    };
    const settings = { scheme: 'slack', toleranceSeconds: 412 };
    expect(prove({ settings, secrets: ['s'], headers, body: 'x' }).kind).toBe('proved');
  });
});

test('an id with a full stop is refused: the signed text could be cut at another place', () => {
  const key = Buffer.alloc(24, 7);
  const mac = createHmac('sha256', key).update(`a.1.${NOW}.x`).digest('base64');
  const headers = { 'webhook-id': 'a.1', 'webhook-timestamp': String(NOW), 'webhook-signature': `v1,${mac}` };
  const secrets = [key.toString('base64')];
  expect(prove({ settings: { scheme: 'standard-webhooks' }, secrets, headers, body: 'x' })).toEqual({
    kind: 'refused',
    reason: 'malformed-id',
  });
});

describe('the table of fields', () => {
  test.each([
    ['a member twice', '{"webhookTimestamp":1700000000000,"webhookTimestamp":1}', 'no-timestamp'],
    ['a member in a nested object only', '{"a":{"webhookTimestamp":1700000000000}}', 'no-timestamp'],
    ['a member that is no number', '{"webhookTimestamp":{}}', 'no-timestamp'],
    ['a body that is no object', '[1]', 'no-timestamp'],
    ['a body that does not end', '{"a":"', 'no-timestamp'],
    ['a fraction', '{"webhookTimestamp":1.5}', 'malformed-timestamp'],
  ])('linear refuses %s', (_what, body, reason) => {
    const headers = { 'linear-signature': hex('s', body) };
    expect(prove({ settings: { scheme: 'linear' }, secrets: ['s'], headers, body })).toMatchObject({
      reason,
    });
  });

  test('a name may be written with escapes, and values before it are skipped whole', () => {
    const body = String.raw`{"a":[{"webhookTimestamp":1},"]}\"",{}],"web\u0068ookTimestamp" : 1700000000000 }`;
    const headers = { 'linear-signature': hex('s', body) };
    expect(prove({ settings: { scheme: 'linear' }, secrets: ['s'], headers, body }).kind).toBe('proved');
  });
});

describe('twilio', () => {
  const url = 'https://hooks.example.com/hooks/sms?a=1';
  const signed = (text: string): string => createHmac('sha1', 'tok').update(text).digest('base64');
  const settings = { scheme: 'twilio' };
  const secrets = ['tok'];

  test('a body that the signature does not cover is refused, though the address is signed', () => {
    const headers = { 'content-type': 'application/json', 'x-twilio-signature': signed(url) };
    expect(prove({ settings, secrets, headers, url, body: '{"Body":"forged"}' })).toEqual({
      kind: 'refused',
      reason: 'body-not-covered',
    });
  });

  test('a GET is signed by its address alone', () => {
    const headers = { 'x-twilio-signature': signed(url) };
    expect(prove({ settings, secrets, headers, url, method: 'GET' }).kind).toBe('proved');
  });

  test('a form with more fields than any is refused', () => {
    const body = 'a=1&'.repeat(1001);
    const headers = {
      'content-type': 'application/x-www-form-urlencoded',
      'x-twilio-signature': signed(url),
    };
    expect(prove({ settings, secrets, headers, url, body })).toMatchObject({ reason: 'unreadable-body' });
  });

  test('the address is signed with or without its standard port', () => {
    const withPort = 'https://hooks.example.com:443/hooks/sms?a=1';
    const headers = { 'x-twilio-signature': signed(url) };
    expect(prove({ settings, secrets, headers, url: withPort, method: 'GET' }).kind).toBe('proved');
    const other = 'https://hooks.example.com:8443/hooks/sms?a=1';
    expect(prove({ settings, secrets, headers, url: other, method: 'GET' }).kind).toBe('refused');
  });
});

describe('gitlab', () => {
  test.each([
    ['a no-break space', '\u00a0'],
    ['a byte order mark', '\u00ef\u00bb\u00bf'],
    ['a next line', '\u0085'],
    ['a form feed', '\f'],
  ])('a token with %s at its end or beginning is another token', (_, byte) => {
    for (const token of [`plain${byte}`, `${byte}plain`]) {
      expect(
        prove({
          settings: { scheme: 'gitlab' },
          secrets: ['plain'],
          headers: { 'x-gitlab-token': token },
          body: 'x',
        }),
      ).toMatchObject({ kind: 'refused', reason: 'wrong-proof' });
      const headers = { authorization: `Bearer ${token}` };
      expect(prove({ settings: { scheme: 'token' }, secrets: ['plain'], headers, body: 'x' }).kind).toBe(
        'refused',
      );
    }
  });

  test('blanks and tabs around a value are no part of it (RFC 9110)', () => {
    const headers = { 'x-gitlab-token': '\t plain \t' };
    expect(prove({ settings: { scheme: 'gitlab' }, secrets: ['plain'], headers, body: 'x' }).kind).toBe(
      'proved',
    );
  });

  test('a secret that begins with whsec_ is never taken as it is in X-Gitlab-Token', () => {
    const secrets = ['whsec_dGVzdHRlc3R0ZXN0dGVzdHRlc3R0ZXN0dGVzdHRlc3Q='];
    const headers = { 'x-gitlab-token': secrets[0] as string };
    expect(prove({ settings: { scheme: 'gitlab' }, secrets, headers, body: 'x' }).kind).toBe('refused');
  });

  test('either secret of two opens the path by its own way', () => {
    const secrets = ['whsec_dGVzdHRlc3R0ZXN0dGVzdHRlc3R0ZXN0dGVzdHRlc3Q=', 'plain'];
    const headers = { 'x-gitlab-token': 'plain' };
    expect(prove({ settings: { scheme: 'gitlab' }, secrets, headers, body: 'x' })).toEqual({
      kind: 'proved',
      retired: 0,
    });
  });
});

describe('general schemes', () => {
  test('hmac with every column', () => {
    const settings = {
      scheme: 'hmac',
      header: 'X-Sig',
      algorithm: 'sha512',
      encoding: 'base64url',
      separator: ';',
      assign: ':',
      signatureField: 's',
      timestampField: 't',
      idHeader: 'X-Id',
      timestampUnit: 'milliseconds',
      signed: '{method} {url} {id} {timestamp} {body}',
      secretEncoding: 'hex',
    };
    const secrets = ['00ff'];
    const text = `POST https://hooks.example.com/hooks/x id-1 ${NOW}000 body`;
    const mac = createHmac('sha512', Buffer.from('00ff', 'hex')).update(text).digest('base64url');
    const headers = { 'x-sig': `t:${NOW}000; s:${mac}`, 'x-id': 'id-1' };
    expect(prove({ settings, secrets, headers, body: 'body' })).toEqual({
      kind: 'proved',
      retired: 0,
      signedAtSeconds: NOW,
      signedId: 'id-1',
    });
  });

  test('ed25519 with a PEM', () => {
    const { publicKey, privateKey } = generateKeyPairSync('ed25519');
    const settings = { scheme: 'ed25519', header: 'x-sig' };
    const secrets = [publicKey.export({ format: 'pem', type: 'spki' }) as string];
    const headers = { 'x-sig': sign(undefined, Buffer.from('x'), privateKey).toString('hex') };
    expect(prove({ settings, secrets, headers, body: 'x' }).kind).toBe('proved');
    expect(prove({ settings, secrets, headers, body: 'y' }).kind).toBe('refused');
  });

  test('ecdsa refuses a key of another kind and says so', () => {
    const { publicKey } = generateKeyPairSync('ed25519');
    const pem = publicKey.export({ format: 'pem', type: 'spki' }) as string;
    const verifier = verifierOf({ scheme: 'ecdsa', header: 'x-sig', encoding: 'base64' }, [pem]);
    expect(verifier.problems).toEqual([
      {
        index: 0,
        problem: 'it is not an ECDSA public key; copy the key that the provider shows, or its PEM',
      },
    ]);
  });

  test('ecdsa with SPKI in base64', () => {
    const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
    const settings = { scheme: 'ecdsa', header: 'x-sig', encoding: 'base64' };
    const secrets = [publicKey.export({ format: 'der', type: 'spki' }).toString('base64')];
    const headers = { 'x-sig': sign('sha256', Buffer.from('x'), privateKey).toString('base64') };
    expect(prove({ settings, secrets, headers, body: 'x' }).kind).toBe('proved');
    expect(
      createPublicKey(createPrivateKey(privateKey.export({ format: 'pem', type: 'pkcs8' }))),
    ).toBeDefined();
  });

  test.each([
    ['{nonce}{body}', '{nonce} is not a placeholder'],
    ['{timestamp}', 'must contain {body}, without which the payload is not signed'],
  ])('a signed text of %s is a finding', (signed, message) => {
    const parsed = VerifySettings.safeParse({ scheme: 'hmac', header: 'x', secrets: ['${A}'], signed });
    expect(parsed.error?.issues[0]?.message).toContain(message);
  });

  test.each(['secret', '${A', 'x${A}', '${}', ''])('a secret written as %j is no reference', (secret) => {
    expect(VerifySettings.safeParse({ scheme: 'github', secrets: [secret] }).success).toBe(false);
  });
});

test.each([
  ['the fields as they are', {}, 'proved'],
  ['another token', { token: 'b'.repeat(50) }, 'refused'],
  ['another signature', { signature: 'a'.repeat(64) }, 'refused'],
  ['a field that is there twice', { 'token"\r\nx: "': 'a'.repeat(50) }, 'refused'],
])('a route of Mailgun whose form comes in parts: %s', (_name, changed, kind) => {
  const token = 'a'.repeat(50);
  const fields = {
    timestamp: String(NOW),
    token,
    signature: hex('s', `${NOW}${token}`),
    subject: 'ä',
    ...changed,
  };
  const parts = Object.entries(fields).map(
    ([name, value]) => `--b\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`,
  );
  const headers = { 'content-type': 'multipart/form-data; boundary=b' };
  const body = `${parts.join('')}--b--`;
  expect(prove({ settings: { scheme: 'mailgun' }, secrets: ['s'], headers, body }).kind).toBe(kind);
});

test('a form in parts with very many parts proves nothing, whatever its fields say', () => {
  const token = 'a'.repeat(50);
  const proof = { timestamp: String(NOW), token, signature: hex('s', `${NOW}${token}`) };
  const part = ([name, value]: readonly [string, string]): string =>
    `--b\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`;
  const bodyOf = (others: number): string =>
    `${Object.entries(proof).map(part).join('')}${part(['x', 'y']).repeat(others)}--b--`;
  const headers = { 'content-type': 'multipart/form-data; boundary=b' };
  const kindOf = (others: number): string =>
    prove({ settings: { scheme: 'mailgun' }, secrets: ['s'], headers, body: bodyOf(others) }).kind;
  expect([kindOf(97), kindOf(98), kindOf(1_000)]).toEqual(['proved', 'refused', 'refused']);
});

describe('credentials', () => {
  const basic = (text: string): Record<string, string> => ({
    Authorization: `Basic ${Buffer.from(text, 'utf8').toString('base64')}`,
  });

  test.each([
    ['basic takes the password', { scheme: 'basic', user: 'u' }, basic('u:pä:ss'), 'proved'],
    ['basic refuses another user', { scheme: 'basic', user: 'u' }, basic('v:pä:ss'), 'refused'],
    ['basic refuses another password', { scheme: 'basic', user: 'u' }, basic('u:other'), 'refused'],
    [
      'basic refuses a bearer token',
      { scheme: 'basic', user: 'u' },
      { authorization: 'Bearer pä:ss' },
      'refused',
    ],
    ['header refuses a blank value', { scheme: 'header', header: 'X-S' }, { 'x-s': ' ' }, 'refused'],
    ['header refuses another value', { scheme: 'header', header: 'X-S' }, { 'x-s': 'pa:ss' }, 'refused'],
    ['token refuses nothing', { scheme: 'token' }, {}, 'refused'],
  ])('%s', (_name, settings, headers, kind) => {
    expect(prove({ settings, secrets: ['pä:ss'], headers }).kind).toBe(kind);
  });

  test.each([
    ['bearer', { authorization: 'bearer  tok' }],
    ['x-service-token', { 'X-Service-Token': 'tok' }],
    ['x-openclaw-token', { 'x-openclaw-token': 'tok' }],
  ])('token is taken from %s', (_name, headers) => {
    expect(prove({ settings: { scheme: 'token' }, secrets: ['tok'], headers }).kind).toBe('proved');
  });

  test('token is taken from the query where it is handed over', () => {
    expect(prove({ settings: { scheme: 'token' }, secrets: ['tok'], queryToken: () => 'tok' }).kind).toBe(
      'proved',
    );
  });

  test('a missing secret opens nothing, not even to an empty one', () => {
    for (const settings of [
      { scheme: 'token' },
      { scheme: 'header', header: 'x-s' },
      { scheme: 'basic', user: 'u' },
      { scheme: 'telegram' },
      { scheme: 'github' },
      { scheme: 'mailgun' },
    ]) {
      const headers = { 'x-s': '', authorization: 'Bearer ', 'x-telegram-bot-api-secret-token': '' };
      expect(prove({ settings, secrets: [''], headers }), settings.scheme).toMatchObject({ kind: 'refused' });
      expect(verifierOf(settings, ['']).problems, settings.scheme).toHaveLength(1);
    }
  });

  test('headers that carry a secret are named', () => {
    expect(verifierOf({ scheme: 'gitlab' }, ['plain']).secretHeaders).toEqual(['x-gitlab-token']);
    expect(verifierOf({ scheme: 'header', header: 'X-S' }, ['s']).secretHeaders).toEqual(['x-s']);
    expect(verifierOf({ scheme: 'github' }, ['s']).secretHeaders).toEqual([]);
  });
});

test('never throws and never proves what nobody signed, whatever arrives', () => {
  const schemes = [
    'github',
    'gitlab',
    'stripe',
    'slack',
    'discord',
    'linear',
    'sendgrid',
    'twilio',
    'mailgun',
    'mandrill',
  ];
  const key = createPublicKey({
    key: { kty: 'OKP', crv: 'Ed25519', x: Buffer.alloc(32, 1).toString('base64url') },
    format: 'jwk',
  }).export({ format: 'der', type: 'spki' });
  const secrets = ['s', Buffer.alloc(32, 1).toString('hex'), key.toString('base64')];
  const headerNames = [
    'x-hub-signature-256',
    'x-gitlab-token',
    'stripe-signature',
    'x-slack-signature',
    'x-slack-request-timestamp',
    'x-signature-ed25519',
    'x-signature-timestamp',
    'linear-signature',
    'x-twilio-email-event-webhook-signature',
    'x-twilio-email-event-webhook-timestamp',
    'x-twilio-signature',
    'x-mandrill-signature',
    'x-signature',
    'content-type',
  ];
  const value = fc.oneof(
    fc.string({ unit: CODE_POINT, maxLength: 80 }),
    fc.stringMatching(/^(?:sha256=|v0=|t=1700000000,v1=)?[0-9a-f]{64}$/),
    fc.constantFrom('1700000000', 'application/x-www-form-urlencoded', 'application/json'),
  );
  const headers = fc.array(fc.tuple(fc.constantFrom(...headerNames), value), { maxLength: 6 });
  const body = fc.oneof(
    fc.uint8Array({ maxLength: 200 }),
    fc.json().map((text) => Buffer.from(text)),
    fc
      .constantFrom('{"signature":{"timestamp":"1700000000","token":"a","signature":"00"}}', '{"a":')
      .map((text) => Buffer.from(text)),
  );
  fc.assert(
    fc.property(fc.constantFrom(...schemes), headers, body, (scheme, pairs, bytes) => {
      const proof = verifierOf({ scheme }, secrets).prove({
        method: 'POST',
        url: 'https://hooks.example.com/hooks/x',
        rawHeaders: pairs.flat(),
        body: Buffer.from(bytes),
      });
      expect(proof).toMatchObject({ kind: 'refused' });
    }),
    { seed: 11, numRuns: 300 },
  );
});
