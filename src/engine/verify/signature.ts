import { createHmac, type KeyObject, verify } from 'node:crypto';
import { isSameBytes, placeOfFitting } from '../../base/compare-secrets.ts';
import { decodeExactly } from './keys.ts';
import { findHeader, type HeaderValue, SEVERAL } from './find-header.ts';
import { type Proof, proofBy, type RefusalReason, refused } from './proof.ts';
import type { SignatureColumns, SignedRequest, TimestampUnit } from './scheme.ts';
import { type ContentPart, contentBytes } from './signed-content.ts';
import { readJsonMember } from './signed-fields.ts';

/** A header with more signatures than this is refused: providers send one for each secret that is still valid. */
const MAX_SIGNATURES = 8;
/** Without a full stop: `id.timestamp.body` could otherwise be cut at another place. */
export const SIGNED_ID = /^[\x21-\x2d\x2f-\x7e]{1,256}$/;

/** A way with a signature in a header, ready to judge requests. */
export interface SignatureJudge {
  readonly columns: SignatureColumns;
  readonly parts: readonly ContentPart[];
  /** The current key first. */
  readonly keys: readonly KeyObject[];
  readonly toleranceSeconds: number;
}

/** What the header and its companions say, before any key is tried. */
export interface PresentedSignature {
  readonly signatures: readonly Buffer[];
  readonly timestamp: string | undefined;
  readonly id: string | undefined;
}

/** Judges one request: reads the header, compares over the raw bytes, and then looks at the time. */
export function judgeSignature(judge: SignatureJudge, request: SignedRequest, nowMs: number): Proof {
  const presented = readPresented(judge.columns, judge.parts, request);
  if (typeof presented === 'string') return refused(presented);
  const { signatures, timestamp, id } = presented;
  const signedAtSeconds =
    timestamp === undefined ? undefined : readTime(timestamp, judge.columns.timestampUnit);
  const content = contentBytes(judge.parts, { ...request, timestamp, id });
  // Every key meets every signature whatever matched.
  const retired = placeOfFitting(judge.keys, (key) => signs(judge.columns, { key, content, signatures }));
  const { toleranceSeconds } = judge;
  return proofBy(retired, { atSeconds: signedAtSeconds, id }, { nowMs, toleranceSeconds });
}

interface SignatureComparison {
  readonly key: KeyObject;
  readonly content: readonly Buffer[];
  readonly signatures: readonly Buffer[];
}

function signs(columns: SignatureColumns, { key, content, signatures }: SignatureComparison): boolean {
  if (columns.algorithm === 'ed25519' || columns.algorithm === 'ecdsa-sha256') {
    const digest = columns.algorithm === 'ed25519' ? undefined : 'sha256';
    const bytes = content.length === 1 ? (content[0] as Buffer) : Buffer.concat(content);
    return signatures.filter((signature) => verify(digest, bytes, key, signature)).length > 0;
  }
  const expected = hmacOf(columns.algorithm, key, content);
  return signatures.filter((signature) => isSameBytes(signature, expected)).length > 0;
}

export function hmacOf(
  algorithm: `hmac-${string}`,
  key: KeyObject,
  content: readonly (Buffer | string)[],
): Buffer {
  const hmac = createHmac(algorithm.slice('hmac-'.length), key);
  for (const part of content) hmac.update(part);
  return hmac.digest();
}

/** Reads the header of the signature and what is signed with it, or says what is wrong with them. */
export function readPresented(
  columns: SignatureColumns,
  parts: readonly ContentPart[],
  request: SignedRequest,
): PresentedSignature | RefusalReason {
  const header = findHeader(request.rawHeaders, columns.header);
  if (header === undefined || header === '') return 'no-proof';
  if (header === SEVERAL) return 'malformed-proof';
  const items = readItems(columns, header);
  const signatures = readSignatures(columns, items);
  if (signatures === undefined) return 'malformed-proof';
  const timestamp = readTimestamp(columns, items, request);
  if (timestamp === 'no-timestamp' || timestamp === 'malformed-timestamp') return timestamp;
  const id = parts.some(({ kind }) => kind === 'id') ? readId(columns, request) : undefined;
  if (id === 'malformed-id') return id;
  return { signatures, timestamp, id };
}

interface HeaderItem {
  /** Empty where the header is no list. */
  readonly name: string;
  readonly value: string;
}

function readItems(columns: SignatureColumns, header: string): readonly HeaderItem[] {
  const { separator, assign = '=' } = columns;
  if (separator === undefined) return [{ name: '', value: header }];
  return header.split(separator).map((item) => {
    const trimmed = item.trim();
    const at = trimmed.indexOf(assign);
    return at < 0
      ? { name: trimmed, value: '' }
      : { name: trimmed.slice(0, at), value: trimmed.slice(at + assign.length) };
  });
}

/** All signatures of this scheme's version; items of other versions are passed over, as the providers ask for. */
function readSignatures(
  columns: SignatureColumns,
  items: readonly HeaderItem[],
): readonly Buffer[] | undefined {
  const { prefix = '', signatureField = '' } = columns;
  const own = items.filter(({ name }) => name === signatureField);
  if (own.length === 0 || own.length > MAX_SIGNATURES) return undefined;
  const signatures: Buffer[] = [];
  for (const { value } of own) {
    if (!value.startsWith(prefix)) return undefined;
    const bytes = decodeExactly(value.slice(prefix.length), columns.encoding);
    if (bytes === undefined) return undefined;
    signatures.push(bytes);
  }
  return signatures;
}

function readTimestamp(
  columns: SignatureColumns,
  items: readonly HeaderItem[],
  request: SignedRequest,
): string | undefined {
  const { timestampField, timestampHeader, timestampMember, timestampUnit } = columns;
  if ((timestampField ?? timestampHeader ?? timestampMember) === undefined) return undefined;
  const text = findTimestamp(columns, items, request);
  if (text === undefined) return 'no-timestamp';
  return text !== SEVERAL && readTime(text, timestampUnit) !== undefined ? text : 'malformed-timestamp';
}

/** The time of signing as it stands where the settings look for it, in whatever form. */
export function writtenTime(columns: SignatureColumns, request: SignedRequest): string | undefined {
  const header = findHeader(request.rawHeaders, columns.header);
  const items = typeof header === 'string' ? readItems(columns, header) : [];
  const text = findTimestamp(columns, items, request);
  return typeof text === 'string' ? text : undefined;
}

/** What stands where the scheme puts its time: in the signature's own header, in another one, or in the body. */
function findTimestamp(
  { timestampField, timestampHeader, timestampMember }: SignatureColumns,
  items: readonly HeaderItem[],
  request: SignedRequest,
): HeaderValue {
  if (timestampField !== undefined) {
    const own = items.filter(({ name }) => name === timestampField);
    return own.length > 1 ? SEVERAL : own[0]?.value;
  }
  if (timestampHeader !== undefined) return findHeader(request.rawHeaders, timestampHeader);
  return timestampMember === undefined ? undefined : readJsonMember(request.body, [timestampMember]);
}

function readId(columns: SignatureColumns, request: SignedRequest): string {
  const header = columns.idHeader === undefined ? '' : findHeader(request.rawHeaders, columns.idHeader);
  return typeof header === 'string' && SIGNED_ID.test(header) ? header : 'malformed-id';
}

/** RFC 3339, as Zendesk, Twitch and Box write the time of signing. */
const DATE_TIME = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(?:\.\d{1,9})?(?:Z|[+-]\d{2}:\d{2})$/;
const WHOLE_NUMBER = /^\d{1,13}$/;

/** Seconds since the epoch; undefined where the text is not written so. */
function readTime(text: string, unit: TimestampUnit = 'seconds'): number | undefined {
  if (unit !== 'iso8601') {
    if (!WHOLE_NUMBER.test(text)) return undefined;
    return unit === 'milliseconds' ? Number(text) / 1_000 : Number(text);
  }
  const ms = DATE_TIME.test(text) ? Date.parse(text) : Number.NaN;
  return Number.isNaN(ms) ? undefined : ms / 1_000;
}

export function writeTime(nowMs: number, unit: TimestampUnit = 'seconds'): string {
  if (unit === 'iso8601') return new Date(nowMs).toISOString();
  return String(unit === 'milliseconds' ? nowMs : Math.floor(nowMs / 1_000));
}

/** How a time is written, whatever the settings say: of digits their number tells it, in this and the next century. */
export function unitOf(text: string): TimestampUnit | undefined {
  if (DATE_TIME.test(text)) return 'iso8601';
  return /^\d{10}$/.test(text) ? 'seconds' : /^\d{13}$/.test(text) ? 'milliseconds' : undefined;
}
