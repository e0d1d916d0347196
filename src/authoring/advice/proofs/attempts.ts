/**
 * What a request that was refused may have been meant as: other readings of the secret, of the address and of the body,
 * and other proofs. Each is judged as the service judges; the first by which the request is right says what is wrong.
 */
import {
  basicPair,
  findHeader,
  isPlainHeaderName,
  isTable,
  PROVIDER_NAMES,
  schemeOf,
  schemesOfHeader,
  type OtherVerify,
  signsUrl,
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

/** A path whose senders have secrets, which are all set. */
export interface SecretProof extends ProofSettings {
  readonly settings: Exclude<VerifySettings, { scheme: 'oidc' }>;
  readonly senders: readonly Sender[];
}

/** What is tried in place of what the path has, and what is wrong where it fits; by default the proof is another one. */
interface ProofAttempt {
  readonly found?: ProofFinding;
  readonly verify?: SenderProof;
  readonly secrets?: readonly string[];
  readonly request?: Partial<SignedRequest>;
}

/** What would have fitted; undefined where nothing does. At most some two hundred signatures are computed. */
export function findFitting(proof: SecretProof, request: SignedRequest): ProofFinding | undefined {
  const { settings } = proof;
  for (const { verify, found, ...attempt } of attemptsAt(proof, request)) {
    if (verify !== undefined && isWeaker(settings, verify)) continue;
    const tried = verify === undefined ? settings : withSecrets(verify, settings.secrets);
    const secrets = attempt.secrets ?? proof.secrets;
    if (!fits({ settings: tried, secrets }, { ...request, ...attempt.request })) continue;
    return found ?? (verify && otherVerify(settings, verify, { isProved: true }));
  }
  return undefined;
}

/** Whether one sends the secret itself, where the other signs with it: that is never advised. */
export const isWeaker = (settings: VerifySettings, verify: SenderProof): boolean =>
  isSigned(settings) && !isSigned(withSecrets(verify, []));

const isSigned = (settings: VerifySettings): boolean =>
  isTable(settings) && schemeOf(settings).ways.every(({ way }) => way.kind !== 'secret');

/** Whatever its time: a request that is old is one of the right proof. */
function fits(proof: ProofSettings, request: SignedRequest): boolean {
  const judged = createVerifier(proof, { clock: () => 0, fetchJson: NOBODY_IS_ASKED }).prove(request);
  if (judged instanceof Promise) return false;
  return judged.kind === 'proved' || judged.reason === 'too-old' || judged.reason === 'too-new';
}

const NOBODY_IS_ASKED = (): Promise<never> => Promise.reject(new Error('no issuer is asked'));

/** Everything that is tried, the likeliest first. */
function* attemptsAt(proof: SecretProof, request: SignedRequest): Generator<ProofAttempt> {
  const { settings } = proof;
  yield* otherPlaces(settings, request);
  if (request.body.length > MAX_TRIED_BYTES) return;
  yield* trimmedSecrets(proof);
  if (signsUrl(settings)) yield* otherUrls(request);
  for (const body of bodyVariants(request.body))
    yield { request: { body }, found: { code: 're-encoded-body', facts: {} } };
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
function* otherPlaces(
  settings: SecretProof['settings'],
  { rawHeaders }: SignedRequest,
): Generator<ProofAttempt> {
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

/** Words before credentials. */
const WORDS = ['Bearer', 'bearer', 'Token', 'token', 'Basic'];

/** What stands before a secret, or around it, on one side and not on the other. */
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

/** An address, its query apart. */
const ABSOLUTE = /^(https?):\/\/([^/?#]*)([^?#]*)(\?[^#]*)?$/is;
/** A path is cut this often, and no more. */
const MAX_CUTS = 6;

/** The addresses that a sender behind a proxy may have called, those that differ in one thing first. */
function* otherUrls({ url, rawHeaders }: SignedRequest): Generator<ProofAttempt> {
  const [, scheme = '', authority = '', path = '', query = ''] = ABSOLUTE.exec(url) ?? [];
  if (authority === '') return;
  const own = `${scheme}://${authority}`;
  const [origins, paths] = [originsOf(scheme, authority, rawHeaders), pathsOf(path, query)];
  const at = (origin: string, text: string): ProofAttempt => {
    const [signed = ''] = (origin + text).split('?', 1);
    const more = text === path + query ? { origin: { sent: origin } } : { taken: own + path };
    return {
      request: { url: origin + text },
      found: { code: 'other-url', facts: { signed: { sent: signed }, ...more } },
    };
  };
  for (const origin of origins) yield at(origin, path + query);
  for (const origin of [own, ...origins]) for (const text of paths) yield at(origin, text);
}

/** With the other scheme and the other port, and with hosts that only count where they were signed. */
function originsOf(scheme: string, authority: string, rawHeaders: readonly string[]): readonly string[] {
  const [other, port] = scheme.toLowerCase() === 'https' ? ['http', 443] : ['https', 80];
  const bare = authority.replace(/:\d+$/, '');
  const hosts = ['host', 'x-forwarded-host'].flatMap((name) => findHeader(rawHeaders, name) ?? []);
  return [
    `${other}://${authority}`,
    `${scheme}://${bare}`,
    `${scheme}://${bare}:${port}`,
    `${other}://${bare}`,
    ...hosts.flatMap((host) => (typeof host === 'string' ? [`https://${host}`, `http://${host}`] : [])),
  ];
}

/** The path without its query, with its slash at the end changed, and without what it may begin with twice. */
function pathsOf(path: string, query: string): readonly string[] {
  const steps = path.split('/').slice(1);
  const cuts = steps.slice(1, MAX_CUTS).map((_, index) => `/${steps.slice(index + 1).join('/')}${query}`);
  const slash = path.endsWith('/') ? path.slice(0, -1) : `${path}/`;
  return [...(query === '' ? [] : [path]), slash + query, ...cuts];
}

/** The forms in which common libraries write the same JSON, and the ends that editors and proxies change. */
function bodyVariants(body: Buffer): readonly Buffer[] {
  const text = body.toString('utf8');
  const forms = [
    text.trimEnd(),
    `${text}\n`,
    text.replaceAll(/\r?\n/g, '\r\n'),
    ...jsonForms(text).flatMap((written) => [
      written,
      written.replaceAll(/[\u0080-\uffff]/g, asEscape),
      written.replaceAll('/', String.raw`\/`),
      written.replaceAll(/[<>&]/g, asEscape),
    ]),
  ];
  return forms.filter((form) => form !== text).map((form) => Buffer.from(form, 'utf8'));
}

/** Compact, with two spaces, and as Python writes it. */
function jsonForms(text: string): readonly string[] {
  try {
    const value: unknown = JSON.parse(text);
    return [JSON.stringify(value), JSON.stringify(value, undefined, 2), spaced(value)];
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

type OtherCode = Extract<ProofFinding, { readonly facts: OtherVerify }>['code'];

/** What it is called that such a key has to change; of several the first says most. */
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

/** That a request is right by another `verify`, or carries the proof of another sender. */
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
