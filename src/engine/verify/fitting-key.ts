import { timingSafeEqual } from 'node:crypto';

/** The place of the first key that fits, -1 for none. All are tried, so that the time does not tell which it was. */
export function placeOfFitting<Key>(keys: readonly Key[], fits: (key: Key) => boolean): number {
  let found = -1;
  for (let i = keys.length - 1; i >= 0; i -= 1) if (fits(keys[i] as Key)) found = i;
  return found;
}

/** Takes the same time whatever differs, but for the length. */
export function isSameBytes(a: Buffer, b: Buffer): boolean {
  return a.length === b.length && timingSafeEqual(a, b);
}
