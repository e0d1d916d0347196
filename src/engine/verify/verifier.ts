import { TOKEN_HEADERS } from '../../base/request.ts';
import type { SecretFacts } from './secret-forms.ts';
import { judgeBasic, judgeToken } from './credentials.ts';
import { findHeader } from './find-header.ts';
import type { FetchJson, OidcSettings } from './oidc.ts';
import { bestOf, type Proof, refused } from './proof.ts';
import type { SignedRequest, Way } from './scheme.ts';
import type { VerifySettings } from './verify-settings.ts';
import {
  type CompiledWay,
  compileWays,
  coverageOf,
  headerOf,
  isTable,
  schemeOf,
  type SecretProblem,
  type TableSettings,
} from './ways.ts';

/** The settings of a path with the texts its references stand for; an empty text is a secret that is missing. */
export interface ProofSettings {
  readonly settings: VerifySettings;
  /** The current secret first. Empty for `oidc`. */
  readonly secrets: readonly string[];
  /** What is wrong with secrets that are set. */
  readonly doubts?: readonly SecretFacts[];
}

export interface VerifierDeps {
  /** Milliseconds since the epoch. */
  readonly clock: () => number;
  readonly fetchJson: FetchJson;
}

/** A request and the query token, which is not a part of what is signed. */
export interface ReceivedRequest extends SignedRequest {
  /** The `token` parameter of the query, where the service still takes it there; asked for where no header has one. */
  readonly queryToken?: () => string | undefined;
}

export interface Verifier {
  readonly scheme: VerifySettings['scheme'];
  /** Headers that carry a secret: nothing after the proof may see them. Lower case. */
  readonly secretHeaders: readonly string[];
  /** What is wrong with secrets. A path none of whose secrets is good refuses everything. */
  readonly problems: readonly SecretProblem[];
  /** Whether the address is signed, so that it has to be known as the sender called it. */
  readonly signsUrl: boolean;
  /** Whether the proof depends on the body, as a signature of it does. */
  readonly readsBody: boolean;
  /** False where the headers show already that there is no proof: the body need not be read. */
  presents(rawHeaders: readonly string[]): boolean;
  prove(request: ReceivedRequest): Proof | Promise<Proof>;
}

type CredentialSettings = Extract<VerifySettings, { scheme: 'basic' | 'token' }>;

export function createVerifier({ settings, secrets }: ProofSettings, deps: VerifierDeps): Verifier {
  if (settings.scheme === 'oidc') return oidcVerifier(settings, deps);
  if (settings.scheme === 'basic' || settings.scheme === 'token') {
    return credentialVerifier(settings, secrets);
  }
  return tableVerifier(settings, secrets, deps);
}

function credentialVerifier(settings: CredentialSettings, secrets: readonly string[]): Verifier {
  const { scheme } = settings;
  const user = settings.scheme === 'basic' ? `${settings.user}:` : '';
  const known = secrets.filter((secret) => secret !== '').map((secret) => Buffer.from(user + secret, 'utf8'));
  const prove = guarded(known, ({ rawHeaders, queryToken }) =>
    scheme === 'basic' ? judgeBasic(known, rawHeaders) : judgeToken(known, rawHeaders, queryToken),
  );
  return {
    scheme,
    secretHeaders: scheme === 'basic' ? ['authorization'] : ['authorization', ...TOKEN_HEADERS],
    problems: missing(secrets),
    signsUrl: false,
    readsBody: false,
    // The proof stands in the headers alone, so nothing is read in vain.
    presents: () => true,
    prove,
  };
}

function oidcVerifier(settings: OidcSettings, { clock, fetchJson }: VerifierDeps): Verifier {
  // Loaded where a path asks for it: most configurations have none, and jose is large.
  const judge = import('./oidc.ts').then(({ createOidcJudge }) => createOidcJudge(settings, fetchJson));
  return {
    scheme: settings.scheme,
    secretHeaders: ['authorization'],
    problems: [],
    signsUrl: false,
    readsBody: false,
    presents: () => true,
    prove: async ({ rawHeaders }) => (await judge).judge(rawHeaders, clock()),
  };
}

function tableVerifier(settings: TableSettings, secrets: readonly string[], deps: VerifierDeps): Verifier {
  const ways = compileWays(settings, secrets);
  const unreadable = new Map(
    ways.flatMap(({ problems }) => problems.map((problem) => [problem.index, problem] as const)),
  );
  return {
    scheme: settings.scheme,
    secretHeaders: ways.flatMap(({ way }) => (way.kind === 'secret' ? [way.header] : [])),
    problems: [...missing(secrets), ...unreadable.values()],
    signsUrl: signsUrl(settings),
    readsBody: ways.some(({ way }) => way.kind !== 'secret'),
    presents: (rawHeaders) => ways.some(({ way }) => presents(way, rawHeaders)),
    prove: proveByWays(ways, deps.clock),
  };
}

function proveByWays(ways: readonly CompiledWay[], clock: VerifierDeps['clock']): Verifier['prove'] {
  const [first, ...others] = ways;
  return first !== undefined && others.length === 0
    ? (request) => first.judge(request, clock())
    : (request) => bestOf(ways.map((way) => way.judge(request, clock())));
}

export function signsUrl(settings: VerifySettings): boolean {
  return isTable(settings) && schemeOf(settings).ways.some(({ way }) => coverageOf(way).url);
}

function presents(way: Way, rawHeaders: readonly string[]): boolean {
  const header = headerOf(way);
  return header === undefined || findHeader(rawHeaders, header) !== undefined;
}

function missing(secrets: readonly string[]): readonly SecretProblem[] {
  return secrets.flatMap((secret, index) =>
    secret === '' ? [{ index, problem: 'it is missing or empty' }] : [],
  );
}

function guarded(
  secrets: readonly Buffer[],
  judge: (request: ReceivedRequest) => Proof,
): (request: ReceivedRequest) => Proof {
  return (request) => (secrets.length === 0 ? refused('not-configured') : judge(request));
}
