import { createSecretKey } from 'node:crypto';
import type { Diagnosis } from './diagnosis.ts';
import { findHeader } from './find-header.ts';
import type { Refused } from './proof.ts';
import type { Scheme, SignedRequest, Way } from './scheme.ts';
import { SCHEMES } from './schemes.ts';
import { explainContent } from './diagnose-content.ts';
import { explainCredential, explainPresented } from './diagnose-credential.ts';
import {
  explainOtherScheme,
  MAX_TRIED_BYTES,
  wholeVerify,
  withWholeVerify,
} from './diagnose-other-scheme.ts';
import { guessForm } from './diagnose-form.ts';
import { explainSignature } from './diagnose-signature.ts';
import { explainTwilio } from './diagnose-twilio.ts';
import { doubtSecret } from './foreign-secrets.ts';
import { mailgunSignature, readMailgunFields } from './mailgun.ts';
import { decodeExactly } from './encodings.ts';
import { secretVariants } from './secret-variants.ts';
import { TWILIO_HEADER } from './twilio.ts';
import type { ProofSettings } from './verifier.ts';
import { nameOfSecret } from './verify-settings.ts';
import { belongs, schemeOf, type TableSettings } from './ways.ts';

/**
 * Says why a request was refused: first what the refusal says by itself, then what would have fitted. At most some
 * two hundred signatures are computed. The sender never sees it.
 */
export function diagnose(proof: ProofSettings, request: SignedRequest, refusal: Refused): Diagnosis {
  return withNames(findReason(proof, request, refusal), proof);
}

const SECRET_CODES: ReadonlySet<string> = new Set([
  'not-configured',
  'wrong-secret',
  'wrong-proof',
  'secret-white-space',
  'secret-encoding',
  'secret-prefix',
]);

/** Says with a finding about the secret where it comes from: the name in the mapping, never its value. */
function withNames(found: Diagnosis, { settings, secrets, near = [] }: ProofSettings): Diagnosis {
  if (!SECRET_CODES.has(found.code) || !('secrets' in settings)) return found;
  const names = settings.secrets.map(nameOfSecret);
  const where = names.length === 1 ? 'the secret of this path is' : 'the secrets of this path are';
  const unset = names.flatMap((name, index) => {
    if (secrets[index] !== '') return [];
    const meant = near[index];
    const hint = meant === undefined ? '' : `, and ${meant} is: did you mean that?`;
    return [`${name} is not set in the service${hint}${hint === '' ? ';' : ''} `];
  });
  const but = unset.length > 0 && found.code !== 'not-configured' ? 'With the secrets that are set: ' : '';
  return { ...found, text: `${unset.join('')}${but}${found.text} (${where} ${names.join(', ')})` };
}

const NOT_CONFIGURED: Diagnosis = {
  code: 'not-configured',
  text: 'this path has no secret that can be used: it is not set, or has the wrong form; the warning VERIFY_SECRET at the start says which, and why; "sluice check" says it where the secret is set',
};

function findReason(proof: ProofSettings, request: SignedRequest, refusal: Refused): Diagnosis {
  const { settings, secrets } = proof;
  if (refusal.reason === 'not-configured') return NOT_CONFIGURED;
  if (settings.scheme === 'oidc' || settings.scheme === 'basic' || settings.scheme === 'token') {
    return explainCredential(settings, { secrets }, { request, refusal });
  }
  const timed = explainTime(refusal, schemeOf(settings).toleranceSeconds);
  if (timed !== undefined) return timed;
  if (refusal.reason === 'no-proof')
    return explainOtherScheme(settings, secrets, request) ?? explainAbsence(settings, request);
  return (
    explainProof(settings, secrets, request) ??
    (refusal.reason === 'malformed-proof' ? guessed(settings, request) : undefined) ??
    plainReason(settings, secrets, refusal)
  );
}

/** What is wrong with the form, by its look: no secret fits. */
function guessed(settings: TableSettings, request: SignedRequest): Diagnosis | undefined {
  for (const { way } of schemeOf(settings).ways) {
    const found = way.kind === 'signature' ? guessForm(way.columns, request) : undefined;
    if (found !== undefined) return withWholeVerify(found, way, settings);
  }
  return undefined;
}

/** Findings about the secret, which a scheme that reads the same secret in its own way makes needless. */
const SECRET_READINGS: ReadonlySet<string> = new Set(['secret-encoding', 'secret-prefix']);

/** What would have fitted: another form by the scheme of the path, or the scheme of another provider. */
function explainProof(
  settings: TableSettings,
  secrets: readonly string[],
  request: SignedRequest,
): Diagnosis | undefined {
  const isSmall = request.body.length <= MAX_TRIED_BYTES;
  const ways = isSmall ? waysWithSecrets(settings, secrets) : [];
  let found: Diagnosis | undefined;
  for (const { way, secrets: own } of ways) {
    const told = found === undefined ? explainWay(way, own, request) : undefined;
    found ??= told && withWholeVerify(told, way, settings);
  }
  if (found !== undefined && !SECRET_READINGS.has(found.code)) return found;
  const other = explainOtherScheme(settings, secrets, request);
  const signed = 'header' in settings ? () => explainSigned(ways[0], request) : () => undefined;
  return other ?? found ?? signed();
}

/** A way to prove oneself, with the secrets of the path that belong to it. */
interface WayWithSecrets {
  readonly way: Way;
  readonly secrets: readonly string[];
}

function waysWithSecrets(settings: TableSettings, secrets: readonly string[]): readonly WayWithSecrets[] {
  return schemeOf(settings).ways.map((entry) => ({
    way: entry.way,
    secrets: secrets.filter((secret) => secret !== '' && belongs(entry, secret)),
  }));
}

/** What was signed is the path's own to say only with the general schemes. */
function explainSigned(entry: WayWithSecrets | undefined, request: SignedRequest): Diagnosis | undefined {
  return entry?.way.kind === 'signature'
    ? explainContent(entry.way.columns, entry.secrets, request)
    : undefined;
}

function explainWay(way: Way, secrets: readonly string[], request: SignedRequest): Diagnosis | undefined {
  switch (way.kind) {
    case 'signature':
      return explainSignature(way.columns, secrets, request);
    case 'twilio':
      return explainTwilio(secrets, request);
    case 'mailgun':
      return explainMailgun(secrets, request);
    case 'secret':
      return explainSecret(way.header, secrets, request);
  }
}

function explainTime({ reason, ageSeconds }: Refused, toleranceSeconds: number): Diagnosis | undefined {
  const allowed = `this path takes ${String(toleranceSeconds)} s both ways`;
  if (reason === 'too-old') {
    return {
      code: reason,
      text: `the proof is right, but its timestamp is ${String(ageSeconds)} s old and ${allowed}: a request that was sent again or held up on the way, or a clock that is wrong; "sluice send FILE --sign" signs a saved request anew, and "sluice explain FILE" needs no proof`,
    };
  }
  if (reason === 'too-new') {
    return {
      code: reason,
      text: `the proof is right, but its timestamp lies ${String(-(ageSeconds ?? 0))} s ahead and ${allowed}: set the clock of this machine`,
    };
  }
  return undefined;
}

/** A header that carries the proof of known senders. */
export interface ProofHeader {
  readonly header: string;
  /** Schemes that send it. */
  readonly schemes: readonly string[];
}

/** The first header of a request that is the proof of a known sender, but for `except`. */
export function findProofHeader(
  rawHeaders: readonly string[],
  except: ReadonlySet<string | undefined> = new Set(),
): ProofHeader | undefined {
  const found = Object.entries(SCHEMES as Readonly<Record<string, Scheme>>).flatMap(([name, { ways }]) => {
    const header = ways
      .map(({ way }) => headerOf(way))
      .find((each) => each !== undefined && !except.has(each) && findHeader(rawHeaders, each) !== undefined);
    return header === undefined ? [] : [{ name, header }];
  });
  const [first] = found;
  if (first === undefined) return undefined;
  const schemes = found.filter(({ header }) => header === first.header).map(({ name }) => name);
  return { header: first.header, schemes };
}

/** The header of another scheme says that the path names the wrong one. */
function explainAbsence(settings: TableSettings, request: SignedRequest): Diagnosis {
  const wanted = new Set(schemeOf(settings).ways.map(({ way }) => headerOf(way)));
  const other = findProofHeader(request.rawHeaders, wanted);
  if (other !== undefined) {
    const { header, schemes } = other;
    const [scheme = '', ...more] = schemes;
    const or = more.length === 0 ? '' : `, or with scheme: ${more.join(' or ')}, as the sender is`;
    return {
      code: 'other-scheme',
      text: `the request carries ${header}, which is the header of ${schemes.join(' and ')}; this path expects ${settings.scheme}: replace the whole verify of the mapping by: ${wholeVerify(scheme, settings)}${or}`,
    };
  }
  const expected = [...wanted].filter((header) => header !== undefined);
  const what = expected.length === 0 ? 'the fields timestamp, token and signature' : expected.join(' or ');
  return {
    code: 'no-proof',
    text: `the request carries no proof: ${what} is not there; set the secret at the sender, or look whether a proxy removes the header`,
  };
}

function headerOf(way: Way): string | undefined {
  if (way.kind === 'signature') return way.columns.header;
  if (way.kind === 'twilio') return TWILIO_HEADER;
  return way.kind === 'secret' ? way.header : undefined;
}

function explainMailgun(secrets: readonly string[], request: SignedRequest): Diagnosis | undefined {
  const fields = readMailgunFields(request);
  const presented = fields === undefined ? undefined : decodeExactly(fields.signature, 'hex');
  if (fields === undefined || presented === undefined) return undefined;
  for (const variant of secretVariants(secrets)) {
    const key = createSecretKey(variant.bytes);
    if (mailgunSignature(key, fields).equals(presented)) return variant.diagnosis;
  }
  return undefined;
}

function explainSecret(
  header: string,
  secrets: readonly string[],
  request: SignedRequest,
): Diagnosis | undefined {
  const presented = findHeader(request.rawHeaders, header);
  if (typeof presented !== 'string') return undefined;
  return explainPresented(Buffer.from(presented, 'latin1').toString('utf8'), secrets);
}

const REASONS: Readonly<Partial<Record<Refused['reason'], string>>> = {
  'malformed-proof': 'the header with the proof is there, but not in the form of the scheme',
  'no-timestamp': 'the time of signing is not there; a proxy may have removed its header',
  'malformed-timestamp': 'the time of signing is not a whole number',
  'malformed-id': 'the id of the delivery is not there, or holds a full stop or white space',
  'unreadable-body': 'the fields of the body that are signed cannot be read',
  'body-not-covered':
    'the signature covers the address but not this body: a form is expected, or bodySHA256 in the address',
};

function plainReason(settings: TableSettings, secrets: readonly string[], { reason }: Refused): Diagnosis {
  if (reason !== 'wrong-proof') return { code: reason, text: REASONS[reason] ?? `it was refused: ${reason}` };
  const doubt = secrets.map((secret) => doubtSecret(settings, secret)).find((each) => each !== undefined);
  if (doubt !== undefined) return { code: 'wrong-secret', text: `the secret ${doubt.what}: ${doubt.remedy}` };
  const header = schemeOf(settings).ways.flatMap(({ way }) => (way.kind === 'secret' ? [way.header] : []))[0];
  const isSecret = header !== undefined && schemeOf(settings).ways.length === 1;
  return {
    code: 'wrong-secret',
    text: isSecret
      ? `the value of the header ${header} is not the secret of this path, nor nearly so: most likely the text that was entered at the sender is another one, for example a retired one`
      : `the signature fits neither the body as it came nor as a proxy might have changed it: most likely the secret at ${settings.scheme} is another one, for example a retired one`,
  };
}
