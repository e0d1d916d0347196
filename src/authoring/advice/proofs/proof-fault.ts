import { findFitting, isWeaker, otherVerify, type SecretProof } from './attempts.ts';
import { findCarried, isSureShape, shapesOf, TIME_NAME } from './signatures.ts';
import { columnsOf, generalProof } from './written-verify.ts';
import { otherKey, type Sender, shippedSenders } from '../../../engine/senders/senders.ts';
import {
  findHeadersLike,
  headerOf,
  type FactName,
  isTable,
  schemeOf,
  unitOf,
  writtenTime,
} from '../../../engine/verify/facts.ts';
import {
  doubtSecret,
  nameOfSecret,
  type ProofFinding,
  type ProofSettings,
  type Refused,
  type SignedRequest,
} from '../../../engine/verify/verify.ts';
import { defined } from '../../../base/json.ts';

/** What the service knows beside a proof: whether the hook token came, and the address that the sender signs. */
export interface KnownBeside {
  readonly hasToken?: boolean;
  readonly signsUrl?: boolean;
  readonly publicUrl?: string | undefined;
  readonly url?: string;
  /** All known senders; the default is those of this package. */
  readonly senders?: readonly Sender[];
}

/**
 * Says why a request was refused. It tries the forms in which the request would be right before it repeats
 * what the refusal says.
 */
export function findProofFault(
  proof: ProofSettings,
  request: SignedRequest,
  refusal: Refused,
  known: KnownBeside = {},
): ProofFinding {
  const { settings } = proof;
  if (settings.scheme === 'oidc') return plainReason(proof, refusal);
  const secrets = proof.secrets.filter((secret) => secret !== '');
  const { senders = shippedSenders() } = known;
  const asked = { settings, secrets, senders };
  switch (refusal.reason) {
    case 'not-configured': {
      const { doubts } = proof;
      const isUnset = secrets.length === 0 && doubts === undefined;
      return { code: 'not-configured', facts: { ...namesOf(asked), isUnset, ...defined({ doubts }) } };
    }
    case 'too-old':
    case 'too-new':
      return otherUnit(asked, request) ?? plainReason(proof, refusal);
    case 'no-proof': {
      if (known.hasToken === true) return noProof(asked, { hasToken: true });
      const shape = shapesOf(request).find(isSureShape);
      const carried = shape === undefined ? {} : { carries: { sent: shape.header } };
      return findFitting(asked, request) ?? otherSender(asked, request) ?? noProof(asked, carried);
    }
    case 'malformed-proof':
      return findFitting(asked, request) ?? otherSender(asked, request) ?? plainReason(proof, refusal);
    case 'wrong-proof': {
      const found = findFitting(asked, request);
      if (found !== undefined) return found;
      if (!isTable(settings)) return otherSender(asked, request) ?? plainReason(proof, refusal);
      if (known.signsUrl !== true) return wrongSecret(asked, request);
      const { publicUrl, url = '' } = known;
      return {
        code: 'other-url',
        facts: publicUrl === undefined ? {} : { taken: url.replace(/\?.*$/s, '') },
      };
    }
    case 'body-not-covered':
    case 'malformed-id':
    case 'malformed-timestamp':
    case 'no-keys':
    case 'no-timestamp':
    case 'unreadable-body':
    case 'wrong-claims':
      return findFitting(asked, request) ?? plainReason(proof, refusal);
  }
}

const namesOf = ({ settings }: SecretProof): { readonly names: readonly string[] } => ({
  names: settings.secrets.map(nameOfSecret),
});

const waysOf = ({ settings }: SecretProof) => (isTable(settings) ? schemeOf(settings).ways : []);

function noProof(
  proof: SecretProof,
  more: { readonly hasToken?: true; readonly carries?: FactName },
): ProofFinding {
  const headers = waysOf(proof).flatMap(({ way }) => headerOf(way) ?? []);
  return { code: 'no-proof', facts: { scheme: proof.settings.scheme, headers, ...more } };
}

function otherUnit({ settings }: SecretProof, request: SignedRequest): ProofFinding | undefined {
  const [own] = columnsOf(settings);
  const timestampUnit = own && unitOf(writtenTime(own, request) ?? '');
  if (own === undefined || timestampUnit === undefined) return undefined;
  if (timestampUnit === (own.timestampUnit ?? 'seconds')) return undefined;
  return otherVerify(settings, generalProof({ ...own, timestampUnit }), { isProved: true });
}

function otherSender({ settings, senders }: SecretProof, request: SignedRequest): ProofFinding | undefined {
  const found = findCarried(request.rawHeaders, senders);
  const fitting = found?.senders.filter(({ verify }) => !isWeaker(settings, verify)) ?? [];
  const [first, ...others] = fitting;
  if (found === undefined || first === undefined) return undefined;
  const of = fitting.map(({ title }) => title);
  const or = others.map(({ verify }) => verify.scheme);
  return otherVerify(settings, first.verify, { isProved: false, header: found.header, of, or });
}

function wrongSecret(proof: SecretProof, request: SignedRequest): ProofFinding {
  const { settings, secrets } = proof;
  const doubted = secrets.find((secret) => doubtSecret(settings, secret, otherKey) !== undefined);
  const form = doubted && otherKey(doubted);
  const header = waysOf(proof).flatMap(({ way }) => (way.kind === 'secret' ? [way.header] : []))[0];
  const time = unsignedTime(settings, request);
  const more = defined({ header, otherKey: form, time });
  return { code: 'wrong-secret', facts: { ...namesOf(proof), scheme: settings.scheme, ...more } };
}

/** Most senders that write a header with a time sign it, but this path does not count it as signed. */
function unsignedTime(
  settings: SecretProof['settings'],
  { rawHeaders }: SignedRequest,
): FactName | undefined {
  const [own] = columnsOf(settings);
  if (own === undefined || settings.scheme !== 'hmac' || own.signed.includes('{timestamp}')) return undefined;
  const times = findHeadersLike(rawHeaders, TIME_NAME, /./);
  const first = times.find(({ text }) => unitOf(text) !== undefined);
  return first && { sent: first.name };
}

function plainReason({ settings }: ProofSettings, { reason, detail, ageSeconds }: Refused): ProofFinding {
  const { scheme } = settings;
  const toleranceSeconds = isTable(settings) ? schemeOf(settings).toleranceSeconds : undefined;
  return { code: reason, facts: defined({ scheme, detail, ageSeconds, toleranceSeconds }) } as ProofFinding;
}
