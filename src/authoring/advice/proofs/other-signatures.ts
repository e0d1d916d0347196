/** The ways in which the signatures of a request may have been made: in all headers that look like one. */
import {
  findHeader,
  findHeadersLike,
  SIGNED_ID,
  type SignatureColumns,
  type TimestampUnit,
  unitOf,
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
import { waysOf } from '../vocabulary/senders.ts';
import { shapeOf, shapesOf } from './signature-shapes.ts';
import { columnsOf, generalProof } from './written-verify.ts';

/** What is tried as the time and as the id: a sender has one of each, a proxy may add another. */
const MAX_SOURCES = 2;

type Columns = Partial<SignatureColumns>;

/** All that senders are known to sign, `{url}` only where the address is known, in every header and form. */
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

/** What the senders sign that are known, as they document it. */
function signedTexts(senders: readonly Sender[]): readonly string[] {
  const all = [
    ...Object.values(SCHEMES).flatMap(({ ways }) => ways.map(({ way }) => way)),
    ...senders.flatMap(waysOf),
  ];
  return [...new Set(all.flatMap((way) => (way.kind === 'signature' ? [way.columns.signed] : [])))];
}

/** The signature that the path reads as it reads it, then as it looks, then the others. */
function shapes(own: SignatureColumns | undefined, request: SignedRequest): readonly SignatureColumns[] {
  const others = shapesOf(request).filter(({ header }) => header !== own?.header);
  if (own === undefined) return others;
  const { algorithm, header, encoding, prefix, separator, assign, signatureField } = own;
  const { secretEncoding, secretPrefix } = own;
  const read = {
    algorithm,
    header,
    encoding,
    signed: '',
    ...defined({ prefix, separator, assign, signatureField }),
  };
  const seen = ownLook(own, request);
  const keyed = defined({ secretEncoding, secretPrefix });
  return [read, ...(seen === undefined ? [] : [seen]), ...others].map((shape) => ({ ...shape, ...keyed }));
}

/** The signature that the path reads, by its look alone. */
function ownLook({ header }: SignatureColumns, { rawHeaders }: SignedRequest): SignatureColumns | undefined {
  const text = findHeader(rawHeaders, header);
  return typeof text === 'string' ? shapeOf(header, text) : undefined;
}

/** Names of headers with a time. */
export const TIME_NAME = /time(stamp)?$|-ts$/;

/** The time that the settings name, then what looks like one. */
function timesOf(
  own: SignatureColumns | undefined,
  { header, separator, assign = '=' }: SignatureColumns,
  request: SignedRequest,
): readonly Columns[] {
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

function timed(place: Columns, text: string | undefined): readonly Columns[] {
  const timestampUnit: TimestampUnit | undefined = unitOf(text ?? '');
  return timestampUnit === undefined ? [] : [{ ...place, timestampUnit }];
}

/** The id that the settings name, then what looks like one. */
function idsOf(own: SignatureColumns | undefined, { rawHeaders }: SignedRequest): readonly Columns[] {
  const named = own?.idHeader === undefined ? [] : [own.idHeader];
  const found = findHeadersLike(rawHeaders, /-(id|delivery|nonce)$/, SIGNED_ID).map(({ name }) => name);
  return [...named, ...found].map((idHeader) => ({ idHeader }));
}
