/**
 * Tries what a refused request may have been meant as: other readings of the secret, and other proofs. Each attempt is judged as the service judges, and the first that fits says what is wrong.
 */
import {
  basicPair,
  isPlainHeaderName,
  isTable,
  PROVIDER_NAMES,
  schemeOf,
  schemesOfHeader,
  type OtherVerify,
} from '../../../engine/verify/facts.ts';
import {
  createVerifier,
  MAX_TRIED_BYTES,
  nameOfSecret,
  type ProofFinding,
  type ProofSettings,
  SCHEMES,
  type SenderProof,
  type SignedRequest,
  type VerifySettings,
} from '../../../engine/verify/verify.ts';
import type { Sender } from '../../../engine/senders/senders.ts';
import { otherSignatures } from './signatures.ts';
import { columnsOf, generalProof, keysOf, withSecrets } from './written-verify.ts';

/** A path with the secrets of its senders, which are all set. */
export interface SecretProof extends ProofSettings {
  readonly settings: Exclude<VerifySettings, { scheme: 'oidc' }>;
  readonly senders: readonly Sender[];
}

interface ProofAttempt {
  readonly found?: ProofFinding;
  readonly verify?: SenderProof;
  readonly secrets?: readonly string[];
}

/** Returns what would have fitted; undefined where nothing does. It computes at most some two hundred signatures. */
export function findFitting(proof: SecretProof, request: SignedRequest): ProofFinding | undefined {
  const { settings } = proof;
  for (const { verify, found, ...attempt } of attemptsAt(proof, request)) {
    if (verify !== undefined && isWeaker(settings, verify)) continue;
    const tried = verify === undefined ? settings : withSecrets(verify, settings.secrets);
    if (!fits({ settings: tried, secrets: attempt.secrets ?? proof.secrets }, request)) continue;
    return found ?? (verify && otherVerify(settings, verify, { isProved: true }));
  }
  return undefined;
}

/** Whether one sends the secret itself where the other signs with it. A weaker proof is never advised. */
export const isWeaker = (settings: VerifySettings, verify: SenderProof): boolean =>
  isSigned(settings) && !isSigned(withSecrets(verify, []));

const isSigned = (settings: VerifySettings): boolean =>
  isTable(settings) && schemeOf(settings).ways.every(({ way }) => way.kind !== 'secret');

/** The time is ignored, because an old request can still have the right proof. */
function fits(proof: ProofSettings, request: SignedRequest): boolean {
  const judged = createVerifier(proof, { clock: () => 0, fetchJson: NOBODY_IS_ASKED }).prove(request);
  if (judged instanceof Promise) return false;
  return judged.kind === 'proved' || judged.reason === 'too-old' || judged.reason === 'too-new';
}

const NOBODY_IS_ASKED = (): Promise<never> => Promise.reject(new Error('no issuer is asked'));

function* attemptsAt(proof: SecretProof, request: SignedRequest): Generator<ProofAttempt> {
  const { settings } = proof;
  yield* otherPlaces(settings, request);
  if (request.body.length > MAX_TRIED_BYTES) return;
  yield* trimmedSecrets(proof);
  // GitHub and Meta send the signature of Intercom beside their own.
  const beside = settings.scheme === 'github' || settings.scheme === 'meta' ? 'intercom' : undefined;
  for (const scheme of PROVIDER_NAMES)
    if (scheme !== settings.scheme && scheme !== beside) yield { verify: { scheme } };
  for (const { folder, verify } of proof.senders)
    if (folder !== undefined && verify !== undefined) yield { verify };
  yield* prefixedSecrets(proof);
  for (const columns of columnsOf(settings))
    for (const secretEncoding of ['base64', 'hex'] as const)
      yield { verify: generalProof({ ...columns, secretEncoding }) };
  for (const verify of otherSignatures(proof, request)) yield { verify };
}

/** A sender chooses how many headers there are, so only some are read. */
const MAX_HEADERS = 50;

function* otherPlaces(
  settings: SecretProof['settings'],
  { rawHeaders }: SignedRequest,
): Generator<ProofAttempt> {
  if (settings.scheme !== 'token') yield { verify: { scheme: 'token' } };
  const [user = ''] = basicPair(rawHeaders)?.toString('utf8').split(':', 1) ?? [];
  if (settings.scheme === 'basic')
    yield {
      verify: { scheme: 'basic', user },
      found: { code: 'wrong-proof', facts: { scheme: 'basic', user: settings.user } },
    };
  else if (/^[\w.@-]{1,60}$/.test(user)) yield { verify: { scheme: 'basic', user } };
  for (let at = 0; at + 1 < rawHeaders.length && at < 2 * MAX_HEADERS; at += 2) {
    const header = String(rawHeaders[at]).toLowerCase();
    if (isPlainHeaderName(header) && schemesOfHeader(header).length === 0)
      yield { verify: { scheme: 'header', header } };
  }
}

function* trimmedSecrets({ settings, secrets }: SecretProof): Generator<ProofAttempt> {
  const names = settings.secrets.map(nameOfSecret);
  const around = (what: 'space' | 'quotes'): ProofFinding => ({
    code: 'secret-white-space',
    facts: { names, around: what },
  });
  yield { secrets: secrets.map((secret) => secret.trim()), found: around('space') };
  const unquoted = secrets.map((secret) => secret.trim().replace(/^(["'])(.*)\1$/s, '$2'));
  yield { secrets: unquoted, found: around('quotes') };
}

const WORDS = ['Bearer', 'bearer', 'Token', 'token', 'Basic'];

function* prefixedSecrets({ settings, secrets }: SecretProof): Generator<ProofAttempt> {
  const names = settings.secrets.map(nameOfSecret);
  const { scheme } = settings;
  const begins = settings.scheme === 'basic' ? `${settings.user}:` : /^[a-z]{2,8}_/i;
  yield {
    secrets: secrets.map((secret) => secret.replace(begins, '')),
    found: { code: 'secret-prefix', facts: { names, ...(typeof begins === 'string' && { word: begins }) } },
  };
  for (const word of WORDS)
    yield {
      secrets: secrets.map((secret) => `${word} ${secret}`),
      found: { code: 'secret-prefix', facts: { names, word, isSent: true } },
    };
  for (const quote of [`"`, `'`])
    yield {
      secrets: secrets.map((secret) => quote + secret + quote),
      found: { code: 'wrong-secret', facts: { names, scheme, isSentInQuotes: true } },
    };
}

type OtherCode = Extract<ProofFinding, { readonly facts: OtherVerify }>['code'];

/** Each key has a code for the case that it has to change; the first of several says most. */
const CODES: readonly (readonly [key: string, code: OtherCode])[] = [
  ['secretEncoding', 'secret-encoding'],
  ['signed', 'signed-content'],
  ['timestampHeader', 'signed-content'],
  ['timestampField', 'signed-content'],
  ['timestampMember', 'signed-content'],
  ['idHeader', 'signed-content'],
  ['timestampUnit', 'timestamp-unit'],
  ['prefix', 'prefix'],
  ['encoding', 'encoding'],
  ['algorithm', 'algorithm'],
];

/** Says that a request is right by another `verify`, or carries the proof of another sender. */
export function otherVerify(
  settings: SecretProof['settings'],
  verify: SenderProof,
  more: Pick<OtherVerify, 'isProved' | 'header' | 'of' | 'or'>,
): ProofFinding {
  const { secrets, scheme } = settings;
  const facts = { verify, secrets, now: scheme, ...more };
  const [own] = columnsOf(settings);
  const [other] = columnsOf(withSecrets(verify, secrets));
  if (own === undefined || own.header !== other?.header || Object.hasOwn(SCHEMES, verify.scheme))
    return { code: 'other-scheme', facts };
  const [before, after] = [keysOf(generalProof(own)), keysOf(generalProof(other))];
  return { code: CODES.find(([key]) => before[key] !== after[key])?.[1] ?? 'other-scheme', facts };
}
