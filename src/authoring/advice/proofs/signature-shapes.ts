/** Signatures as they stand in the headers of a request: which of them there are, and how they are written. */
import {
  decodeExactly,
  ENCODINGS,
  findHeadersLike,
  type HmacAlgorithm,
  type SignatureColumns,
} from '../../../engine/verify/facts.ts';
import { SIGNATURE_NAME } from '../../../base/telemetry/telemetry.ts';
import type { SignedRequest } from '../../../engine/verify/verify.ts';

/** Headers that are of the web, or name a thing: what has the form of a hash there is none. */
const NO_SIGNATURE =
  /^(?:accept|access|cache|cdn|cf|connection|content|cookie|date|digest|forwarded|host|if|origin|pragma|referer|repr|sec|te|upgrade|user-agent|via|want|x-amz|x-forwarded)(?:$|-)|(?:^|[-_])(?:agent|authorization|commit|delivery|etag|event|guid|id|key|nonce|parent|revision|sha|span\w*|token|trace\w*|uuid|version)$/;
/** What a request of a known or unknown sender carries at most. */
const MAX_SHAPES = 2;

/** Hashes with the bytes of their results. */
export const HASHES: readonly (readonly [HmacAlgorithm, number])[] = [
  ['sha1', 20],
  ['sha256', 32],
  ['sha384', 48],
  ['sha512', 64],
];

/** The hash whose results are as long. */
export function hashOf(signature: Buffer | undefined): HmacAlgorithm | undefined {
  return HASHES.find(([, length]) => length === signature?.length)?.[0];
}

/** The signatures of a request by their form alone; what is signed is not known of them. */
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

/** Whether somebody may be told to expect this, though nothing was proved. */
export const isSureShape = ({ header, prefix = '' }: SignatureColumns): boolean =>
  SIGNATURE_NAME.test(header) || /sha-?\d|hmac/i.test(prefix);

/** `sha1=<hex>`, `<base64>`, `t=1700000000,v1=<hex>` and the like. */
export function shapeOf(header: string, text: string): SignatureColumns | undefined {
  const form = formOf(text) ?? prefixedForm(text) ?? listForm(text);
  return form && { header, signed: '{body}', ...form };
}

type Form = Omit<SignatureColumns, 'header' | 'signed'>;

function formOf(text: string): Form | undefined {
  for (const encoding of ENCODINGS) {
    const hash = hashOf(decodeExactly(text, encoding));
    if (hash !== undefined) return { algorithm: `hmac-${hash}`, encoding };
  }
  return undefined;
}

/** What stands before a signature: `sha256=`, `v1,`, `Bearer `; empty where nothing does. */
const prefixOf = (text: string): string => /^[a-z][\w-]{0,30}(?:[=:,] ?| )/i.exec(text)?.[0] ?? '';

function prefixedForm(text: string): Form | undefined {
  const prefix = prefixOf(text);
  const form = prefix === '' ? undefined : formOf(text.slice(prefix.length));
  return form && { ...form, prefix };
}

function listForm(text: string): Form | undefined {
  for (const separator of [',', ';']) {
    for (const item of text.split(separator, 8)) {
      const [name = '', value = ''] = /^\s*([A-Za-z]\w{0,20})=(.+)$/.exec(item)?.slice(1) ?? [];
      const form = text.includes(separator) && name !== '' ? formOf(value.trim()) : undefined;
      if (form !== undefined) return { ...form, separator, signatureField: name };
    }
  }
  return undefined;
}
