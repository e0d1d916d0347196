/* What to write in place of a condition on a header that carries the secret or the signature of a sender. */
import { isSecretPath } from '../document/document.ts';
import { adviseVerify, generalScheme } from './proofs/written-verify.ts';
export { writtenKey } from './proofs/written-verify.ts';
import { schemesOfHeader } from '../verify/facts.ts';

/** The sender that is known by such a header; undefined for any other header. */
export const provider = (header: string): string | undefined => schemesOfHeader(header)[0];

/** The block that judges such a header, and what else is to be done; undefined for a header that proves nothing. */
export function verifyInstead(header: string): string | undefined {
  const name = header.toLowerCase();
  const known = schemesOfHeader(name);
  if (known.length > 0) return adviseVerify(known, PLACE);
  if (name === 'authorization') return adviseVerify(['token'], PLACE);
  const isProof = /signature|hmac|api-?key/.test(name) || isSecretPath([name]);
  return isProof ? adviseVerify([generalScheme(name)], PLACE) : undefined;
}

const PLACE = 'beside match';
