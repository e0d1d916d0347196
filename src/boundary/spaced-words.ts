import { foldWord } from './fold.ts';

/** What may stand between the letters of a word, and between words. */
export const GAP = '[ _.\\-]{0,4}';

/** A pattern for a word whose letters stand apart. */
export function spaced(word: string): string {
  return foldWord(word).split('').join(GAP);
}
