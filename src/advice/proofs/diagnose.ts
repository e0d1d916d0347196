import { joinSentences, say, todo, write, type Sentence } from '../../finding.ts';
import { secretHint } from '../vocabulary/secrets.ts';
import { otherKey } from '../../senders/senders.ts';
import { shownAs } from '../vocabulary/senders.ts';
import { createSecretKey } from 'node:crypto';
import {
  type Diagnosis,
  doubtSecret,
  MAX_TRIED_BYTES,
  nameOfSecret,
  type ProofSettings,
  type Refused,
  type SecretFacts,
  secretSentence,
  type SignedRequest,
} from '../../verify/verify.ts';
import { type FoundKeys, isGeneral, wholeVerify, writtenScheme, replaceBy } from './written-verify.ts';
import {
  belongs,
  decodeExactly,
  findHeader,
  isTable,
  mailgunSignature,
  readMailgunFields,
  schemeOf,
  type SignatureColumns,
  type TableSettings,
  unitOf,
  type Way,
  writtenTime,
  type WrittenUnit,
  schemesOfHeader,
} from '../../verify/facts.ts';
import { explainContent } from './signed-content.ts';
import { explainCredential, explainPresented } from './credential.ts';
import { explainAbsence, explainSignatureThere } from './absence.ts';
import { explainOtherScheme, withRemedy } from './other-scheme.ts';
import { guessForm } from './form.ts';
import { explainSignature } from './signature.ts';
import { explainTwilio } from './twilio.ts';
import { explainElsewhere } from './secret-elsewhere.ts';
import { secretVariants } from './secret-variants.ts';

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
function withNames(found: Diagnosis, { settings, secrets, doubts }: ProofSettings): Diagnosis {
  if (!SECRET_CODES.has(found.code) || !('secrets' in settings)) return found;
  const names = settings.secrets.map(nameOfSecret);
  const where = names.length === 1 ? say`the secret of this path is` : say`the secrets of this path are`;
  const unset = names
    .filter((_, index) => secrets[index] === '')
    .map((name) => `${name} is not set in the service; `);
  if (found.code === 'not-configured' && unset.length === names.length && doubts === undefined)
    return {
      ...found,
      text: say`${unset.join('')}without it this path refuses every request: ${todo}set it wherever the service starts`,
    };
  const but = unset.length > 0 && found.code !== 'not-configured' ? say`With the secrets that are set: ` : '';
  return { ...found, text: say`${unset.join('')}${but}${found.text} (${where} ${names.join(', ')})` };
}

const saidOf = (doubts: readonly SecretFacts[]): Sentence =>
  joinSentences(
    doubts.map((each) => say`${secretSentence(each)}; ${secretHint(each)}`),
    '; ',
  );

function notConfigured({ doubts = [] }: ProofSettings): Diagnosis {
  const why = doubts.length === 0 ? say`"sluice check" says why` : saidOf(doubts);
  return {
    code: 'not-configured',
    text: say`this path has no secret that can be used, and refuses every request: ${why}`,
  };
}

function findReason(proof: ProofSettings, request: SignedRequest, refusal: Refused): Diagnosis {
  const { settings, secrets } = proof;
  if (refusal.reason === 'not-configured') return notConfigured(proof);
  const elsewhere = settings.scheme === 'oidc' ? undefined : explainElsewhere(settings, secrets, request);
  if (elsewhere !== undefined) return elsewhere;
  if (!isTable(settings)) {
    const isAbsent = settings.scheme !== 'oidc' && refusal.reason === 'no-proof';
    const signature = isAbsent ? explainSignatureThere(settings, request) : undefined;
    return signature ?? explainCredential(settings, { secrets }, { request, refusal });
  }
  const timed = explainTime(settings, refusal, request);
  if (timed !== undefined) return timed;
  const found = explainProof(settings, secrets, request);
  if (found !== undefined) return found;
  if (refusal.reason === 'no-proof') return explainAbsence(settings, request);
  const guess =
    refusal.reason === 'malformed-proof'
      ? guessed(settings, request)
      : refusal.reason === 'malformed-timestamp'
        ? explainUnit(settings, request)
        : undefined;
  return guess ?? plainReason(settings, proof, refusal);
}

/** What is wrong with the form, by its look: no secret fits. */
function guessed(settings: TableSettings, request: SignedRequest): Diagnosis | undefined {
  const header = columnsOf(settings)[0]?.header;
  const [scheme, ...more] = isGeneral(settings) && header !== undefined ? schemesOfHeader(header) : [];
  if (scheme !== undefined && more.length === 0)
    return {
      code: 'other-scheme',
      text: say`${header ?? ''} is the header of ${scheme}, which is signed in a way of its own: ${replaceBy(wholeVerify(scheme, settings))}`,
    };
  for (const { way } of schemeOf(settings).ways) {
    const found = way.kind === 'signature' ? guessForm(way.columns, request) : undefined;
    if (found !== undefined) return withRemedy(found, way, settings);
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
  const found = isSmall ? explainWays(settings, secrets, request) : undefined;
  if (found !== undefined && !SECRET_READINGS.has(found.code)) return found;
  return explainOtherScheme(settings, secrets, request) ?? found ?? explainSigned(settings, secrets, request);
}

/** What was signed, and how it was written: for all signatures in headers. */
function explainSigned(
  settings: TableSettings,
  secrets: readonly string[],
  request: SignedRequest,
): Diagnosis | undefined {
  if (request.body.length > MAX_TRIED_BYTES) return undefined;
  const given = secrets.filter((secret) => secret !== '');
  return explainContent(settings, { columns: columnsOf(settings)[0], secrets: given }, request);
}

/** The signatures in headers that the path takes. */
function columnsOf(settings: TableSettings): readonly SignatureColumns[] {
  return schemeOf(settings).ways.flatMap(({ way }) => (way.kind === 'signature' ? [way.columns] : []));
}

/** What the first of its ways says, each with the secrets of the path that belong to it. */
function explainWays(
  settings: TableSettings,
  secrets: readonly string[],
  request: SignedRequest,
): Diagnosis | undefined {
  for (const entry of schemeOf(settings).ways) {
    const own = secrets.filter((secret) => secret !== '' && belongs(entry, secret));
    const found = explainWay(entry.way, own, request);
    if (found !== undefined) return withRemedy(found, entry.way, settings);
  }
  return undefined;
}

function explainWay(way: Way, secrets: readonly string[], request: SignedRequest): FoundKeys | undefined {
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

/** No clock is wrong by more without being looked at for another reason first. */
const CLOCK_SECONDS = 86_400;

function explainTime(
  settings: TableSettings,
  refusal: Refused,
  request: SignedRequest,
): Diagnosis | undefined {
  const { reason, ageSeconds = 0 } = refusal;
  if (reason !== 'too-old' && reason !== 'too-new') return undefined;
  const unit = explainUnit(settings, request);
  if (unit !== undefined) return { ...unit, text: say`the proof is right, but ${unit.text}` };
  const allowed = say`this path takes ${String(schemeOf(settings).toleranceSeconds)} s both ways`;
  if (reason === 'too-old') {
    return {
      code: reason,
      text: say`the proof is right, but its timestamp is ${String(ageSeconds)} s old and ${allowed}: a request that was sent again or held up on the way, or a clock that is wrong; "sluice send FILE --sign" signs a saved request anew, and "sluice explain FILE" needs no proof`,
    };
  }
  const remedy =
    -ageSeconds > CLOCK_SECONDS
      ? say`compare the clock of this machine (date -u) with the true time; if it is right, the sender writes a wrong one`
      : say`set the clock of this machine`;
  return {
    code: reason,
    text: say`the proof is right, but its timestamp lies ${String(-ageSeconds)} s ahead and ${allowed}: ${remedy}`,
  };
}

/** A time in another unit than the path reads; undefined where it is in the same one. */
function explainUnit(settings: TableSettings, request: SignedRequest): Diagnosis | undefined {
  for (const columns of columnsOf(settings)) {
    const unit = unitOf(writtenTime(columns, request) ?? '');
    const { timestampUnit = 'seconds' } = columns;
    if (unit === undefined || unit === timestampUnit) continue;
    const wrong = say`the timestamp is ${IN_WORDS[unit]}, and this path reads ${timestampUnit}`;
    if (unit === 'microseconds' || unit === 'nanoseconds')
      return {
        code: 'timestamp-unit',
        text: say`${wrong}: ${todo}let the sender write seconds or milliseconds`,
      };
    const fix = isGeneral(settings)
      ? write(`timestampUnit: ${unit}`, 'in verify of the mapping')
      : replaceBy(wholeVerify(writtenScheme({ ...columns, timestampUnit: unit }), settings));
    return { code: 'timestamp-unit', text: say`${wrong}: ${fix}` };
  }
  return undefined;
}

const IN_WORDS: Readonly<Record<WrittenUnit, string>> = {
  seconds: 'in seconds',
  milliseconds: 'in milliseconds',
  microseconds: 'in microseconds',
  nanoseconds: 'in nanoseconds',
  iso8601: 'a date and time (ISO 8601)',
};

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

const REASONS: Readonly<Partial<Record<Refused['reason'], Sentence>>> = {
  'malformed-proof': say`the header with the proof is there, but not in the form of the scheme`,
  'no-timestamp': say`the time of signing is not there; a proxy may have removed its header`,
  'malformed-timestamp': say`the time of signing is not a whole number`,
  'malformed-id': say`the id of the delivery is not there, or holds a full stop or white space`,
  'unreadable-body': say`the fields of the body that are signed cannot be read`,
  'body-not-covered': say`the signature covers the address but not this body: a form is expected, or bodySHA256 in the address`,
};

/** Schemes that name no sender. */
const GENERAL: ReadonlySet<string> = new Set(['hmac', 'ed25519', 'ecdsa', 'header', 'standard-webhooks']);

const nameOfSender = (scheme: string): string => (GENERAL.has(scheme) ? 'the sender' : scheme);

function plainReason(
  settings: TableSettings,
  { secrets, doubts }: ProofSettings,
  { reason }: Refused,
): Diagnosis {
  if (reason !== 'wrong-proof')
    return { code: reason, text: REASONS[reason] ?? say`it was refused: ${reason}` };
  if (doubts !== undefined) return { code: 'wrong-secret', text: saidOf(doubts) };
  const doubt = secrets
    .map((secret) => doubtSecret(settings, secret, otherKey))
    .find((each) => each !== undefined);
  if (doubt !== undefined)
    return { code: 'wrong-secret', text: say`the secret ${doubt.what ?? ''}: ${secretHint(doubt)}` };
  const header = schemeOf(settings).ways.flatMap(({ way }) => (way.kind === 'secret' ? [way.header] : []))[0];
  const isSecret = header !== undefined && schemeOf(settings).ways.length === 1;
  const shown = shownAs(settings.scheme);
  return {
    code: 'wrong-secret',
    text: isSecret
      ? say`the value of the header ${header} is not the secret of this path, nor nearly so: most likely the text that was entered at the sender is another one, for example a retired one`
      : say`the signature fits neither the body as it came nor as a proxy might have changed it: most likely the secret at ${nameOfSender(settings.scheme)} is another one, for example a retired one${shown === undefined ? '' : `; set it to ${shown}`}`,
  };
}
