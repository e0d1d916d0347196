import { createSecretKey, type KeyObject } from 'node:crypto';
import { defined } from '../../base/json.ts';
import { judgeSecret } from './credentials.ts';
import { findHeader } from './find-header.ts';
import { readKey } from './keys.ts';
import { judgeMailgun, judgeTwilio } from './own-ways.ts';
import { type Proof, refused } from './proof.ts';
import type { Scheme, SecretForm, SignatureColumns, SignedRequest, Way } from './scheme.ts';
import { SCHEMES } from './schemes.ts';
import type { VerifySettings } from './verify-settings.ts';
import { judgeSignature } from './signature.ts';
import { compileContent } from './signed-content.ts';

/** What most providers name as the age at which a signed request is refused. */
const DEFAULT_TOLERANCE_SECONDS = 300;

/** The schemes that are rows of the table, or are described like one. */
export type TableSettings = Exclude<VerifySettings, { scheme: 'oidc' | 'basic' | 'token' }>;

export function isTable(settings: VerifySettings): settings is TableSettings {
  return settings.scheme !== 'oidc' && settings.scheme !== 'basic' && settings.scheme !== 'token';
}

export interface SecretProblem {
  /** 0-based place among the path's secrets. */
  readonly index: number;
  readonly problem: string;
}

/** One way with its own secrets made into keys. */
export interface CompiledWay {
  readonly way: Way;
  readonly problems: readonly SecretProblem[];
  readonly isUsable: boolean;
  judge(request: SignedRequest, nowMs: number): Proof;
}

/** All ways of a scheme, each with the secrets that belong to it; empty secrets belong to none. */
export function compileWays(settings: TableSettings, secrets: readonly string[]): readonly CompiledWay[] {
  const { toleranceSeconds, ways } = schemeOf(settings);
  return ways.map((entry) => {
    const own = secrets.flatMap((secret, index) =>
      secret !== '' && belongs(entry, secret) ? [{ secret, index }] : [],
    );
    return compileWay(entry.way, own, toleranceSeconds);
  });
}

/** The ways of a path's scheme with the path's own tolerance. */
export function schemeOf(settings: TableSettings): Required<Scheme> {
  if (settings.scheme === 'header') {
    return { ways: [{ way: { kind: 'secret', header: settings.header } }], toleranceSeconds: 0 };
  }
  if (settings.scheme === 'hmac' || settings.scheme === 'ed25519' || settings.scheme === 'ecdsa') {
    return {
      ways: [{ way: { kind: 'signature', columns: columnsOf(settings) } }],
      toleranceSeconds: settings.toleranceSeconds ?? DEFAULT_TOLERANCE_SECONDS,
    };
  }
  const scheme: Scheme = SCHEMES[settings.scheme];
  const { ways, toleranceSeconds = DEFAULT_TOLERANCE_SECONDS } = scheme;
  return { ways, toleranceSeconds: settings.toleranceSeconds ?? toleranceSeconds };
}

function columnsOf(
  settings: Extract<VerifySettings, { scheme: 'hmac' | 'ed25519' | 'ecdsa' }>,
): SignatureColumns {
  return {
    encoding: 'hex',
    signed: '{body}',
    ...defined(settings),
    header: settings.header,
    algorithm: algorithmOf(settings),
  };
}

function algorithmOf(
  settings: Extract<VerifySettings, { scheme: 'hmac' | 'ed25519' | 'ecdsa' }>,
): SignatureColumns['algorithm'] {
  if (settings.scheme === 'hmac') return `hmac-${settings.algorithm ?? 'sha256'}`;
  return settings.scheme === 'ed25519' ? 'ed25519' : 'ecdsa-sha256';
}

/** The parts of a request that a proof covers, of those that mappings read. */
export interface ProofCoverage {
  readonly body: boolean;
  /** The address with its query. */
  readonly url: boolean;
  /** Names of the headers whose values are signed; lower case. */
  readonly headers: readonly string[];
}

export function coverageOf(way: Way): ProofCoverage {
  switch (way.kind) {
    case 'secret':
    case 'mailgun':
      return { body: false, url: false, headers: [] };
    case 'twilio':
      return { body: true, url: true, headers: [] };
    case 'signature': {
      const { signed, idHeader, timestampHeader } = way.columns;
      const headers = [
        ...(idHeader !== undefined && signed.includes('{id}') ? [idHeader] : []),
        ...(timestampHeader !== undefined && signed.includes('{timestamp}') ? [timestampHeader] : []),
      ];
      return { body: signed.includes('{body}'), url: signed.includes('{url}'), headers };
    }
  }
}

export function belongs({ beginsWith, notWith }: SecretForm, secret: string): boolean {
  if (beginsWith?.some((start) => secret.startsWith(start)) === false) return false;
  return notWith?.some((start) => secret.startsWith(start)) !== true;
}

interface OwnSecret {
  readonly secret: string;
  readonly index: number;
}

function compileWay(way: Way, own: readonly OwnSecret[], toleranceSeconds: number): CompiledWay {
  if (way.kind !== 'signature') {
    const judge = textJudge(way, own, toleranceSeconds);
    return guard({ way, problems: [], isUsable: own.length > 0, judge });
  }
  const { columns } = way;
  const { keys, problems } = readKeys(columns, own);
  const signature = { columns, parts: compileContent(columns.signed), keys, toleranceSeconds };
  const judge: CompiledWay['judge'] = (request, nowMs) => judgeSignature(signature, request, nowMs);
  return guard({ way, problems, isUsable: keys.length > 0, judge });
}

/** The judge of a way whose secrets are taken as the text they are, so that none can be unreadable. */
function textJudge(
  way: Exclude<Way, { kind: 'signature' }>,
  own: readonly OwnSecret[],
  toleranceSeconds: number,
): CompiledWay['judge'] {
  const keys = own.map(({ secret }) => createSecretKey(Buffer.from(secret, 'utf8')));
  switch (way.kind) {
    case 'secret': {
      const secrets = own.map(({ secret }) => Buffer.from(secret, 'utf8'));
      return ({ rawHeaders }) => judgeSecret(secrets, findHeader(rawHeaders, way.header));
    }
    case 'twilio':
      return (request) => judgeTwilio(keys, way.header, request);
    case 'mailgun':
      return (request, nowMs) => judgeMailgun({ keys, toleranceSeconds }, request, nowMs);
  }
}

/** Without a good secret nothing is even compared. */
function guard(way: CompiledWay): CompiledWay {
  return way.isUsable ? way : { ...way, judge: () => refused('not-configured') };
}

function readKeys(
  columns: SignatureColumns,
  own: readonly OwnSecret[],
): { readonly keys: readonly KeyObject[]; readonly problems: readonly SecretProblem[] } {
  const keys: KeyObject[] = [];
  const problems: SecretProblem[] = [];
  for (const { secret, index } of own) {
    const read = readKey(columns, secret);
    if (read.kind === 'key') keys.push(read.key);
    else problems.push({ index, problem: read.problem });
  }
  return { keys, problems };
}

/** The schemes whose proof stands in a header of this name, whatever is in it. */
export const schemesOfHeader = (header: string): readonly string[] =>
  Object.entries(SCHEMES as Readonly<Record<string, Scheme>>).flatMap(([name, { ways }]) =>
    ways.some(({ way }) => headerOf(way) === header) ? [name] : [],
  );

/** The header of a proof; undefined where it stands in the body. */
export function headerOf(way: Way): string | undefined {
  if (way.kind === 'signature') return way.columns.header;
  return way.kind === 'mailgun' ? undefined : way.header;
}
