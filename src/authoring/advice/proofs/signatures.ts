/**
 * Recognises signatures in the headers of a request: how they are written, how they may have been made, and
 * whose they look like.
 */
import { isDeepStrictEqual } from 'node:util';
import {
  decodeExactly,
  ENCODINGS,
  findHeader,
  findHeadersLike,
  headerOf,
  type HmacAlgorithm,
  readPresented,
  SIGNED_ID,
  type SignatureColumns,
  type TimestampUnit,
  unitOf,
  type Way,
  writtenTime,
} from '../../../engine/verify/facts.ts';
import {
  SCHEMES,
  type SenderProof,
  type SignedRequest,
  type VerifySettings,
} from '../../../engine/verify/verify.ts';
import type { Sender } from '../../../engine/senders/senders.ts';
import { defined } from '../../../base/json.ts';
import { SIGNATURE_NAME } from '../../../base/telemetry/telemetry.ts';
import { waysOf } from '../vocabulary/senders.ts';
import { columnsOf, generalProof } from './written-verify.ts';

const NO_SIGNATURE =
  /^(?:accept|access|cache|cdn|cf|connection|content|cookie|date|digest|forwarded|host|if|origin|pragma|referer|repr|sec|te|upgrade|user-agent|via|want|x-amz|x-forwarded)(?:$|-)|(?:^|[-_])(?:agent|authorization|commit|delivery|etag|event|guid|id|key|nonce|parent|revision|sha|span\w*|token|trace\w*|uuid|version)$/;
const MAX_SHAPES = 2;

/** Hashes with the bytes of their results. */
export const HASHES: readonly (readonly [HmacAlgorithm, number])[] = [
  ['sha1', 20],
  ['sha256', 32],
  ['sha384', 48],
  ['sha512', 64],
];

export function hashOf(signature: Buffer | undefined): HmacAlgorithm | undefined {
  return HASHES.find(([, length]) => length === signature?.length)?.[0];
}

/** Recognises signatures by their form alone. What is signed is not known. */
export function shapesOf({ rawHeaders }: Pick<SignedRequest, 'rawHeaders'>): readonly SignatureColumns[] {
  const find = (isOne: (name: string) => boolean) =>
    findHeadersLike(rawHeaders, { test: (name) => isOne(name) && !NO_SIGNATURE.test(name) }, /^.{20,500}$/);
  return [...find((name) => SIGNATURE_NAME.test(name)), ...find((name) => !SIGNATURE_NAME.test(name))]
    .map(({ name, text }) => shapeOf(name, text))
    .filter((shape) => shape !== undefined)
    .slice(0, MAX_SHAPES);
}

/** Whether a header carries a signature, by its name or by the form of its value. */
export const carriesSignature = (name: string, text: string): boolean =>
  SIGNATURE_NAME.test(name) || (!NO_SIGNATURE.test(name) && shapeOf(name, text) !== undefined);

/** Whether to advise this form although nothing was proved. */
export const isSureShape = ({ header, prefix = '' }: SignatureColumns): boolean =>
  SIGNATURE_NAME.test(header) || /sha-?\d|hmac/i.test(prefix);

/** Finds a header with a signature that is longer than any which is checked here, as an RSA key makes it. */
export const longSignature = (rawHeaders: readonly string[]): string | undefined =>
  findHeadersLike(rawHeaders, SIGNATURE_NAME, /^[\w+/-]{171,1000}={0,2}$/)[0]?.name;

function shapeOf(header: string, text: string): SignatureColumns | undefined {
  const form = formOf(text) ?? prefixedForm(text) ?? listForm(text);
  return form && { header, signed: '{body}', ...form };
}

type SignatureForm = Omit<SignatureColumns, 'header' | 'signed'>;

function formOf(text: string): SignatureForm | undefined {
  for (const encoding of ENCODINGS) {
    const hash = hashOf(decodeExactly(text, encoding));
    if (hash !== undefined) return { algorithm: `hmac-${hash}`, encoding };
  }
  return undefined;
}

const prefixOf = (text: string): string => /^[a-z][\w-]{0,30}(?:[=:,] ?| )/i.exec(text)?.[0] ?? '';

function prefixedForm(text: string): SignatureForm | undefined {
  const prefix = prefixOf(text);
  const form = prefix === '' ? undefined : formOf(text.slice(prefix.length));
  return form && { ...form, prefix };
}

function listForm(text: string): SignatureForm | undefined {
  for (const separator of [',', ';']) {
    for (const item of text.split(separator, 8)) {
      const [name = '', value = ''] = /^\s*([A-Za-z]\w{0,20})=(.+)$/.exec(item)?.slice(1) ?? [];
      const form = text.includes(separator) && name !== '' ? formOf(value.trim()) : undefined;
      if (form !== undefined) return { ...form, separator, signatureField: name };
    }
  }
  return undefined;
}

/** A sender has one time and one id, and a proxy may add another of each. */
const MAX_SOURCES = 2;

type PartialColumns = Partial<SignatureColumns>;

/** Yields all that known senders sign, in every header and form. `{url}` is tried only where the address is known. */
export function* otherSignatures(
  { settings, senders }: { readonly settings: VerifySettings; readonly senders: readonly Sender[] },
  request: SignedRequest,
): Generator<SenderProof> {
  const [own] = columnsOf(settings);
  const texts = signedTexts(senders).filter((signed) => request.url !== '' || !signed.includes('{url}'));
  for (const shape of shapes(own, request)) {
    const times = timesOf(own, shape, request).slice(0, MAX_SOURCES);
    const ids = idsOf(own, request).slice(0, MAX_SOURCES);
    for (const signed of texts)
      for (const time of signed.includes('{timestamp}') ? times : [{}])
        for (const id of signed.includes('{id}') ? ids : [{}])
          yield generalProof({ ...shape, ...time, ...id, signed });
  }
}

function signedTexts(senders: readonly Sender[]): readonly string[] {
  const all = [
    ...Object.values(SCHEMES).flatMap(({ ways }) => ways.map(({ way }) => way)),
    ...senders.flatMap(waysOf),
  ];
  return [...new Set(all.flatMap((way) => (way.kind === 'signature' ? [way.columns.signed] : [])))];
}

function shapes(own: SignatureColumns | undefined, request: SignedRequest): readonly SignatureColumns[] {
  const others = shapesOf(request).filter(({ header }) => header !== own?.header);
  if (own === undefined) return others;
  const { algorithm, header, encoding, prefix, separator, assign, signatureField } = own;
  const { secretEncoding, secretPrefix } = own;
  const text = findHeader(request.rawHeaders, header);
  const seen = typeof text === 'string' ? shapeOf(header, text) : undefined;
  const keyed = defined({ secretEncoding, secretPrefix });
  const read = { algorithm, header, encoding, ...defined({ prefix, separator, assign, signatureField }) };
  // A secret is read as the path says; the secret of an unknown sender is a text.
  const plain = seen === undefined || Object.keys(keyed).length === 0 ? [] : [seen];
  return [
    ...[{ ...read, signed: '' }, ...(seen === undefined ? [] : [seen]), ...others].map((shape) => ({
      ...shape,
      ...keyed,
    })),
    ...plain,
  ];
}

export const TIME_NAME = /time(stamp)?$|-ts$/;

function timesOf(
  own: SignatureColumns | undefined,
  { header, separator, assign = '=' }: SignatureColumns,
  request: SignedRequest,
): readonly PartialColumns[] {
  const { timestampField, timestampHeader, timestampMember } = own ?? {};
  const named = timed(
    defined({ timestampField, timestampHeader, timestampMember }),
    own && writtenTime(own, request),
  );
  const found = findHeadersLike(request.rawHeaders, TIME_NAME, /./).flatMap(({ name, text }) =>
    timed({ timestampHeader: name }, text),
  );
  const list = separator === undefined ? undefined : findHeader(request.rawHeaders, header);
  const items = typeof list === 'string' ? list.split(separator ?? ',', 8) : [];
  const inList = items.flatMap((item) => {
    const [name = '', text] = item.trim().split(assign, 2);
    return /^[a-z_]{1,20}$/i.test(name) ? timed({ timestampField: name }, text) : [];
  });
  return [...named, ...found, ...inList];
}

function timed(place: PartialColumns, text: string | undefined): readonly PartialColumns[] {
  const timestampUnit: TimestampUnit | undefined = unitOf(text ?? '');
  return timestampUnit === undefined ? [] : [{ ...place, timestampUnit }];
}

function idsOf(own: SignatureColumns | undefined, { rawHeaders }: SignedRequest): readonly PartialColumns[] {
  const named = own?.idHeader === undefined ? [] : [own.idHeader];
  const found = findHeadersLike(rawHeaders, /-(id|delivery|nonce)$/, SIGNED_ID).map(({ name }) => name);
  return [...named, ...found].map((idHeader) => ({ idHeader }));
}

interface CarriedProof {
  readonly header: string;
  readonly senders: readonly (Sender & { readonly verify: SenderProof })[];
}

/**
 * Returns the first header in the form of a known sender, with all senders whose proof has that form. Where other headers
 * name such a sender, it returns that alone: GitHub also sends an older signature, in a header of others.
 */
export function findCarried(
  rawHeaders: readonly string[],
  senders: readonly Sender[],
): CarriedProof | undefined {
  const found = senders.flatMap((sender) =>
    waysOf(sender).flatMap((way) =>
      isCarried(way, rawHeaders) ? [{ sender, header: headerOf(way) ?? '' }] : [],
    ),
  );
  const header = found[0]?.header;
  if (header === undefined) return undefined;
  const alike = found.filter((each) => each.header === header).map(({ sender }) => sender);
  const named = senders.filter(
    (sender) =>
      ownHeaders(sender).some((name) => findHeader(rawHeaders, name) !== undefined) &&
      waysOf(sender).some((way) => headerOf(way)?.startsWith(header)),
  );
  const fitting = alike.filter(({ verify }) => named.some((one) => isDeepStrictEqual(one.verify, verify)));
  if (named.length > 0 && fitting.length === 0) return undefined;
  return { header, senders: oneOfEach(named.length === 0 ? alike : fitting) };
}

const ownHeaders = ({ id, kind, deliveryHeaders: more = [] }: Sender): readonly string[] => [
  ...[id, kind].flatMap((field) => /^headers\.(.*)/.exec(field ?? '')?.[1] ?? []),
  ...more,
];

/** Senders with the same kind of proof become one: the sender after which the scheme is named, or the first. */
function oneOfEach(senders: readonly Sender[]): CarriedProof['senders'] {
  const ways = new Map<string, Sender & { readonly verify: SenderProof }>();
  for (const { verify, ...sender } of senders) {
    if (verify === undefined) continue;
    const key = JSON.stringify(verify);
    if (verify.scheme === sender.name || !ways.has(key)) ways.set(key, { ...sender, verify });
  }
  return [...ways.values()];
}

/** Whether the headers carry such a proof, in its form and, for a hash, in its length. */
function isCarried(way: Way, rawHeaders: readonly string[]): boolean {
  const header = headerOf(way);
  if (header === undefined || findHeader(rawHeaders, header) === undefined) return false;
  if (way.kind !== 'signature') return true;
  // Only the signature is looked at, whatever else the sender has to send.
  const {
    timestampField: _field,
    timestampHeader: _header,
    timestampMember: _member,
    ...alone
  } = way.columns;
  const presented = presentedIn({ ...alone, signed: '' }, rawHeaders);
  const hash = /^hmac-(.*)/.exec(alone.algorithm)?.[1];
  return typeof presented !== 'string' && (hash === undefined || hash === hashOf(presented.signatures[0]));
}

const presentedIn = (
  columns: SignatureColumns,
  rawHeaders: readonly string[],
): ReturnType<typeof readPresented> =>
  readPresented(columns, [], { method: '', url: '', rawHeaders, body: Buffer.alloc(0) });
