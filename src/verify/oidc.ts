import { createLocalJWKSet, errors, type JSONWebKeySet, type JWTPayload, jwtVerify } from 'jose';
import { bearerOf } from './credentials.ts';
import { type Proof, type RefusalReason, refused } from './proof.ts';
import type { VerifySettings } from './verify-settings.ts';

/** Fetches a JSON document of an issuer. Bounded in time and size by whoever hands it in. */
export type FetchJson = (url: string) => Promise<unknown>;

export type OidcSettings = Extract<VerifySettings, { scheme: 'oidc' }>;

/** Only signatures that need the issuer's private key. */
const ALGORITHMS = ['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512', 'ES256', 'ES384', 'EdDSA'];
const DEFAULT_TOLERANCE_SECONDS = 60;
/** Issuers announce new keys well before they sign with them. */
const KEYS_FRESH_MS = 600_000;
/** An unknown key id makes us ask again, but a flood of made-up ids must not become a flood of requests. */
const REFETCH_AFTER_MS = 30_000;
const MAX_TOKEN_LENGTH = 16_384;

/** Judges tokens of one issuer; keeps its keys and fetches them again when they are old or one is missing. */
export interface OidcJudge {
  judge(rawHeaders: readonly string[], nowMs: number): Promise<Proof>;
}

interface KeySet {
  readonly find: ReturnType<typeof createLocalJWKSet>;
  readonly fetchedAt: number;
}

export function createOidcJudge(settings: OidcSettings, fetchJson: FetchJson): OidcJudge {
  let keys: KeySet | undefined;
  let lastTry = Number.NEGATIVE_INFINITY;
  let pending: Promise<KeySet | undefined> | undefined;

  const refresh = async (nowMs: number): Promise<KeySet | undefined> => {
    lastTry = nowMs;
    try {
      const find = createLocalJWKSet(
        (await fetchJson(await findJwksUri(settings, fetchJson))) as JSONWebKeySet,
      );
      keys = { find, fetchedAt: nowMs };
    } catch {
      // The keys we have stay good: an issuer that is away must not lock its sender out.
    }
    return keys;
  };
  const keysFor = (nowMs: number, isMissing: boolean): Promise<KeySet | undefined> => {
    const isFresh = keys !== undefined && nowMs - keys.fetchedAt < KEYS_FRESH_MS && !isMissing;
    if (isFresh || nowMs - lastTry < REFETCH_AFTER_MS) return pending ?? Promise.resolve(keys);
    pending ??= refresh(nowMs).finally(() => {
      pending = undefined;
    });
    return pending;
  };

  return {
    async judge(rawHeaders, nowMs) {
      const token = bearerOf(rawHeaders);
      if (token === undefined) return refused('no-proof');
      if (token.length > MAX_TOKEN_LENGTH) return refused('malformed-proof');
      const judged = await judgeToken({ settings, token, keys: await keysFor(nowMs, false), nowMs });
      if (judged !== 'unknown-key') return judged;
      const again = await judgeToken({ settings, token, keys: await keysFor(nowMs, true), nowMs });
      return again === 'unknown-key' ? refused('wrong-proof') : again;
    },
  };
}

async function findJwksUri({ issuer, jwksUri }: OidcSettings, fetchJson: FetchJson): Promise<string> {
  if (jwksUri !== undefined) return jwksUri;
  const found = await fetchJson(`${issuer.replace(/\/$/, '')}/.well-known/openid-configuration`);
  const uri = (found as { readonly jwks_uri?: unknown } | null)?.jwks_uri;
  if (typeof uri !== 'string') throw new Error('the configuration of the issuer names no keys');
  return uri;
}

interface Judgement {
  readonly settings: OidcSettings;
  readonly token: string;
  readonly keys: KeySet | undefined;
  readonly nowMs: number;
}

async function judgeToken({ settings, token, keys, nowMs }: Judgement): Promise<Proof | 'unknown-key'> {
  if (keys === undefined) return refused('no-keys');
  try {
    const { audience } = settings;
    const { payload } = await jwtVerify(token, keys.find, {
      issuer: settings.issuer,
      audience: typeof audience === 'string' ? audience : [...audience],
      algorithms: ALGORITHMS,
      requiredClaims: ['exp'],
      clockTolerance: settings.toleranceSeconds ?? DEFAULT_TOLERANCE_SECONDS,
      currentDate: new Date(nowMs),
    });
    return fits(payload, settings) ? proved(payload) : refused('wrong-claims');
  } catch (error) {
    if (error instanceof errors.JWKSNoMatchingKey) return 'unknown-key';
    return refused(reasonOf(error));
  }
}

function proved({ iat }: JWTPayload): Proof {
  return { kind: 'proved', retired: 0, ...(iat === undefined ? {} : { signedAtSeconds: iat }) };
}

function fits(payload: JWTPayload, { claims = {} }: OidcSettings): boolean {
  return Object.entries(claims).every(
    ([name, value]) => Object.hasOwn(payload, name) && payload[name] === value,
  );
}

function reasonOf(error: unknown): RefusalReason {
  if (error instanceof errors.JWTExpired) return 'too-old';
  if (error instanceof errors.JWTClaimValidationFailed) {
    return error.claim === 'nbf' || error.claim === 'iat' ? 'too-new' : 'wrong-claims';
  }
  if (error instanceof errors.JWSSignatureVerificationFailed) return 'wrong-proof';
  return error instanceof errors.JOSEAlgNotAllowed ? 'wrong-proof' : 'malformed-proof';
}
