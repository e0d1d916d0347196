/**
 * What a request that was refused may have been meant as: other readings of the secret, of the address and of the body,
 * and other proofs. Each is judged as the service judges; the first by which the request is right says what is wrong.
 */
import {
  basicPair,
  isPlainHeaderName,
  PROVIDER_NAMES,
  schemesOfHeader,
  signsUrl,
  type FactsOf,
} from '../../../engine/verify/facts.ts';
import {
  createVerifier,
  type Diagnosis,
  MAX_TRIED_BYTES,
  nameOfSecret,
  type ProofSettings,
  type SenderProof,
  type SignedRequest,
  type VerifySettings,
} from '../../../engine/verify/verify.ts';
import type { Sender } from '../../../engine/senders/senders.ts';
import { otherSignatures } from './other-signatures.ts';
import { otherVerify } from './other-verify.ts';
import { urlVariants } from './url-variants.ts';
import { columnsOf, generalProof, withSecrets } from './written-verify.ts';
import { defined } from '../../../base/json.ts';

/** A path whose senders have secrets, which are all set. */
export interface SecretProof extends ProofSettings {
  readonly settings: Exclude<VerifySettings, { scheme: 'oidc' }>;
  readonly senders: readonly Sender[];
}

/** What is tried in place of what the path has, and what is wrong where it fits; by default the proof is another one. */
interface Attempt {
  readonly found?: Diagnosis;
  readonly verify?: SenderProof;
  readonly secrets?: readonly string[];
  readonly request?: Partial<SignedRequest>;
}

/** What would have fitted; undefined where nothing does. At most some two hundred signatures are computed. */
export function findFitting(proof: SecretProof, request: SignedRequest): Diagnosis | undefined {
  const { settings } = proof;
  for (const { verify, found, ...attempt } of attemptsAt(proof, request)) {
    const tried = verify === undefined ? settings : withSecrets(verify, settings.secrets);
    const secrets = attempt.secrets ?? proof.secrets;
    if (!fits({ settings: tried, secrets }, { ...request, ...attempt.request })) continue;
    return found ?? (verify && otherVerify(settings, verify, { isProved: true }));
  }
  return undefined;
}

/** Whatever its time: a request that is old is one of the right proof. */
function fits(proof: ProofSettings, request: SignedRequest): boolean {
  const judged = createVerifier(proof, { clock: () => 0, fetchJson: NOBODY_IS_ASKED }).prove(request);
  if (judged instanceof Promise) return false;
  return judged.kind === 'proved' || judged.reason === 'too-old' || judged.reason === 'too-new';
}

const NOBODY_IS_ASKED = (): Promise<never> => Promise.reject(new Error('no issuer is asked'));

/** Everything that is tried, the likeliest first. */
function* attemptsAt(proof: SecretProof, request: SignedRequest): Generator<Attempt> {
  const { settings } = proof;
  yield* otherPlaces(settings, request);
  if (request.body.length > MAX_TRIED_BYTES) return;
  yield* trimmedSecrets(proof);
  if (signsUrl(settings))
    for (const { url, facts } of urlVariants(request.url, request.rawHeaders))
      yield { request: { url }, found: { code: 'other-url', facts } };
  for (const { body, facts } of bodyVariants(request.body))
    yield { request: { body }, found: { code: 're-encoded-body', facts } };
  for (const scheme of PROVIDER_NAMES) if (scheme !== settings.scheme) yield { verify: { scheme } };
  for (const { folder, verify } of proof.senders)
    if (folder !== undefined && verify !== undefined) yield { verify };
  yield* prefixedSecrets(proof);
  for (const columns of columnsOf(settings))
    for (const secretEncoding of ['base64', 'hex'] as const)
      yield { verify: generalProof({ ...columns, secretEncoding }) };
  for (const verify of otherSignatures(proof, request)) yield { verify };
}

/** Headers that are looked through: a sender chooses how many there are. */
const MAX_HEADERS = 50;

/** The secret of the path itself, where its scheme does not look. */
function* otherPlaces(settings: SecretProof['settings'], { rawHeaders }: SignedRequest): Generator<Attempt> {
  if (settings.scheme !== 'token') yield { verify: { scheme: 'token' } };
  const [user = ''] = basicPair(rawHeaders)?.bytes.toString('utf8').split(':', 1) ?? [];
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

/** Secrets that were set with more around them than was meant. */
function* trimmedSecrets({ settings, secrets }: SecretProof): Generator<Attempt> {
  const names = settings.secrets.map(nameOfSecret);
  const around = (what: 'space' | 'quotes'): Diagnosis => ({
    code: 'secret-white-space',
    facts: { names, around: what },
  });
  yield { secrets: secrets.map((secret) => secret.trim()), found: around('space') };
  const unquoted = secrets.map((secret) => secret.trim().replace(/^(["'])(.*)\1$/s, '$2'));
  yield { secrets: unquoted, found: around('quotes') };
}

/** Words before credentials. */
const WORDS = ['Bearer', 'bearer', 'Token', 'token', 'Basic'];

/** What stands before a secret, or around it, on one side and not on the other. */
function* prefixedSecrets({ settings, secrets }: SecretProof): Generator<Attempt> {
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

type Form = FactsOf<'re-encoded-body'>;

/** A body as the sender may have signed it. */
export interface BodyVariant {
  readonly facts: Form;
  readonly body: Buffer;
}

/** The forms in which common libraries write the same JSON, and the ends that editors and proxies change. */
function bodyVariants(body: Buffer): readonly BodyVariant[] {
  const text = body.toString('utf8');
  const forms: readonly (readonly [Form['form'], string, Form['escapes']?])[] = [
    ['trimmed', text.trimEnd()],
    ['line end', `${text}\n`],
    ['line ends', text.replaceAll(/\r?\n/g, '\r\n')],
    ...jsonForms(text).flatMap(([form, written]) => [
      [form, written] as const,
      [form, escaped(written), 'letters'] as const,
      [form, written.replaceAll('/', String.raw`\/`), 'slashes'] as const,
      [form, written.replaceAll(/[<>&]/g, asEscape), 'signs'] as const,
    ]),
  ];
  return forms
    .map(([form, written, escapes]) => ({
      facts: defined({ form, escapes }),
      body: Buffer.from(written, 'utf8'),
    }))
    .filter((variant) => !variant.body.equals(body));
}

function jsonForms(text: string): readonly (readonly [Form['form'], string])[] {
  try {
    const value: unknown = JSON.parse(text);
    return [
      ['compact', JSON.stringify(value)],
      ['two spaces', JSON.stringify(value, undefined, 2)],
      ['Python', spaced(value)],
    ];
  } catch {
    // It is no JSON, or so deep that writing it again overflows the stack.
    return [];
  }
}

/** `{"a": 1, "b": [1, 2]}`. */
function spaced(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(spaced).join(', ')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  const members = Object.entries(value).map(([name, item]) => `${JSON.stringify(name)}: ${spaced(item)}`);
  return `{${members.join(', ')}}`;
}

const asEscape = (letter: string): string => `\\u${letter.charCodeAt(0).toString(16).padStart(4, '0')}`;

const escaped = (text: string): string => text.replaceAll(/[\u0080-\uffff]/g, asEscape);
