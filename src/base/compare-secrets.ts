/** Comparisons of secrets and proofs, whose time tells nothing of what is compared. */
import { timingSafeEqual } from 'node:crypto';

/** Takes the same time whatever differs: where the length does, the own bytes are compared with themselves. */
export function isSameBytes(presented: Buffer, own: Buffer): boolean {
  const hasLength = presented.length === own.length;
  return timingSafeEqual(hasLength ? presented : own, own) && hasLength;
}

/** The same of texts, as UTF-8. */
export const isSameText = (presented: string, own: string): boolean =>
  isSameBytes(Buffer.from(presented, 'utf8'), Buffer.from(own, 'utf8'));

/** The place of the first key that fits, -1 for none. All are tried, so that the time does not tell which it was. */
export function placeOfFitting<Key>(keys: readonly Key[], fits: (key: Key) => boolean): number {
  let found = -1;
  for (let i = keys.length - 1; i >= 0; i -= 1) if (fits(keys[i] as Key)) found = i;
  return found;
}
