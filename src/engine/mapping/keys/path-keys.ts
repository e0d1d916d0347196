import * as z from 'zod';
import { addressOrRange } from '../../../base/document/document.ts';
import { quoted, say } from '../../../base/finding.ts';
import { defined } from '../../../base/json.ts';
import { BODY_FORMATS } from '../../../base/payload/payload.ts';
import {
  type Challenge,
  ChallengeSettings,
  compileChallenge,
  createVerifier,
  doubtSecret,
  type ProofSettings,
  type SecretFacts,
  type SecretReference,
  secretSentence,
  VerifySettings,
} from '../../verify/verify.ts';
import type { CompileOptions } from '../compile-options.ts';
import { KEPT_KINDS } from '../compiled-mapping.ts';
import type { MappingReport } from '../reporter.ts';
import { type KeyCompiling, keysOf, same, whole } from './mapping-key.ts';
import { RecoverSchema } from './recover-settings.ts';

const AnswerSchema = z.strictObject({
  status: whole(200, 299).optional().describe('Default 200.'),
  body: z.string().max(65_536).describe('Literal text of the answer.'),
  contentType: z
    .string()
    .regex(/^[\w!#$&^.+-]{1,60}\/[\w!#$&^.+-]{1,60}(?:; ?charset=[\w-]{1,20})?$/, {
      error: 'must be a media type such as text/xml',
    })
    .optional()
    .describe('Default text/plain.'),
});

const RateSchema = z.strictObject({
  perMinute: z.number().positive().max(1_000_000).describe('Requests a minute in the long run.'),
  burst: whole(1, 1_000_000).optional().describe('Requests at once; default perMinute.'),
});

/** Keys that hold for the whole path: they are needed before a mapping is chosen. */
export const pathKeys = keysOf({
  verify: {
    about: 'How the sender proves itself; stands in place of the hook token.',
    schema: VerifySettings,
    compile: compileProof,
  },
  requireToken: {
    about: 'Whether the hook token is required in addition to verify; default false.',
    schema: z.boolean(),
    compile: same,
  },
  allowFrom: {
    about: 'Addresses that may send; ranges as 10.0.0.0/8.',
    schema: z.array(addressOrRange).min(1).max(1000),
    compile: same,
  },
  bodyFormat: {
    about: 'What the body is; default json. A form may be urlencoded or in parts (multipart/form-data).',
    schema: z.enum(BODY_FORMATS),
    compile: same,
  },
  lists: {
    about:
      'Experimental: paths in the payload that are lists, also where the sender has one element there, or an empty one.',
    schema: z
      .array(
        z.string().regex(/^[^.\s{}[\]"'|]+(?:\.[^.\s{}[\]"'|]+)*$/, {
          error: 'must be a path in the payload, such as order.item',
        }),
      )
      .min(1)
      .max(50),
    compile: same,
  },
  method: {
    about: 'Method of the requests, POST or GET, whose query is the payload; default POST.',
    schema: z.enum(['POST', 'GET']),
    compile: same,
  },
  challenge: {
    about: 'Question of a provider that is answered without a proof.',
    schema: ChallengeSettings,
    compile: challengeOf,
  },
  answer: {
    about: 'Answer to what was accepted, for senders that want their own.',
    schema: AnswerSchema,
    compile: (answer) => ({ status: 200, contentType: 'text/plain', ...defined(answer) }),
  },
  rate: {
    about: 'Limit of proved requests.',
    schema: RateSchema,
    compile: (rate) => ({ burst: Math.ceil(rate.perMinute), ...defined(rate) }),
  },
  otherwise: {
    about:
      'The answer to a request that no mapping of the path takes: 404 (reject), or 204, and nothing is done (skip); default hooks.unmatched.',
    schema: z.enum(['reject', 'skip']),
    compile: same,
  },
  keepRequests: {
    about:
      'Experimental: which requests of the path are kept, in the words of storage.keepRequests.which, whatever that says.',
    schema: z.enum(KEPT_KINDS),
    compile: same,
  },
  recover: {
    about: 'Experimental: asks the sender for what it could not deliver, where it keeps a log.',
    schema: RecoverSchema,
    see: 'recovery.md',
    compile: same,
  },
  maxBodyBytes: {
    about: 'Largest body in bytes; default hooks.maxBodyBytes.',
    schema: whole(1, 67_108_864),
    compile: same,
  },
});

function compileProof(verify: VerifySettings, at: KeyCompiling): ProofSettings {
  const references: readonly SecretReference[] = 'secrets' in verify ? verify.secrets : [];
  const { resolveReference, peekReference } = at.options;
  const find = resolveReference ?? peekReference;
  if (find === undefined) return { settings: verify, secrets: references.map(() => '') };
  const known = references.map((reference) => find(reference) ?? '');
  const isComplete = resolveReference !== undefined;
  const doubts = reportSecrets({ settings: verify, secrets: known }, at, { references, isComplete });
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
  { reporter, options }: KeyCompiling,
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

function challengeOf(written: ChallengeSettings, { source, reporter, options }: KeyCompiling): Challenge {
  const { kind, token: reference } =
    typeof written === 'string'
      ? { kind: written }
      : 'kind' in written
        ? written
        : { kind: 'probe' in written ? ('probe' as const) : ('echo' as const) };
  const { verify, method } = source;
  const isOfEvents = typeof written === 'object' && 'probe' in written && written.probe === method;
  if (isOfEvents) reporter.report(['challenge'], PROBE_IS_EVENT);
  const missing = missingFor(kind, reference, verify);
  if (missing !== undefined) reporter.report(['challenge'], missing);
  const { resolveReference } = options;
  const secrets = verify !== undefined && 'secrets' in verify ? verify.secrets : [];
  const [secret] = secrets.map((one) => resolveReference?.(one) ?? '');
  return compileChallenge(written, {
    ...(reference === undefined ? {} : { token: resolveReference?.(reference) ?? '' }),
    ...(kind === 'zoom' && secret !== undefined ? { secret } : {}),
  });
}

/** What a challenge asks for that the mapping does not have. */
function missingFor(
  kind: Challenge['kind'],
  token: SecretReference | undefined,
  verify: VerifySettings | undefined,
): MappingReport | undefined {
  if (kind === 'meta' && token === undefined) return WITHOUT_VERIFY_TOKEN;
  return kind === 'zoom' && verify?.scheme !== 'zoom' ? WITHOUT_ZOOM_SECRET : undefined;
}

const WITHOUT_VERIFY_TOKEN: MappingReport = {
  code: 'CHALLENGE_INCOMPLETE',
  message: say`meta asks with a verify token, and the path names none to compare it with`,
  hint: say`write challenge: {kind: meta, token: "\${META_VERIFY_TOKEN}"} with the token you gave to Meta`,
};

const PROBE_IS_EVENT: MappingReport = {
  code: 'CHALLENGE_INCOMPLETE',
  message: say`the path takes its events as GET, and each would be answered as a probe and lost`,
  hint: say`remove challenge: a GET that is taken is answered 2xx as well; a sender that asks with GET and sends POST needs no method: GET`,
};

const WITHOUT_ZOOM_SECRET: MappingReport = {
  code: 'CHALLENGE_INCOMPLETE',
  message: say`zoom wants its question signed with the path's secret, and the path has none of zoom`,
  hint: say`add verify: {scheme: zoom, secrets: ["\${ZOOM_SECRET_TOKEN}"]}`,
};
