import { say, write, type Sentence } from '../../finding.ts';
import type { KeyObject } from 'node:crypto';
import { defined } from '../../json.ts';
import { type Diagnosis, type SignedRequest } from '../../verify/verify.ts';
import { isGeneral, wholeVerify, writtenKey, writtenScheme, replaceBy } from './written-verify.ts';
import {
  compileContent,
  contentBytes,
  findHeader,
  findHeadersLike,
  findKey,
  type PresentedSignature,
  readKey,
  readPresented,
  readTime,
  type SignatureColumns,
  SIGNED_ID,
  type TableSettings,
  unitOf,
  valuesOf,
  writtenTime,
} from '../../verify/facts.ts';
import { hashOf, shapesOf } from './signature-shapes.ts';

/** What providers sign, as they write it; `{url}` only where the address is known. */
const FORMS = [
  '{body}',
  '{timestamp}.{body}',
  '{timestamp}:{body}',
  '{timestamp}{body}',
  'v0:{timestamp}:{body}',
  'v1:{timestamp}:{body}',
  'v1.{timestamp}.{body}',
  '{timestamp}|{body}',
  '{timestamp}\n{body}',
  '{timestamp}-{body}',
  '{timestamp}_{body}',
  '{timestamp},{body}',
  '{body}{timestamp}',
  '{body}.{timestamp}',
  '{body}:{timestamp}',
  '{id}.{timestamp}.{body}',
  '{id}:{timestamp}:{body}',
  '{id}|{timestamp}|{body}',
  '{id}{timestamp}{body}',
  '{timestamp}.{id}.{body}',
  '{timestamp}:{id}:{body}',
  '{timestamp}{id}{body}',
  '{id}.{body}',
  '{id}:{body}',
  '{id}{body}',
  '{url}{body}',
  '{body}{url}',
  '{url}{timestamp}{body}',
  '{method}{url}{body}',
  '{method}{url}{body}{timestamp}',
] as const;

/** What is tried as the time and as the id: a sender has one of each, a proxy may add another. */
const MAX_SOURCES = 2;
/** The current secret and the one before it: with all forms, those of the address too, that is about 150 signatures for each header, so 20 ms at most. */
const MAX_KEYS = 2;

/** Where a value stands, as keys of `verify`. */
interface Source {
  readonly text: string;
  readonly columns: Partial<SignatureColumns>;
  /** Those of them that the settings do not have yet. */
  readonly write: Partial<SignatureColumns>;
  /** A key that would be looked at first. */
  readonly instead?: string | undefined;
}

/** The signature of a request in one of its headers, and what is known of the path. */
interface Trial {
  /** How the path is set; absent where its scheme is no signature in a header. */
  readonly own: SignatureColumns | undefined;
  readonly shape: SignatureColumns;
  readonly keys: readonly KeyObject[];
  readonly request: SignedRequest;
  readonly signatures: PresentedSignature['signatures'];
}

/**
 * The usual texts that are signed, tried with the secrets of the path and with each signature that the request
 * carries, in whichever hash and encoding it is written: says which of them fits, with what to write.
 */
export function explainContent(
  settings: TableSettings,
  {
    columns,
    secrets,
  }: { readonly columns: SignatureColumns | undefined; readonly secrets: readonly string[] },
  request: SignedRequest,
): Diagnosis | undefined {
  const own = columns && ownShape(columns, request);
  const shapes = shapesOf(request).filter(({ header }) => header !== own?.header);
  for (const shape of own === undefined ? shapes : [own, ...shapes]) {
    const trial = trialOf(columns, shape, { secrets, request });
    const found = trial && findForm(trial);
    if (trial !== undefined && found !== undefined) return told(settings, trial, found);
  }
  return undefined;
}

/** The signature where and as the path reads it, in whichever hash its length says. */
function ownShape(columns: SignatureColumns, request: SignedRequest): SignatureColumns | undefined {
  const { signatureField, separator, assign, algorithm, header, encoding, prefix, signed } = columns;
  const own = {
    algorithm,
    header,
    encoding,
    signed,
    ...defined({ prefix, signatureField, separator, assign }),
  };
  const presented = readPresented(own, [], request);
  if (typeof presented === 'string') return undefined;
  const hash = algorithm.startsWith('hmac-') ? hashOf(presented.signatures[0]) : undefined;
  return hash === undefined ? own : { ...own, algorithm: `hmac-${hash}` };
}

function trialOf(
  own: SignatureColumns | undefined,
  shape: SignatureColumns,
  { secrets, request }: { readonly secrets: readonly string[]; readonly request: SignedRequest },
): Trial | undefined {
  const presented = readPresented(shape, [], request);
  if (typeof presented === 'string') return undefined;
  const { secretEncoding, secretPrefix } = own ?? {};
  const keyed = { ...shape, ...defined({ secretEncoding, secretPrefix }) };
  const keys = secrets.slice(0, MAX_KEYS).flatMap((secret) => {
    const read = readKey(keyed, secret);
    return read.kind === 'key' ? [read.key] : [];
  });
  return { own, shape: keyed, keys, request, signatures: presented.signatures };
}

interface Found {
  readonly form: string;
  readonly time: Source | undefined;
  readonly id: Source | undefined;
}

function findForm(trial: Trial): Found | undefined {
  const { request } = trial;
  const times = timesOf(trial).slice(0, MAX_SOURCES);
  const ids = idsOf(trial).slice(0, MAX_SOURCES);
  for (const form of FORMS) {
    if (form.includes('{url}') && request.url === '') continue;
    for (const time of form.includes('{timestamp}') ? times : [undefined]) {
      for (const id of form.includes('{id}') ? ids : [undefined]) {
        if (fits(trial, form, { timestamp: time?.text, id: id?.text })) return { form, time, id };
      }
    }
  }
  return undefined;
}

function fits(
  { shape, keys, request, signatures }: Trial,
  form: string,
  values: Pick<PresentedSignature, 'timestamp' | 'id'>,
): boolean {
  const content = contentBytes(compileContent(form), valuesOf(request, { signatures, ...values }));
  return findKey({ columns: shape, keys }, content, signatures) >= 0;
}

function told(settings: TableSettings, { own, shape }: Trial, { form, time, id }: Found): Diagnosis {
  const word = shape.algorithm.startsWith('hmac-') ? 'secret' : 'key';
  const signed = form.replace('\n', String.raw`\n`);
  if (own === undefined || !isGeneral(settings) || !isSameShape(own, shape)) {
    const whole = { ...shape, ...time?.columns, ...id?.columns, signed: form };
    const how = `${shape.algorithm.replace('hmac-', 'HMAC with ')}, ${shape.encoding}`;
    return {
      code: 'other-scheme',
      text: say`the ${word} is right; the sender signed ${signed} and sends it in ${shape.header} (${how}), and this path expects ${settings.scheme}${own === undefined || own.header === shape.header ? '' : ` in ${own.header}`}: ${replaceBy(wholeVerify(writtenScheme(whole), settings))}`,
    };
  }
  const isSame = form === own.signed;
  const keys = Object.entries({ ...time?.write, ...id?.write }).map(([key, each]) => writtenKey(key, each));
  const instead = time?.instead === undefined ? '' : ` in place of ${time.instead}`;
  const quoted = form.includes('\n') ? `"${signed}"` : `'${form}'`;
  const keysToWrite = `${[...(isSame ? [] : [`signed: ${quoted}`]), ...keys].join(', ')}${instead}`;
  const now = isSame ? '' : say`, and this path expects ${own.signed}`;
  const stale = form.includes('{timestamp}') ? '' : unsignedTime(own);
  return {
    code: 'signed-content',
    text: say`the ${word} is right; the sender signed ${signed}${now}: ${write(keysToWrite, 'in verify of the mapping')}${stale}`,
  };
}

/** Whether what the path says of the header itself is right. */
function isSameShape(own: SignatureColumns, shape: SignatureColumns): boolean {
  const keys = ['header', 'algorithm', 'encoding', 'prefix', 'separator', 'signatureField'] as const;
  return keys.every((key) => own[key] === shape[key]);
}

/** A time that is not signed proves nothing, and where it is not sent it would still be asked for. */
function unsignedTime({ timestampHeader, timestampField, timestampMember }: SignatureColumns): Sentence {
  const named = Object.entries({ timestampHeader, timestampField, timestampMember }).flatMap(
    ([key, value]) => (value === undefined ? [] : [key]),
  );
  return named.length === 0 ? say`` : say`, and remove ${named.join(', ')}, which is not signed`;
}

const TIME = /^(?:\d{10}|\d{13}|\d{4}-\d{2}-\d{2}T[\d:.]{8,18}(?:Z|[+-]\d{2}:\d{2}))$/;

/** The time that the settings name, then what looks like one. */
function timesOf({ own, shape, request }: Trial): readonly Source[] {
  const named = own && namedTime(own, request);
  const found = findHeadersLike(request.rawHeaders, /time(stamp)?$|-ts$/, TIME).filter(
    ({ name }) => name !== own?.timestampHeader,
  );
  // A field of the list would still be looked for first.
  const instead = own?.timestampField === undefined ? undefined : 'timestampField';
  return [
    ...(named === undefined ? [] : [named]),
    ...found.map(({ name, text }) => ({ ...newTime({ timestampHeader: name }, text, own), instead })),
    ...itemTimes(own, shape, request),
  ];
}

function newTime(place: Partial<SignatureColumns>, text: string, own: SignatureColumns | undefined): Source {
  const unit = unitOf(text);
  const { timestampUnit = 'seconds' } = own ?? {};
  const isReadable = unit === 'seconds' || unit === 'milliseconds' || unit === 'iso8601';
  const columns = isReadable ? { ...place, timestampUnit: unit } : place;
  // Written even where it is the default, if the settings say another one.
  return { text, columns, write: unit === timestampUnit ? place : columns };
}

function namedTime(own: SignatureColumns, request: SignedRequest): Source | undefined {
  const text = writtenTime(own, request);
  if (text === undefined || (!TIME.test(text) && readTime(text, own.timestampUnit) === undefined))
    return undefined;
  const { timestampField, timestampHeader, timestampMember, timestampUnit } = own;
  const place = defined({ timestampField, timestampHeader, timestampMember });
  const { columns } = newTime(place, text, own);
  const unit = columns.timestampUnit ?? timestampUnit;
  const isSame = unit === (timestampUnit ?? 'seconds');
  return {
    text,
    columns: { ...place, ...defined({ timestampUnit: unit }) },
    write: isSame ? {} : defined({ timestampUnit: unit }),
  };
}

/** Times in the list that carries the signature: `t=1700000000,v1=…`. */
function itemTimes(
  own: SignatureColumns | undefined,
  { header, separator, assign = '=' }: SignatureColumns,
  { rawHeaders }: SignedRequest,
): readonly Source[] {
  const value = findHeader(rawHeaders, header);
  const named = own?.header === header ? own.timestampField : undefined;
  if (separator === undefined || typeof value !== 'string') return [];
  return value
    .split(separator)
    .slice(0, 8)
    .flatMap((item) => {
      const [name = '', text = ''] = item.trim().split(assign, 2);
      const isOther = name !== named && /^[a-z_]{1,20}$/i.test(name) && TIME.test(text);
      return isOther ? [newTime({ timestampField: name }, text, own)] : [];
    });
}

/** The id that the settings name, then what looks like one. */
function idsOf({ own, request }: Trial): readonly Source[] {
  const idHeader = own?.idHeader;
  const named = idHeader === undefined ? undefined : findHeader(request.rawHeaders, idHeader);
  const found = findHeadersLike(request.rawHeaders, /-(id|delivery|nonce)$/, SIGNED_ID).filter(
    ({ name }) => name !== idHeader,
  );
  return [
    ...(typeof named === 'string' && SIGNED_ID.test(named)
      ? [{ text: named, columns: defined({ idHeader }), write: {} }]
      : []),
    ...found.map(({ name, text }) => ({ text, columns: { idHeader: name }, write: { idHeader: name } })),
  ];
}
