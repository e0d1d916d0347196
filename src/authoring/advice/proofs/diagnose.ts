import { findCarried, isCarried } from './carried.ts';
import { findFitting, type SecretProof } from './attempts.ts';
import { ownLook } from './other-signatures.ts';
import { otherVerify } from './other-verify.ts';
import { isSureShape, shapesOf } from './signature-shapes.ts';
import { columnsOf, generalProof } from './written-verify.ts';
import { otherKey, type Sender, shippedSenders } from '../../../engine/senders/senders.ts';
import {
  findHeader,
  findHeadersLike,
  headerOf,
  type Name,
  isTable,
  schemeOf,
  unitOf,
  writtenTime,
} from '../../../engine/verify/facts.ts';
import {
  type Diagnosis,
  doubtSecret,
  nameOfSecret,
  type ProofSettings,
  type Refused,
  type SignedRequest,
} from '../../../engine/verify/verify.ts';
import { defined } from '../../../base/json.ts';
import { surest, type Way } from '../rule.ts';

/** What the service knows beside a proof: whether the hook token came, and the address that the sender signs. */
export interface KnownBeside {
  readonly hasToken?: boolean;
  readonly signsUrl?: boolean;
  readonly publicUrl?: string | undefined;
  readonly url?: string;
  /** All senders that are known; default those of this package. */
  readonly senders?: readonly Sender[];
}

/** A refusal with all that is looked at for it. */
interface AskedRefusal extends SecretProof {
  readonly proof: ProofSettings;
  readonly request: SignedRequest;
  readonly refusal: Refused;
  readonly known: KnownBeside;
}

const isTimed = ({ refusal: { reason } }: AskedRefusal): boolean =>
  reason === 'too-old' || reason === 'too-new';

/** Why a request may have been refused: first what would have fitted, then what the refusal says by itself. */
const WAYS: readonly (Way<AskedRefusal, Diagnosis> & { readonly of?: readonly Refused['reason'][] })[] = [
  { name: 'not-configured', confidence: 'certain', of: ['not-configured'], find: notConfigured },
  {
    name: 'token-in-its-place',
    confidence: 'certain',
    of: ['no-proof'],
    find: (asked) => (asked.known.hasToken === true ? noProof(asked, true) : undefined),
  },
  {
    name: 'other-reading',
    confidence: 'certain',
    find: (asked) => (isTimed(asked) ? undefined : findFitting(asked, asked.request)),
  },
  {
    name: 'other-unit',
    confidence: 'likely',
    of: ['too-old', 'too-new', 'malformed-timestamp'],
    find: (asked) => otherUnit(asked, asked.request),
  },
  {
    name: 'other-sender',
    confidence: 'likely',
    find: (asked) =>
      asked.refusal.reason === 'no-proof' || !isTable(asked.settings)
        ? otherSender(asked, asked.request)
        : undefined,
  },
  {
    name: 'other-form',
    confidence: 'likely',
    of: ['malformed-proof'],
    find: (asked) => otherForm(asked, asked.request),
  },
  {
    name: 'other-address',
    confidence: 'guess',
    of: ['wrong-proof'],
    find: ({ known }) => (known.signsUrl === true ? otherUrl(known) : undefined),
  },
  { name: 'no-proof', confidence: 'guess', of: ['no-proof'], find: (asked) => noProof(asked) },
  {
    name: 'wrong-secret',
    confidence: 'guess',
    of: ['wrong-proof'],
    find: (asked) => (isTable(asked.settings) ? wrongSecret(asked) : undefined),
  },
];

/** Says why a request was refused. */
export function diagnose(
  proof: ProofSettings,
  request: SignedRequest,
  refusal: Refused,
  known: KnownBeside = {},
): Diagnosis {
  const { settings } = proof;
  if (settings.scheme === 'oidc') return plainReason(proof, refusal);
  const secrets = proof.secrets.filter((secret) => secret !== '');
  const asked = {
    settings,
    secrets,
    senders: known.senders ?? shippedSenders(),
    proof,
    request,
    refusal,
    known,
  };
  const ways = WAYS.filter(({ of }) => of?.includes(refusal.reason) !== false);
  return surest(ways, asked) ?? plainReason(proof, refusal);
}

function notConfigured({ settings, secrets, proof: { doubts } }: AskedRefusal): Diagnosis {
  const names = settings.secrets.map(nameOfSecret);
  const isUnset = secrets.length === 0 && doubts === undefined;
  return { code: 'not-configured', facts: { names, isUnset, ...defined({ doubts }) } };
}

function noProof({ settings }: SecretProof, hasToken?: true): Diagnosis {
  const headers = isTable(settings) ? schemeOf(settings).ways.flatMap(({ way }) => headerOf(way) ?? []) : [];
  return { code: 'no-proof', facts: { scheme: settings.scheme, headers, ...defined({ hasToken }) } };
}

/** A time in another unit than the path reads. */
function otherUnit({ settings }: SecretProof, request: SignedRequest): Diagnosis | undefined {
  const [own] = columnsOf(settings);
  const timestampUnit = own && unitOf(writtenTime(own, request) ?? '');
  if (own === undefined || timestampUnit === undefined) return undefined;
  if (timestampUnit === (own.timestampUnit ?? 'seconds')) return undefined;
  return otherVerify(settings, generalProof({ ...own, timestampUnit }), { isProved: false });
}

/** The sender whose header came in place of the one that the path asks for, or a signature of nobody known. */
function otherSender({ settings, senders }: SecretProof, request: SignedRequest): Diagnosis | undefined {
  const ways = isTable(settings) ? schemeOf(settings).ways : [];
  const wanted = new Set(ways.map(({ way }) => headerOf(way)));
  const carried = findCarried(request.rawHeaders, { senders, except: wanted });
  const [first, ...others] = carried?.senders ?? [];
  if (carried !== undefined && first !== undefined) {
    const { header } = carried;
    const of = carried.senders.map(({ title }) => title);
    const or = others.map(({ verify }) => verify.scheme);
    return otherVerify(settings, first.verify, { isProved: false, header, of, or });
  }
  const inForm = new Set(
    ways.flatMap(({ way }) => (isCarried(way, request.rawHeaders) ? [headerOf(way)] : [])),
  );
  const shape = shapesOf(request).find((each) => isSureShape(each) && !inForm.has(each.header));
  if (shape === undefined) return undefined;
  return otherVerify(settings, generalProof(shape), { isProved: false, header: { sent: shape.header } });
}

/** The form that the signature has by its look, where no secret fits; or the sender whose header a general scheme reads. */
function otherForm({ settings, senders }: SecretProof, request: SignedRequest): Diagnosis | undefined {
  const [own] = columnsOf(settings);
  const seen = own && ownLook(own, request);
  if (own === undefined) return undefined;
  const carried =
    'header' in settings ? findCarried(request.rawHeaders, { senders, except: new Set() }) : undefined;
  const sender = carried?.header === own.header ? carried.senders[0] : undefined;
  if (carried !== undefined && sender !== undefined)
    return otherVerify(settings, sender.verify, {
      isProved: false,
      header: carried.header,
      of: [sender.title],
    });
  if (seen === undefined) return undefined;
  const { timestampField, signed, secretEncoding, secretPrefix, timestampHeader, timestampUnit, idHeader } =
    own;
  // What is not in the request is not signed.
  const isTimed = !signed.includes('{timestamp}') || writtenTime(own, request) !== undefined;
  const hasId = idHeader === undefined || findHeader(request.rawHeaders, idHeader) !== undefined;
  const kept =
    isTimed && hasId
      ? defined({
          signed,
          timestampField,
          timestampHeader,
          timestampUnit,
          idHeader,
          secretEncoding,
          secretPrefix,
        })
      : {};
  return otherVerify(settings, generalProof({ ...seen, ...kept }), { isProved: false });
}

/** Nothing in the request says which address its sender called. */
function otherUrl({ publicUrl, url = '' }: KnownBeside): Diagnosis {
  const taken = publicUrl === undefined ? undefined : url.replace(/\?.*$/s, '');
  return { code: 'other-url', facts: defined({ taken }) };
}

function wrongSecret({ settings, secrets, request }: AskedRefusal): Diagnosis {
  const { scheme } = settings;
  const names = settings.secrets.map(nameOfSecret);
  const doubted = secrets.find((secret) => doubtSecret(settings, secret, otherKey) !== undefined);
  const form = doubted && otherKey(doubted);
  const ways = isTable(settings) ? schemeOf(settings).ways : [];
  const header = ways.flatMap(({ way }) => (way.kind === 'secret' ? [way.header] : []))[0];
  const time = unsignedTime(settings, request);
  return { code: 'wrong-secret', facts: { names, scheme, ...defined({ header, otherKey: form, time }) } };
}

/** A header with a time that the path does not count as signed, though most senders that write one sign it. */
function unsignedTime(settings: SecretProof['settings'], { rawHeaders }: SignedRequest): Name | undefined {
  const [own] = columnsOf(settings);
  if (own === undefined || settings.scheme !== 'hmac' || own.signed.includes('{timestamp}')) return undefined;
  const times = findHeadersLike(rawHeaders, /time(stamp)?$|-ts$/, /./).filter(
    ({ text }) => unitOf(text) !== undefined,
  );
  const [first] = times;
  return first && { sent: first.name };
}

function plainReason({ settings }: ProofSettings, { reason, detail, ageSeconds }: Refused): Diagnosis {
  const { scheme } = settings;
  const toleranceSeconds = isTable(settings) ? schemeOf(settings).toleranceSeconds : undefined;
  return { code: reason, facts: defined({ scheme, detail, ageSeconds, toleranceSeconds }) } as Diagnosis;
}
