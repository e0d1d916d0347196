import { createHmac, generateKeyPairSync, type JsonWebKey, type KeyObject, sign } from 'node:crypto';
import { exportJWK, generateKeyPair, type CryptoKey, type JWK, SignJWT } from 'jose';
import { beforeAll, describe, expect, test } from 'vitest';
import { createVerifier, VerifySettings } from '../../../src/engine/verify/verify.ts';
import type { Proof } from '../../../src/engine/verify/proof.ts';

const NOW = 1_700_000_000;
const ISSUER = 'https://accounts.example.com';
const AUDIENCE = 'https://hooks.example.com/hooks/pubsub';
const EMAIL = 'push@project.iam.gserviceaccount.com';

interface Key {
  readonly kid: string;
  readonly privateKey: CryptoKey;
  readonly jwk: JWK;
}

async function makeKey(kid: string, algorithm = 'RS256'): Promise<Key> {
  const { publicKey, privateKey } = await generateKeyPair(algorithm, { extractable: true });
  return { kid, privateKey, jwk: { ...(await exportJWK(publicKey)), kid, alg: algorithm, use: 'sig' } };
}

/** An issuer that counts how often it is asked. */
class Issuer {
  readonly asked: string[] = [];
  keys: readonly Key[];
  isAway = false;
  name = ISSUER;
  jwksUri = `${ISSUER}/keys`;

  constructor(keys: readonly Key[]) {
    this.keys = keys;
  }

  readonly fetchJson = (url: string): Promise<unknown> => {
    this.asked.push(url);
    if (this.isAway) return Promise.reject(new Error('away'));
    return Promise.resolve(
      url.endsWith('/openid-configuration')
        ? { issuer: this.name, jwks_uri: this.jwksUri }
        : { keys: this.keys.map(({ jwk }) => jwk) },
    );
  };
}

interface TokenOptions {
  readonly issuer?: string;
  readonly audience?: string;
  readonly claims?: Record<string, unknown>;
  readonly expiresAt?: number | undefined;
  readonly alg?: string;
}

function token({ kid, privateKey }: Key, options: TokenOptions = {}): Promise<string> {
  const { issuer = ISSUER, audience = AUDIENCE, claims = { email: EMAIL, email_verified: true } } = options;
  const jwt = new SignJWT(claims)
    .setProtectedHeader({ alg: options.alg ?? 'RS256', kid })
    .setIssuer(issuer)
    .setAudience(audience)
    .setIssuedAt(NOW - 10);
  if ('expiresAt' in options && options.expiresAt === undefined) return jwt.sign(privateKey);
  return jwt.setExpirationTime(options.expiresAt ?? NOW + 3600).sign(privateKey);
}

describe('oidc', () => {
  let first: Key;
  let second: Key;
  beforeAll(async () => {
    [first, second] = await Promise.all([makeKey('one'), makeKey('two')]);
  });

  function door(issuer: Issuer, extra: object = {}): (jwt: string, atSeconds?: number) => Promise<Proof> {
    let now = NOW;
    const settings = VerifySettings.parse({
      scheme: 'oidc',
      issuer: ISSUER,
      audience: AUDIENCE,
      claims: { email: EMAIL, email_verified: true },
      ...extra,
    });
    const verifier = createVerifier(
      { settings, secrets: [] },
      { clock: () => now * 1000, fetchJson: issuer.fetchJson },
    );
    return async (jwt, atSeconds = NOW) => {
      now = atSeconds;
      return verifier.prove({
        method: 'POST',
        url: AUDIENCE,
        rawHeaders: ['Authorization', `Bearer ${jwt}`],
        body: Buffer.from('{}'),
      });
    };
  }

  test('takes a token of the issuer, and asks for its keys once', async () => {
    const issuer = new Issuer([first]);
    const prove = door(issuer);
    expect(await prove(await token(first))).toEqual({
      kind: 'proved',
      retired: 0,
      signedAtSeconds: NOW - 10,
    });
    await Promise.all([prove(await token(first)), prove(await token(first))]);
    expect(issuer.asked).toEqual([`${ISSUER}/.well-known/openid-configuration`, `${ISSUER}/keys`]);
  });

  test('takes a key that the issuer rotated in, and drops the one it took out', async () => {
    const issuer = new Issuer([first]);
    const prove = door(issuer);
    await prove(await token(first));
    issuer.keys = [second];
    expect((await prove(await token(second), NOW + 31)).kind).toBe('proved');
    expect(await prove(await token(first), NOW + 32)).toMatchObject({
      kind: 'refused',
      reason: 'wrong-proof',
    });
  });

  test('made-up key ids do not make it ask more than twice a minute', async () => {
    const issuer = new Issuer([first]);
    const prove = door(issuer, { jwksUri: `${ISSUER}/keys` });
    const stranger = await makeKey('stranger');
    for (let second = 0; second < 60; second += 1) await prove(await token(stranger), NOW + second);
    expect(issuer.asked.length).toBeLessThanOrEqual(3);
  });

  test('keeps its keys while the issuer is away, and says so where it has none', async () => {
    const issuer = new Issuer([first]);
    const prove = door(issuer);
    await prove(await token(first));
    issuer.isAway = true;
    expect((await prove(await token(first, { expiresAt: NOW + 7200 }), NOW + 3000)).kind).toBe('proved');
    const fresh = new Issuer([first]);
    fresh.isAway = true;
    expect(await door(fresh)(await token(first))).toEqual({
      kind: 'refused',
      reason: 'no-keys',
      detail: 'away',
    });
    // A key that the issuer may have taken back long ago is not good for ever.
    const late = NOW + 86_500;
    expect(await prove(await token(first, { expiresAt: late + 60 }), late)).toMatchObject({
      reason: 'no-keys',
    });
  });

  test.each([
    ['another issuer', { issuer: 'https://evil.example.com' }, 'wrong-claims'],
    ['another audience', { audience: 'https://other.example.com' }, 'wrong-claims'],
    ['another account', { claims: { email: 'a@b.c', email_verified: true } }, 'wrong-claims'],
    ['an account that is not verified', { claims: { email: EMAIL } }, 'wrong-claims'],
    ['a token that is over', { expiresAt: NOW - 120 }, 'too-old'],
    ['a token without an end', { expiresAt: undefined }, 'wrong-claims'],
  ])('refuses %s', async (_what, options, reason) => {
    const prove = door(new Issuer([first]));
    expect(await prove(await token(first, options))).toMatchObject({ kind: 'refused', reason });
  });

  test('refuses a token that another key signed under the same id', async () => {
    const stranger = await makeKey('one');
    expect(await door(new Issuer([first]))(await token(stranger))).toEqual({
      kind: 'refused',
      reason: 'wrong-proof',
    });
  });

  test.each([
    ['no signature', () => `${Buffer.from('{"alg":"none"}').toString('base64url')}.e30.`],
    ['no token', () => 'abc'],
    ['too much', () => 'a'.repeat(20_000)],
  ])('refuses %s', async (_what, make) => {
    expect((await door(new Issuer([first]))(make())).kind).toBe('refused');
  });

  test('a configuration of another issuer, or with keys over http, is not used', async () => {
    const other = new Issuer([first]);
    other.name = 'https://evil.example.com';
    expect(await door(other)(await token(first))).toMatchObject({
      reason: 'no-keys',
      detail: expect.stringContaining('is the configuration of another issuer') as string,
    });
    const open = new Issuer([first]);
    open.jwksUri = 'http://accounts.example.com/keys';
    expect(await door(open)(await token(first))).toMatchObject({ reason: 'no-keys' });
  });

  test('a clock that was set back does not put off the next question', async () => {
    const issuer = new Issuer([first]);
    const prove = door(issuer);
    await prove(await token(first, { expiresAt: NOW + 90_000 }), NOW + 80_000);
    issuer.keys = [second];
    expect((await prove(await token(second))).kind).toBe('proved');
    expect((await prove(await token(first))).kind).toBe('refused');
  });
});

/** Tokens and keys in the forms that issuers document, made without the library that judges them. */
describe('oidc, as issuers publish', () => {
  const rsa = (bits = 2048): { privateKey: KeyObject; publicKey: KeyObject } =>
    generateKeyPairSync('rsa', { modulusLength: bits });
  const pair = rsa();
  const other = rsa();

  const encode = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url');
  function jwt(header: object, claims: object, privateKey = pair.privateKey): string {
    const text = `${encode(header)}.${encode(claims)}`;
    return `${text}.${sign('sha256', Buffer.from(text), privateKey).toString('base64url')}`;
  }

  function judge(
    settings: object,
    documents: Readonly<Record<string, unknown>>,
  ): (jwt: string) => Promise<Proof> {
    const verifier = createVerifier(
      { settings: VerifySettings.parse({ scheme: 'oidc', ...settings }), secrets: [] },
      {
        clock: () => NOW * 1000,
        fetchJson: (url) =>
          Object.hasOwn(documents, url)
            ? Promise.resolve(documents[url])
            : Promise.reject(new Error(`no ${url}`)),
      },
    );
    return async (token) =>
      verifier.prove({
        method: 'POST',
        url: '',
        rawHeaders: ['Authorization', `Bearer ${token}`],
        body: Buffer.from('{}'),
      });
  }

  const publicJwk = (key: KeyObject): JsonWebKey => key.export({ format: 'jwk' });

  // https://cloud.google.com/pubsub/docs/authenticate-push-subscriptions#jwt_format
  const GOOGLE_CLAIMS = {
    aud: 'https://example.com',
    azp: '113774264463038321964',
    email: 'gae-gcp@appspot.gserviceaccount.com',
    sub: '113774264463038321964',
    email_verified: true,
    exp: NOW + 3600,
    iat: NOW,
    iss: 'https://accounts.google.com',
  };
  const GOOGLE_HEADER = { alg: 'RS256', kid: '7d680d8c70d44e947133cbd499ebc1a61c3d5abc', typ: 'JWT' };
  const GOOGLE = judge(
    {
      issuer: 'https://accounts.google.com',
      audience: 'https://example.com',
      claims: { email: GOOGLE_CLAIMS.email, email_verified: true },
    },
    {
      'https://accounts.google.com/.well-known/openid-configuration': {
        issuer: 'https://accounts.google.com',
        jwks_uri: 'https://www.googleapis.com/oauth2/v3/certs',
        id_token_signing_alg_values_supported: ['RS256'],
      },
      'https://www.googleapis.com/oauth2/v3/certs': {
        keys: [
          { ...publicJwk(other.publicKey), kid: 'older', alg: 'RS256', use: 'sig' },
          { ...publicJwk(pair.publicKey), kid: GOOGLE_HEADER.kid, alg: 'RS256', use: 'sig' },
        ],
      },
    },
  );
  const secretOfKeys = createHmac('sha256', pair.publicKey.export({ format: 'pem', type: 'spki' }));
  const confused = `${encode({ ...GOOGLE_HEADER, alg: 'HS256' })}.${encode(GOOGLE_CLAIMS)}`;

  test.each<[string, string, object]>([
    ['its token', jwt(GOOGLE_HEADER, GOOGLE_CLAIMS), { kind: 'proved', signedAtSeconds: NOW }],
    ['no kid, two keys', jwt({ alg: 'RS256' }, GOOGLE_CLAIMS), { kind: 'proved' }],
    ['no kid, no key', jwt({ alg: 'RS256' }, GOOGLE_CLAIMS, rsa().privateKey), { reason: 'wrong-proof' }],
    [
      'the kid of another key',
      jwt({ ...GOOGLE_HEADER, kid: 'older' }, GOOGLE_CLAIMS),
      { reason: 'wrong-proof' },
    ],
    [
      'HS256 over the public key',
      `${confused}.${secretOfKeys.update(confused).digest('base64url')}`,
      { reason: 'wrong-proof' },
    ],
    ['alg none', `${encode({ alg: 'none' })}.${encode(GOOGLE_CLAIMS)}.`, { kind: 'refused' }],
    [
      'another algorithm than the key is for',
      jwt({ ...GOOGLE_HEADER, alg: 'RS512' }, GOOGLE_CLAIMS),
      { kind: 'refused' },
    ],
    [
      'an extension that must be understood',
      jwt({ ...GOOGLE_HEADER, crit: ['exp'], exp: 1 }, GOOGLE_CLAIMS),
      { kind: 'refused' },
    ],
    [
      'a key of its own (jwk)',
      jwt({ alg: 'RS256', kid: 'mine', jwk: publicJwk(other.publicKey) }, GOOGLE_CLAIMS, other.privateKey),
      { reason: 'wrong-proof' },
    ],
    [
      'a key of its own (jku)',
      jwt(
        { alg: 'RS256', kid: 'mine', jku: 'https://evil.example.com/keys' },
        GOOGLE_CLAIMS,
        other.privateKey,
      ),
      { reason: 'wrong-proof' },
    ],
    [
      'a clock 50 s behind',
      jwt(GOOGLE_HEADER, { ...GOOGLE_CLAIMS, iat: NOW + 50, nbf: NOW + 50 }),
      { kind: 'proved' },
    ],
    ['a clock 70 s behind', jwt(GOOGLE_HEADER, { ...GOOGLE_CLAIMS, nbf: NOW + 70 }), { reason: 'too-new' }],
    ['over for 50 s', jwt(GOOGLE_HEADER, { ...GOOGLE_CLAIMS, exp: NOW - 50 }), { kind: 'proved' }],
    ['over for 70 s', jwt(GOOGLE_HEADER, { ...GOOGLE_CLAIMS, exp: NOW - 70 }), { reason: 'too-old' }],
    [
      'an end that is a text',
      jwt(GOOGLE_HEADER, { ...GOOGLE_CLAIMS, exp: '9999999999' }),
      { kind: 'refused' },
    ],
    [
      'somebody else of Google',
      jwt(GOOGLE_HEADER, { ...GOOGLE_CLAIMS, email: 'x@y.z' }),
      { reason: 'wrong-claims', detail: 'email' },
    ],
    [
      'another audience',
      jwt(GOOGLE_HEADER, { ...GOOGLE_CLAIMS, aud: 'https://example.com/' }),
      { reason: 'wrong-claims', detail: 'aud' },
    ],
  ])('Google Pub/Sub: %s', async (_what, token, verdict) => {
    expect(await GOOGLE(token)).toMatchObject(verdict);
  });

  // https://learn.microsoft.com/azure/bot-service/rest-api/bot-framework-rest-connector-authentication
  const BOT_KEYS = 'https://login.botframework.com/v1/.well-known/keys';
  const BOT = judge(
    { issuer: 'https://api.botframework.com', audience: 'app-id', jwksUri: BOT_KEYS, toleranceSeconds: 300 },
    {
      [BOT_KEYS]: {
        keys: [
          // Keys of Microsoft name no algorithm, and carry more than a key needs.
          {
            kty: 'RSA',
            use: 'sig',
            kid: 'a',
            x5t: 'a',
            x5c: ['MIIC'],
            endorsements: ['msteams'],
            ...publicJwk(pair.publicKey),
          },
        ],
      },
    },
  );
  // Entra's tokens of version 1 name an issuer that ends with a slash.
  const TENANT = '00000000-0000-0000-0000-000000000001';
  const ENTRA = judge(
    {
      issuer: `https://sts.windows.net/${TENANT}/`,
      audience: ['api://app', 'app-id'],
      claims: { tid: TENANT },
    },
    {
      [`https://sts.windows.net/${TENANT}/.well-known/openid-configuration`]: {
        issuer: `https://sts.windows.net/${TENANT}/`,
        jwks_uri: 'https://login.microsoftonline.com/common/discovery/keys',
      },
      'https://login.microsoftonline.com/common/discovery/keys': {
        keys: [{ kty: 'RSA', use: 'sig', kid: 'a', x5t: 'a', ...publicJwk(pair.publicKey) }],
      },
    },
  );
  const bot = {
    serviceurl: 'https://smba.trafficmanager.net/',
    iss: 'https://api.botframework.com',
    aud: 'app-id',
    nbf: NOW,
    exp: NOW + 300,
  };
  const entra = {
    aud: 'api://app',
    iss: `https://sts.windows.net/${TENANT}/`,
    iat: NOW,
    nbf: NOW,
    exp: NOW + 300,
    tid: TENANT,
    ver: '1.0',
  };
  const MICROSOFT_HEADER = { typ: 'JWT', alg: 'RS256', x5t: 'a', kid: 'a' };

  test.each<[string, (jwt: string) => Promise<Proof>, object, object]>([
    ['Bot Framework', BOT, bot, { kind: 'proved' }],
    ['Bot Framework, clock 4 minutes behind', BOT, { ...bot, nbf: NOW + 240 }, { kind: 'proved' }],
    ['Bot Framework, another bot', BOT, { ...bot, aud: 'other' }, { reason: 'wrong-claims', detail: 'aud' }],
    ['Entra', ENTRA, entra, { kind: 'proved' }],
    [
      'Entra, another tenant',
      ENTRA,
      { ...entra, iss: 'https://sts.windows.net/2/' },
      { reason: 'wrong-claims', detail: 'iss' },
    ],
  ])('%s', async (_what, prove, claims, verdict) => {
    expect(await prove(jwt(MICROSOFT_HEADER, claims))).toMatchObject(verdict);
  });

  test('a key that is too short to trust is not used', async () => {
    const short = rsa(1024);
    const prove = judge(
      { issuer: ISSUER, audience: AUDIENCE, jwksUri: `${ISSUER}/keys` },
      { [`${ISSUER}/keys`]: { keys: [{ ...publicJwk(short.publicKey), kid: 'a', use: 'sig' }] } },
    );
    const claims = { iss: ISSUER, aud: AUDIENCE, exp: NOW + 60 };
    expect((await prove(jwt(MICROSOFT_HEADER, claims, short.privateKey))).kind).toBe('refused');
  });
});
