import {
  createLocalJWKSet,
  errors,
  type JSONWebKeySet,
  type JWTPayload,
  jwtVerify,
  type JWTVerifyOptions,
} from 'jose';
import { messageOf } from '../../base/errors.ts';
import { bearerOf } from './credentials.ts';
import { type Proof, type Refused, refused, refusedFor } from './proof.ts';
import type { VerifySettings } from './verify-settings.ts';

/** Fetches a JSON document of an issuer. Bounded in time and size by whoever hands it in. */
export type FetchJson = (url: string) => Promise<unknown>;

export type OidcSettings = Extract<VerifySettings, { scheme: 'oidc' }>;

/** Only signatures that need the issuer's private key. */
const ALGORITHMS = ['RS', 'PS', 'ES'].flatMap((family) => ['256', '384', '512'].map((bits) => family + bits));
ALGORITHMS.push('EdDSA', 'Ed25519');
const DEFAULT_TOLERANCE_SECONDS = 60;
/** Less than any Cache-Control that issuers send with their keys (Google hours, Microsoft a day), and more than a moment. */
const KEYS_FRESH_MS = 600_000;
/** An issuer that is away must not lock its sender out, but a key that it took back must not stay good for ever. */
const KEYS_KEPT_MS = 86_400_000;
/** An unknown key id makes us ask again, but a flood of made-up ids must not become a flood of requests. */
const REFETCH_AFTER_MS = 30_000;
const MAX_TOKEN_LENGTH = 16_384;
/** Keys that are tried for a token that names none. */
const MAX_KEYS_TRIED = 8;

/** Judges tokens of one issuer; keeps its keys and fetches them again when they are old or one is missing. */
export interface OidcJudge {
  judge(rawHeaders: readonly string[], nowMs: number): Promise<Proof>;
}

interface KeySet {
  readonly find: ReturnType<typeof createLocalJWKSet>;
  readonly fetchedAt: number;
}

export function createOidcJudge(settings: OidcSettings, fetchJson: FetchJson): OidcJudge {
  const published = new PublishedKeys(settings, fetchJson);
  return {
    async judge(rawHeaders, nowMs) {
      const token = bearerOf(rawHeaders);
      if (token === undefined) return refused('no-proof');
      if (token.length > MAX_TOKEN_LENGTH) return refused('malformed-proof');
      for (const isMissing of [false, true]) {
        // The second time only where the first found no key.
        const keys = await published.get(nowMs, isMissing);
        if (keys === undefined) return refusedFor('no-keys', published.problem);
        const judged = await judgeToken({ settings, token, keys, nowMs });
        if (judged !== 'unknown-key') return judged;
      }
      return refusedFor('wrong-proof', 'the issuer publishes no key of the id that the token names');
    },
  };
}

/** The keys that an issuer publishes, as they were fetched last. */
class PublishedKeys {
  readonly #settings: OidcSettings;
  readonly #fetchJson: FetchJson;
  #keys: KeySet | undefined;
  #lastTry = Number.NEGATIVE_INFINITY;
  #pending: Promise<void> | undefined;
  #problem: string | undefined;

  constructor(settings: OidcSettings, fetchJson: FetchJson) {
    this.#settings = settings;
    this.#fetchJson = fetchJson;
  }

  get problem(): string | undefined {
    return this.#problem;
  }

  /** The keys, fetched where they are old or `isMissing` says that one is not among them. */
  async get(nowMs: number, isMissing: boolean): Promise<KeySet | undefined> {
    if (isMissing || !this.#areWithin(nowMs, KEYS_FRESH_MS)) {
      if (!isWithin(nowMs, this.#lastTry, REFETCH_AFTER_MS)) {
        this.#pending ??= this.#refresh(nowMs).finally(() => {
          this.#pending = undefined;
        });
      }
      await this.#pending;
    }
    return this.#areWithin(nowMs, KEYS_KEPT_MS) ? this.#keys : undefined;
  }

  #areWithin(nowMs: number, spanMs: number): boolean {
    return this.#keys !== undefined && isWithin(nowMs, this.#keys.fetchedAt, spanMs);
  }

  async #refresh(nowMs: number): Promise<void> {
    this.#lastTry = nowMs;
    try {
      const document = await this.#fetchJson(await findJwksUri(this.#settings, this.#fetchJson));
      this.#keys = { find: createLocalJWKSet(document as JSONWebKeySet), fetchedAt: nowMs };
      this.#problem = undefined;
    } catch (error) {
      this.#problem = messageOf(error);
    }
  }
}

/** A clock that was set back must not make what was fetched later than now good, or put off the next try. */
function isWithin(nowMs: number, sinceMs: number, spanMs: number): boolean {
  const elapsedMs = nowMs - sinceMs;
  return elapsedMs >= 0 && elapsedMs < spanMs;
}

/** OpenID Connect Discovery 1.0, sections 4.1 and 4.3: a configuration that names another issuer is not used. */
async function findJwksUri({ issuer, jwksUri }: OidcSettings, fetchJson: FetchJson): Promise<string> {
  if (jwksUri !== undefined) return jwksUri;
  const address = `${issuer.replace(/\/$/, '')}/.well-known/openid-configuration`;
  const found = (await fetchJson(address)) as {
    readonly issuer?: unknown;
    readonly jwks_uri?: unknown;
  } | null;
  if (found?.issuer !== issuer) {
    throw new Error(`${address} is the configuration of another issuer; name that one, or set jwksUri`);
  }
  const { jwks_uri: uri } = found;
  if (typeof uri !== 'string' || !URL.canParse(uri)) throw new Error(`${address} names no keys (jwks_uri)`);
  if (new URL(uri).protocol !== 'https:' && issuer.startsWith('https:')) {
    throw new Error(`${address} names keys that are not fetched over https`);
  }
  return uri;
}

interface TokenJudgement {
  readonly settings: OidcSettings;
  readonly token: string;
  readonly keys: KeySet;
  readonly nowMs: number;
}

async function judgeToken({ settings, token, keys, nowMs }: TokenJudgement): Promise<Proof | 'unknown-key'> {
  try {
    const { payload } = await verifyToken(token, keys, expectationsOf(settings, nowMs));
    const wrong = wrongClaim(payload, settings);
    return wrong === undefined ? proved(payload) : refusedFor('wrong-claims', wrong);
  } catch (error) {
    if (error instanceof errors.JWKSNoMatchingKey) return 'unknown-key';
    return refusalOf(error);
  }
}

function expectationsOf(
  { issuer, audience, toleranceSeconds }: OidcSettings,
  nowMs: number,
): JWTVerifyOptions {
  return {
    issuer,
    audience: typeof audience === 'string' ? audience : [...audience],
    algorithms: ALGORITHMS,
    requiredClaims: ['exp'],
    clockTolerance: toleranceSeconds ?? DEFAULT_TOLERANCE_SECONDS,
    currentDate: new Date(nowMs),
  };
}

/** A token need not say which key signed it (RFC 7515 section 4.1.4): then those of its algorithm are tried. */
async function verifyToken(
  token: string,
  { find }: KeySet,
  options: JWTVerifyOptions,
): Promise<{ readonly payload: JWTPayload }> {
  try {
    return await jwtVerify(token, find, options);
  } catch (error) {
    if (!(error instanceof errors.JWKSMultipleMatchingKeys)) throw error;
    let tried = 0;
    for await (const key of error) {
      const judged = await jwtVerify(token, key, options).catch((failure: unknown) => failure);
      const isOther = judged instanceof errors.JWSSignatureVerificationFailed;
      if (!isOther) {
        if (judged instanceof Error) throw judged;
        return judged as { readonly payload: JWTPayload };
      }
      tried += 1;
      if (tried === MAX_KEYS_TRIED) break;
    }
    throw new errors.JWSSignatureVerificationFailed();
  }
}

function proved({ iat }: JWTPayload): Proof {
  return { kind: 'proved', retired: 0, ...(iat === undefined ? {} : { signedAtSeconds: iat }) };
}

/** The first of the further claims that is not as the path asks. */
function wrongClaim(payload: JWTPayload, { claims = {} }: OidcSettings): string | undefined {
  return Object.entries(claims).find(
    ([name, value]) => !Object.hasOwn(payload, name) || payload[name] !== value,
  )?.[0];
}

function refusalOf(error: unknown): Refused {
  if (error instanceof errors.JWTExpired) return refused('too-old');
  if (error instanceof errors.JWTClaimValidationFailed) {
    const { claim } = error;
    return claim === 'nbf' || claim === 'iat' ? refused('too-new') : refusedFor('wrong-claims', claim);
  }
  if (error instanceof errors.JWSSignatureVerificationFailed) return refused('wrong-proof');
  return refused(error instanceof errors.JOSEAlgNotAllowed ? 'wrong-proof' : 'malformed-proof');
}
