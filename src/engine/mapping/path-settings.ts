import { quoted, say } from '../../base/finding.ts';
import type { z } from 'zod';
import { defined } from '../../base/json.ts';
import type { LocatedValue, Place } from '../../base/document/document.ts';
import {
  type Challenge,
  type ChallengeSettings,
  compileChallenge,
  createVerifier,
  doubtSecret,
  type ProofSettings,
  type SecretFacts,
  type SecretReference,
  secretSentence,
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

/** What a mapping sets for its path, and where each key stands. */
export function compilePathSettings(compiling: PathSource): Pick<CompiledMapping, 'settings' | 'settingsAt'> {
  const { source, located } = compiling;
  const settingsAt: Partial<Record<PathKey, Place>> = {};
  for (const key of PATH_KEYS) if (source[key] !== undefined) settingsAt[key] = located.place([key]);
  if (Object.keys(settingsAt).length === 0) return { settings: {} };
  return { settings: compileSettings(compiling), settingsAt };
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
  const { requireToken, allowFrom, bodyFormat, lists, method, otherwise, keepRequests, maxBodyBytes } =
    source;
  return defined({
    requireToken,
    allowFrom,
    bodyFormat,
    lists,
    method,
    otherwise,
    keepRequests,
    maxBodyBytes,
  });
}

function compileProof(verify: VerifySettings, compiling: PathSource): ProofSettings {
  const references: readonly SecretReference[] = 'secrets' in verify ? verify.secrets : [];
  const { resolveReference, peekReference } = compiling.options;
  const find = resolveReference ?? peekReference;
  if (find === undefined) return { settings: verify, secrets: references.map(() => '') };
  const known = references.map((reference) => find(reference) ?? '');
  const isComplete = resolveReference !== undefined;
  const doubts = reportSecrets({ settings: verify, secrets: known }, compiling, { references, isComplete });
  // What was only looked at is no secret to work with.
  const secrets = isComplete ? known : known.map(() => '');
  return { settings: verify, secrets, ...(doubts.length === 0 ? {} : { doubts }) };
}

/**
 * Secrets that are missing or cannot be used: the path refuses its requests, and everything else goes on. Returns
 * what is wrong with those that are set.
 */
function reportSecrets(
  proof: ProofSettings,
  { reporter, options }: PathSource,
  {
    references,
    isComplete,
  }: { readonly references: readonly SecretReference[]; readonly isComplete: boolean },
): readonly SecretFacts[] {
  const { problems } = createVerifier(proof, { clock: Date.now, fetchJson: fetchNothing });
  const { scheme } = proof.settings;
  return proof.secrets.flatMap((secret, index) => {
    const { problem } = problems.find((each) => each.index === index) ?? {};
    const reference = references[index];
    const inFile = secret === '' && reference !== undefined ? options.fileProblem?.(reference) : undefined;
    const what = inFile === undefined ? problem : `the file ${inFile}`;
    const isTold = what !== undefined && (isComplete || secret !== '' || inFile !== undefined);
    // What is known of the form of a secret says more than that it cannot be read.
    const facts: SecretFacts | undefined =
      doubtOf(proof, secret, options) ?? (isTold ? { scheme, wrong: 'unusable', what } : undefined);
    if (facts === undefined) return [];
    const message = quoted(secretSentence(facts));
    const at = ['verify', 'secrets', index];
    reporter.report(at, { severity: 'warning', code: 'VERIFY_SECRET', message, facts });
    return secret === '' && inFile === undefined ? [] : [facts];
  });
}

/** What shows in the text of a secret alone. */
function doubtOf(
  { settings }: ProofSettings,
  secret: string,
  { otherKey }: CompileOptions,
): SecretFacts | undefined {
  if (/^(["']).*\1$/s.test(secret.trim())) return { scheme: settings.scheme, wrong: 'quotes' };
  return doubtSecret(settings, secret, otherKey);
}

const fetchNothing = (): Promise<never> => Promise.reject(new Error('nothing is fetched to look at secrets'));

function challengeOf(
  written: ChallengeSettings,
  proof: ProofSettings | undefined,
  compiling: PathSource,
): Challenge {
  const { kind, token: reference } =
    typeof written === 'string'
      ? { kind: written }
      : 'kind' in written
        ? written
        : { kind: 'probe' in written ? ('probe' as const) : ('echo' as const) };
  const isOfEvents =
    typeof written === 'object' && 'probe' in written && written.probe === compiling.source.method;
  if (isOfEvents) compiling.reporter.report(['challenge'], PROBE_IS_EVENT);
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

const PROBE_IS_EVENT: Report = {
  code: 'CHALLENGE_INCOMPLETE',
  message: say`the path takes its events as GET, and each would be answered as a probe and lost`,
  hint: say`remove challenge: a GET that is taken is answered 2xx as well; a sender that asks with GET and sends POST needs no method: GET`,
};

const WITHOUT_ZOOM_SECRET: Report = {
  code: 'CHALLENGE_INCOMPLETE',
  message: say`zoom wants its question signed with the path's secret, and the path has none of zoom`,
  hint: say`add verify: {scheme: zoom, secrets: ["\${ZOOM_SECRET_TOKEN}"]}`,
};
