import type { KeyObject } from 'node:crypto';
import { defined } from '../json.ts';
import type { Diagnosis } from './diagnosis.ts';
import { findHeader } from './find-header.ts';
import { readKey } from './keys.ts';
import type { SignatureColumns, SignedRequest } from './scheme.ts';
import { findKey, type PresentedSignature, readPresented, SIGNED_ID, valuesOf } from './signature.ts';
import { compileContent, contentBytes } from './signed-content.ts';

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
  '{url}{timestamp}{body}',
  '{method}{url}{body}',
  '{method}{url}{body}{timestamp}',
] as const;

/** What is tried as the time and as the id: a sender has one of each, a proxy may add another. */
const MAX_SOURCES = 2;
/** The current secret and the one before it: with all forms, those of the address too, that is about 150 signatures, so 20 ms at most. */
const MAX_KEYS = 2;

/** Where a value stands, as keys of `verify`; empty where the settings name it already. */
interface Source {
  readonly text: string;
  readonly keys: string;
}

/** The usual texts that are signed, tried with the keys of the path: says which of them fits, with what to write. */
export function explainContent(
  columns: SignatureColumns,
  secrets: readonly string[],
  request: SignedRequest,
): Diagnosis | undefined {
  const { signatureField, separator, assign } = columns;
  const own = defined({ signatureField, separator, assign });
  const { algorithm, header, encoding, prefix = '', signed } = columns;
  const presented = readPresented({ algorithm, header, encoding, prefix, signed, ...own }, [], request);
  if (typeof presented === 'string') return undefined;
  const keys = secrets.slice(0, MAX_KEYS).flatMap((secret) => {
    const read = readKey(columns, secret);
    return read.kind === 'key' ? [read.key] : [];
  });
  return findForm({ columns, keys, request, signatures: presented.signatures });
}

interface Trial {
  readonly columns: SignatureColumns;
  readonly keys: readonly KeyObject[];
  readonly request: SignedRequest;
  readonly signatures: PresentedSignature['signatures'];
}

function findForm(trial: Trial): Diagnosis | undefined {
  const { columns, request } = trial;
  const times = timesOf(columns, request).slice(0, MAX_SOURCES);
  const ids = idsOf(columns, request).slice(0, MAX_SOURCES);
  for (const form of FORMS) {
    if (form.includes('{url}') && request.url === '') continue;
    for (const time of form.includes('{timestamp}') ? times : [undefined]) {
      for (const id of form.includes('{id}') ? ids : [undefined]) {
        if (fits(trial, form, { timestamp: time?.text, id: id?.text }))
          return told(columns, form, [time, id]);
      }
    }
  }
  return undefined;
}

function fits(trial: Trial, form: string, values: Pick<PresentedSignature, 'timestamp' | 'id'>): boolean {
  const { request, signatures } = trial;
  const content = contentBytes(compileContent(form), valuesOf(request, { signatures, ...values }));
  return findKey(trial, content, signatures) >= 0;
}

function told(columns: SignatureColumns, form: string, sources: readonly (Source | undefined)[]): Diagnosis {
  const written = form.includes('\n') ? `"${form.replace('\n', String.raw`\n`)}"` : `'${form}'`;
  const keys = sources.flatMap((source) => (source === undefined || source.keys === '' ? [] : [source.keys]));
  const isSame = form === columns.signed;
  const write = [...(isSame ? [] : [`signed: ${written}`]), ...keys].join(', ');
  const now = isSame ? '' : `, and this path expects ${columns.signed}`;
  const stale = form.includes('{timestamp}') ? '' : unsignedTime(columns);
  return {
    code: 'signed-content',
    text: `the ${columns.algorithm.startsWith('hmac-') ? 'secret' : 'key'} is right; the sender signed ${written.slice(1, -1)}${now}: write ${write} in verify of the mapping${stale}`,
  };
}

/** A time that is not signed proves nothing, and where it is not sent it would still be asked for. */
function unsignedTime({ timestampHeader, timestampField, timestampMember }: SignatureColumns): string {
  const named = Object.entries({ timestampHeader, timestampField, timestampMember }).flatMap(
    ([key, value]) => (value === undefined ? [] : [key]),
  );
  return named.length === 0 ? '' : `, and remove ${named.join(', ')}, which is not signed`;
}

const TIME = /^\d{10,13}$/;

/** The time that the settings name, then what looks like one. */
function timesOf(columns: SignatureColumns, request: SignedRequest): readonly Source[] {
  const named = namedTime(columns, request);
  const found = headersLike(request, /time(stamp)?$|-ts$/i, TIME).filter(
    ({ name }) => name !== columns.timestampHeader,
  );
  // A field of the list would still be looked for first.
  const instead = columns.timestampField === undefined ? '' : ' in place of timestampField';
  return [
    ...(named === undefined ? [] : [{ text: named, keys: '' }]),
    ...found.map(({ name, text }) => ({
      text,
      keys: `timestampHeader: ${name}${instead}${unitOf(columns, text)}`,
    })),
    ...itemTimes(columns, request),
  ];
}

/** The unit of a time, where the settings say another one: milliseconds have three digits more. */
function unitOf({ timestampUnit = 'seconds' }: SignatureColumns, text: string): string {
  const unit = text.length === 13 ? 'milliseconds' : 'seconds';
  return unit === timestampUnit ? '' : `, timestampUnit: ${unit}`;
}

function namedTime(columns: SignatureColumns, request: SignedRequest): string | undefined {
  const presented = readPresented(columns, [], request);
  return typeof presented === 'string' ? undefined : presented.timestamp;
}

/** Times in the list that carries the signature: `t=1700000000,v1=…`. */
function itemTimes(columns: SignatureColumns, { rawHeaders }: SignedRequest): readonly Source[] {
  const { separator, assign = '=', timestampField } = columns;
  const header = findHeader(rawHeaders, columns.header);
  if (separator === undefined || typeof header !== 'string') return [];
  return header
    .split(separator)
    .slice(0, 8)
    .flatMap((item) => {
      const [name = '', text = ''] = item.trim().split(assign, 2);
      const isOther = name !== timestampField && /^[a-z_]{1,20}$/i.test(name) && TIME.test(text);
      return isOther ? [{ text, keys: `timestampField: ${name}${unitOf(columns, text)}` }] : [];
    });
}

/** The id that the settings name, then what looks like one. */
function idsOf(columns: SignatureColumns, request: SignedRequest): readonly Source[] {
  const { idHeader } = columns;
  const named = idHeader === undefined ? undefined : findHeader(request.rawHeaders, idHeader);
  const found = headersLike(request, /-(id|delivery|nonce)$/i, SIGNED_ID).filter(
    ({ name }) => name !== idHeader,
  );
  return [
    ...(typeof named === 'string' && SIGNED_ID.test(named) ? [{ text: named, keys: '' }] : []),
    ...found.map(({ name, text }) => ({ text, keys: `idHeader: ${name}` })),
  ];
}

/** Names looked up at most: a sender chooses how many headers it sends, and each is looked for among all. */
const MAX_CANDIDATES = 4 * MAX_SOURCES;

/** Headers with such a name and such a value, the first few; a name that is there twice counts as none. */
function headersLike({ rawHeaders }: SignedRequest, names: RegExp, values: RegExp) {
  const found: { name: string; text: string }[] = [];
  const seen = new Set<string>();
  for (let at = 0; at < rawHeaders.length; at += 2) {
    if (found.length === MAX_SOURCES || seen.size === MAX_CANDIDATES) break;
    const name = (rawHeaders[at] as string).toLowerCase();
    if (seen.has(name) || !names.test(name)) continue;
    seen.add(name);
    const text = findHeader(rawHeaders, name);
    if (typeof text === 'string' && values.test(text)) found.push({ name, text });
  }
  return found;
}
