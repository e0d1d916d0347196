import { isOneEditApart } from '../document/document.ts';

/**
 * The variable of those that are set that was probably meant by one that is not set, other than those that are used
 * already: the same words in another order, one word more or less, or one sign of one word changed. GITHUB_SECRET is no
 * GITLAB_SECRET, EU1_KEY no EU2_KEY, and what is meant for another stage is another one.
 */
export function nearVariable(
  name: string,
  others: readonly string[],
  used: readonly (string | undefined)[] = [],
): string | undefined {
  const words = wordsOf(name);
  if (words.length < 2) return undefined;
  const set = others.filter((other) => !used.includes(other));
  return (
    set.find((other) => isSameWords(words, wordsOf(other))) ??
    set.find((other) => isOneWordSpelt(words, wordsOf(other))) ??
    set.find((other) => isOneWordLonger(words, wordsOf(other)) || isOneWordLonger(wordsOf(other), words))
  );
}

/** Words that say what a variable is, and not whose. */
const COMMON: ReadonlySet<string> = new Set(
  'API APP AUTH BOT CLIENT DEV HOOK HOOKS KEY LIVE PRIVATE PROD PUBLIC SECRET SIGNING TEST TOKEN WEBHOOK WEBHOOKS'.split(
    ' ',
  ),
);

/** The one variable of the same owner as another, by the words of its name, that fits; of several only the nearest. */
export function variableThatFits(
  name: string,
  env: Readonly<Record<string, string | undefined>>,
  fits: (name: string, value: string) => boolean,
): string | undefined {
  const owner = wordsOf(name).filter((word) => !COMMON.has(word));
  if (owner.length === 0) return undefined;
  const found = Object.entries(env).flatMap(([other, value = '']) => {
    const shared = wordsOf(other).filter((word) => owner.includes(word)).length;
    return other !== name && value !== '' && shared > 0 && fits(other, value) ? [{ other, shared }] : [];
  });
  const most = Math.max(...found.map(({ shared }) => shared));
  const [best, ...more] = found.filter(({ shared }) => shared === most);
  return more.length > 0 ? undefined : best?.other;
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
  if (different.length !== 1 || Math.min(a.length, b.length) <= 2 || !isOneEditApart(a, b)) return false;
  return withoutDigits(a) !== withoutDigits(b) && !(OTHER_STAGE.test(a) && OTHER_STAGE.test(b));
}

const withoutDigits = (word: string): string => word.replaceAll(/\d/g, '');

/** Words that make another variable of one: of an older value, or of another stage of a service. */
const OTHER_STAGE =
  /^(?:OLD|PREVIOUS|LAST|TEST|TESTING|PROD|PRODUCTION|PREPROD|LIVE|STAGE|STAGING|STG|DEV|DEVELOPMENT|QA|UAT|SANDBOX|PREVIEW|DEMO|CANARY|LOCAL|CI|\d+)$/;

/** With a word for an older value or another stage it is another one. */
function isOneWordLonger(short: readonly string[], long: readonly string[]): boolean {
  if (long.length !== short.length + 1) return false;
  const more = long.findIndex((word, index) => word !== short[index]);
  const [word = ''] = long.slice(more, more + 1);
  return sorted(long.filter((_, index) => index !== more)) === sorted(short) && !OTHER_STAGE.test(word);
}
