import type { SignatureEncoding } from './scheme.ts';

/** All encodings of signatures. */
export const ENCODINGS = ['hex', 'base64', 'base64url'] as const satisfies readonly SignatureEncoding[];

const HEX = /^(?:[0-9a-f]{2})+$/i;

/** The bytes of a text, or undefined where it is not exactly one text of this encoding. */
export function decodeExactly(text: string, encoding: SignatureEncoding): Buffer | undefined {
  if (encoding === 'hex') return HEX.test(text) ? Buffer.from(text, 'hex') : undefined;
  const bytes = Buffer.from(text, encoding);
  // node skips what it does not know; only the text that these bytes are written as counts.
  return bytes.length > 0 && bytes.toString(encoding) === text ? bytes : undefined;
}
