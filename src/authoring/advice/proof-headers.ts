/** What other folders ask of proofs and their headers. */
import { findCarried, shapesOf, HASHES, hashOf } from './proofs/signatures.ts';
import { type Sender, shippedSenders } from '../../engine/senders/senders.ts';
import { decodeExactly, ENCODINGS } from '../../engine/verify/facts.ts';
import { REMOVED } from '../../base/telemetry/telemetry.ts';

export { carriesSignature } from './proofs/signatures.ts';
export { writtenKey } from './proofs/written-verify.ts';
export { deliveryHeaders } from './vocabulary/senders.ts';

type Headers = Readonly<Record<string, string>>;

/** Returns the senders whose proof a request carries, by the names and forms of headers. */
export const sendersOf = (headers: Headers): readonly Sender[] =>
  findCarried(Object.entries(headers).flat(), shippedSenders())?.senders ?? [];

/** Describes the signature of an unknown sender in keys of the general scheme. What is signed cannot be seen. */
export function unknownSignature(headers: Headers): Sender['verify'] {
  const shape = shapesOf({ rawHeaders: Object.entries(headers).flat() })[0];
  if (shape === undefined || !shape.algorithm.startsWith('hmac-')) return undefined;
  const { algorithm, signed: _signed, encoding, ...keys } = shape;
  const hash = algorithm.replace('hmac-', '') as 'sha1' | 'sha256' | 'sha384' | 'sha512';
  return {
    scheme: 'hmac',
    ...keys,
    ...(hash === 'sha256' ? {} : { algorithm: hash }),
    ...(encoding === 'hex' ? {} : { encoding }),
  };
}

const CODED = /[A-Za-z0-9+/_-]{27,200}={0,2}/g;
const REMOVED_SIGNATURE = /\[removed: (\d{2,3}) of (hex|base64|base64url)\]/g;
const AROUND = /^[\w .:=,;"-]{0,60}$/;

/** Returns `sha256=[removed: 64 of hex]`, and an empty text where there is no signature. */
export function withoutSignature(text: string): string {
  const left = text.replaceAll(CODED, (coded) => {
    const encoding = ENCODINGS.find((each) => hashOf(decodeExactly(coded, each)) !== undefined);
    return encoding === undefined ? coded : `[removed: ${coded.length} of ${encoding}]`;
  });
  const isForm = left !== text || text.search(REMOVED_SIGNATURE) !== -1;
  return isForm && AROUND.test(left.replaceAll(REMOVED_SIGNATURE, '')) ? left : REMOVED;
}

/** Puts a signature of the same form in place of the one that was removed. */
export function withStandIn(text: string): string {
  return text.replaceAll(REMOVED_SIGNATURE, (removed, length: string, encoding: BufferEncoding) => {
    const written = HASHES.map(([, bytes]) => Buffer.alloc(bytes).toString(encoding));
    return written.find((each) => each.length === Number(length)) ?? removed;
  });
}
