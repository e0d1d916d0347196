import { quoted, say } from '../finding.ts';
import type { z } from 'zod';
import { defined } from '../json.ts';
import type { LocatedValue, Place } from '../document/document.ts';
import {
  type Challenge,
  type ChallengeSettings,
  compileChallenge,
  createVerifier,
  doubtSecret,
  mayBeSecret,
  type ProofSettings,
  type SecretFacts,
  type SecretReference,
  secretSentence,
  secretsText,
  type VerifySettings,
} from '../verify/verify.ts';
import type { CompileOptions } from './compile-options.ts';
import type { CompiledMapping, PathSettings } from './compiled-mapping.ts';
import { type PathKey, pathSettingsShape } from './path-settings-schema.ts';
import type { Report, Reporter } from './mapping-codes.ts';

export const PATH_KEYS = Object.keys(pathSettingsShape) as readonly PathKey[];

/** The path keys of a mapping as the schema reads them. */
type WrittenSettings = { readonly [Key in PathKey]?: z.output<(typeof pathSettingsShape)[Key]> };

interface PathSource {
  readonly source: WrittenSettings;
  readonly located: LocatedValue;
  readonly reporter: Reporter;
  readonly options: CompileOptions;
}

/** What a mapping sets for its path, with its secrets, and where each key stands. */
export function compilePathSettings(
  compiling: PathSource,
): Pick<CompiledMapping, 'settings' | 'settingsAt' | 'secretsAt'> {
  const { source, located } = compiling;
  const settingsAt: Partial<Record<PathKey, Place>> = {};
  for (const key of PATH_KEYS) if (source[key] !== undefined) settingsAt[key] = located.place([key]);
  if (Object.keys(settingsAt).length === 0) return { settings: {} };
  const { verify = {} } = source;
  const secretsAt = 'secrets' in verify ? located.place(['verify', 'secrets']) : undefined;
  return {
    settings: compileSettings(compiling),
    settingsAt,
    ...(secretsAt === undefined ? {} : { secretsAt }),
  };
}

function compileSettings(compiling: PathSource): PathSettings {
  const { verify, challenge, answer, rate } = compiling.source;
  const proof = verify === undefined ? undefined : compileProof(verify, compiling);
  return {
    ...(proof === undefined ? {} : { verify: proof }),
    ...(challenge === undefined ? {} : { challenge: challengeOf(challenge, proof, compiling) }),
    ...(answer === undefined
      ? {}
      : { answer: { status: 200, contentType: 'text/plain', ...defined(answer) } }),
    ...(rate === undefined ? {} : { rate: { burst: Math.ceil(rate.perMinute), ...defined(rate) } }),
    ...plainSettings(compiling.source),
  };
}

/** The settings that are taken as they are written. */
function plainSettings(source: WrittenSettings): PathSettings {
  const { requireToken, allowFrom, bodyFormat, method, otherwise, keepRequests, maxBodyBytes } = source;
  return defined({ requireToken, allowFrom, bodyFormat, method, otherwise, keepRequests, maxBodyBytes });
}

function compileProof(verify: VerifySettings, compiling: PathSource): ProofSettings {
  const references: readonly SecretReference[] = 'secrets' in verify ? verify.secrets : [];
  const { resolveReference, peekReference, nearReference, fileReference } = compiling.options;
  const find = resolveReference ?? peekReference;
  if (find === undefined) return { settings: verify, secrets: references.map(() => '') };
  const found = references.map((reference) => ({ reference, secret: find(reference) ?? '' }));
  const known = found.map(({ secret }) => secret);
  const near = found.map(({ reference, secret }) =>
    secret === '' ? nearReference?.(reference, references) : undefined,
  );
  const inFile = found.map(({ reference, secret }) =>
    secret === '' ? fileReference?.(reference) : undefined,
  );
  const isComplete = resolveReference !== undefined;
  const proof = {
    settings: verify,
    ...(near.some((name) => name !== undefined) ? { near } : {}),
    ...(inFile.some((text) => text !== undefined) ? { inFile } : {}),
  };
  const doubts = reportSecrets({ ...proof, secrets: known }, compiling, { isComplete });
  // What was only looked at is no secret to work with.
  const secrets = isComplete ? known : known.map(() => '');
  return { ...proof, secrets, ...(doubts.length === 0 ? {} : { doubts }) };
}

/**
 * Secrets that are missing or cannot be used: the path refuses its requests, and everything else goes on. Returns
 * what is wrong with those that are set.
 */
function reportSecrets(
  proof: ProofSettings,
  { reporter, options }: PathSource,
  { isComplete }: { readonly isComplete: boolean },
): readonly SecretFacts[] {
  const { problems } = createVerifier(proof, { clock: Date.now, fetchJson: fetchNothing });
  return proof.secrets.flatMap((secret, index) => {
    const { problem } = problems.find((each) => each.index === index) ?? {};
    const of = { secret, index, options };
    // What is known of the form of a secret says more than that it cannot be read.
    const facts =
      doubtOf(proof, of) ??
      (problem === undefined ? undefined : problemOf(proof, of, { problem, isComplete }));
    if (facts === undefined) return [];
    const message = quoted(secretSentence(facts));
    const at = ['verify', 'secrets', index];
    reporter.report(at, { severity: 'warning', code: 'VERIFY_SECRET', message, facts });
    return secret === '' ? [] : [facts];
  });
}

function problemOf(
  proof: ProofSettings,
  of: SecretAt,
  { problem, isComplete }: { readonly problem: string; readonly isComplete: boolean },
): SecretFacts | undefined {
  const { scheme } = proof.settings;
  const unusable = { scheme, wrong: 'unusable', what: problem } as const;
  if (of.secret !== '') return { ...unusable, ...defined({ other: otherSecret(proof, of) }) };
  const [inFile, near] = [proof.inFile?.[of.index], proof.near?.[of.index]];
  const isFile = 'secrets' in proof.settings && typeof proof.settings.secrets[of.index] !== 'string';
  if (inFile !== undefined)
    return { scheme, wrong: 'unset', what: isFile ? 'cannot be read' : 'is not set', inFile };
  if (near !== undefined) return { scheme, wrong: 'unset', near };
  return isComplete ? unusable : undefined;
}

interface SecretAt {
  readonly secret: string;
  readonly index: number;
  readonly options: CompileOptions;
}

/** What shows in the text of a secret alone. */
function doubtOf(proof: ProofSettings, of: SecretAt): SecretFacts | undefined {
  if (/^(["']).*\1$/s.test(of.secret.trim())) return { scheme: proof.settings.scheme, wrong: 'quotes' };
  const doubt = doubtSecret(proof.settings, of.secret);
  return doubt && { ...doubt, ...defined({ other: otherSecret(proof, of) }) };
}

/** Another variable whose value looks like the secret, and what to write. */
function otherSecret({ settings }: ProofSettings, { index, options }: SecretAt): SecretFacts['other'] {
  const references: readonly SecretReference[] = 'secrets' in settings ? settings.secrets : [];
  const reference = references[index];
  if (reference === undefined || settings.scheme === 'basic') return undefined;
  const name = options.fittingReference?.(reference, (each, value) => mayBeSecret(settings, each, value));
  if (name === undefined) return undefined;
  const secrets = references.map((each) => (each === reference ? `\${${name}}` : each));
  return { name, secrets: secretsText(secrets) };
}

const fetchNothing = (): Promise<never> => Promise.reject(new Error('nothing is fetched to look at secrets'));

function challengeOf(
  written: ChallengeSettings,
  proof: ProofSettings | undefined,
  compiling: PathSource,
): Challenge {
  const { kind, token: reference } =
    typeof written === 'string' ? { kind: written } : 'kind' in written ? written : { kind: 'echo' as const };
  const missing = missingFor(kind, reference, proof);
  if (missing !== undefined) compiling.reporter.report(['challenge'], missing);
  const secret = proof?.secrets[0];
  const { resolveReference } = compiling.options;
  return compileChallenge(written, {
    ...(reference === undefined ? {} : { token: resolveReference?.(reference) ?? '' }),
    ...(kind === 'zoom' && secret !== undefined ? { secret } : {}),
  });
}

/** What a challenge asks for that the mapping does not have. */
function missingFor(
  kind: Challenge['kind'],
  token: SecretReference | undefined,
  proof: ProofSettings | undefined,
): Report | undefined {
  if (kind === 'meta' && token === undefined) return WITHOUT_VERIFY_TOKEN;
  return kind === 'zoom' && proof?.settings.scheme !== 'zoom' ? WITHOUT_ZOOM_SECRET : undefined;
}

const WITHOUT_VERIFY_TOKEN: Report = {
  code: 'CHALLENGE_INCOMPLETE',
  message: say`meta asks with a verify token, and the path names none to compare it with`,
  hint: say`write challenge: {kind: meta, token: "\${META_VERIFY_TOKEN}"} with the token you gave to Meta`,
};

const WITHOUT_ZOOM_SECRET: Report = {
  code: 'CHALLENGE_INCOMPLETE',
  message: say`zoom wants its question signed with the path's secret, and the path has none of zoom`,
  hint: say`add verify: {scheme: zoom, secrets: ["\${ZOOM_SECRET_TOKEN}"]}`,
};
