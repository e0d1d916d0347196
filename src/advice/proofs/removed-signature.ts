/** Signatures that are left out of files: what stays is where one stood, and how it was written. */
import { decodeExactly, ENCODINGS } from '../../verify/facts.ts';
import { HASHES, hashOf } from './signature-shapes.ts';

/** Long texts in the letters of hex and base64. */
const CODED = /[A-Za-z0-9+/_-]{27,200}={0,2}/g;
const REMOVED = /\[removed: (\d{2,3}) of (hex|base64|base64url)\]/g;
/** What may stand around a signature: names of its fields, a time, a prefix. */
const AROUND = /^[\w .:=,;"-]{0,60}$/;

/** `sha256=[removed: 64 of hex]`; of a text without a signature nothing stays. */
export function withoutSignature(text: string): string {
  const left = text.replaceAll(CODED, (coded) => {
    const encoding = ENCODINGS.find((each) => hashOf(decodeExactly(coded, each)) !== undefined);
    return encoding === undefined ? coded : `[removed: ${coded.length} of ${encoding}]`;
  });
  const isForm = left !== text || text.search(REMOVED) !== -1;
  return isForm && AROUND.test(left.replaceAll(REMOVED, '')) ? left : '[removed]';
}

/** A header as it was, with a signature of the same form in place of the one that was removed. */
export function withStandIn(text: string): string {
  return text.replaceAll(REMOVED, (removed, length: string, encoding: BufferEncoding) => {
    const written = HASHES.map(([, bytes]) => Buffer.alloc(bytes).toString(encoding));
    return written.find((each) => each.length === Number(length)) ?? removed;
  });
}
