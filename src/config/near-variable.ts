import { isOneEditApart } from '../document/document.ts';

/**
 * The variable that was probably meant by one that is not set: the same words in another order, one word more or less,
 * or one sign of one word changed. GITHUB_SECRET is no GITLAB_SECRET, and KEY_1 no KEY_2.
 */
export function nearVariable(name: string, set: readonly string[]): string | undefined {
  const words = wordsOf(name);
  if (words.length < 2) return undefined;
  return (
    set.find((other) => isSameWords(words, wordsOf(other))) ??
    set.find((other) => isOneWordSpelt(words, wordsOf(other))) ??
    set.find((other) => isOneWordLonger(words, wordsOf(other)) || isOneWordLonger(wordsOf(other), words))
  );
}

const wordsOf = (name: string): readonly string[] =>
  name
    .toUpperCase()
    .split('_')
    .filter((word) => word !== '');

const sorted = (words: readonly string[]): string => words.toSorted().join('_');

const isSameWords = (one: readonly string[], other: readonly string[]): boolean =>
  sorted(one) === sorted(other);

function isOneWordSpelt(one: readonly string[], other: readonly string[]): boolean {
  if (one.length !== other.length) return false;
  const different = one.filter((word, index) => word !== other[index]);
  const index = one.findIndex((word, at) => word !== other[at]);
  const [a = '', b = ''] = [one[index], other[index]];
  return different.length === 1 && Math.min(a.length, b.length) > 2 && isOneEditApart(a, b);
}

/** With a word for an older secret it is another one. */
function isOneWordLonger(short: readonly string[], long: readonly string[]): boolean {
  if (long.length !== short.length + 1) return false;
  const more = long.findIndex((word, index) => word !== short[index]);
  const [word = ''] = long.slice(more, more + 1);
  return (
    sorted(long.filter((_, index) => index !== more)) === sorted(short) &&
    !/^(?:OLD|PREVIOUS|LAST|TEST|\d+)$/.test(word)
  );
}
