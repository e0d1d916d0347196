import { exportJWK, generateKeyPair, type CryptoKey, type JWK, SignJWT } from 'jose';
import { beforeAll, describe, expect, test } from 'vitest';
import { createVerifier, type Proof, VerifySettings } from '../../src/verify/verify.ts';

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

  constructor(keys: readonly Key[]) {
    this.keys = keys;
  }

  readonly fetchJson = (url: string): Promise<unknown> => {
    this.asked.push(url);
    if (this.isAway) return Promise.reject(new Error('away'));
    return Promise.resolve(
      url.endsWith('/openid-configuration')
        ? { jwks_uri: `${ISSUER}/keys` }
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
    expect(await prove(await token(first), NOW + 32)).toEqual({ kind: 'refused', reason: 'wrong-proof' });
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
    expect(await door(fresh)(await token(first))).toEqual({ kind: 'refused', reason: 'no-keys' });
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
    expect(await prove(await token(first, options))).toEqual({ kind: 'refused', reason });
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
});
