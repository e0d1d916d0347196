/** Words longer than this are not compared. */
const MAX_WORD = 64;

/**
 * The candidate nearest to a mistyped word, or undefined where none is near: the same word in other letter case or
 * spelling (`max_body_bytes`), or at most a third of its letters changed, left out, added or swapped.
 */
export function didYouMean(word: string, candidates: Iterable<string>): string | undefined {
  if (word.length > MAX_WORD) return undefined;
  const plain = spelling(word);
  const limit = Math.max(1, Math.floor(Math.max(plain.length, 3) / 3));
  let best: { candidate: string; distance: number } | undefined;
  for (const candidate of candidates) {
    if (candidate.length > MAX_WORD) continue;
    const other = spelling(candidate);
    // At least the difference in length is changed.
    if (Math.abs(other.length - plain.length) > limit) continue;
    const distance = editDistance(plain, other);
    if (distance <= limit && distance < (best?.distance ?? Number.POSITIVE_INFINITY))
      best = { candidate, distance };
  }
  return best?.candidate;
}

/** The only candidate that begins or ends with the word, or that the word begins with: `tolerance` for `toleranceSeconds`. */
export function longerWord(word: string, candidates: Iterable<string>): string | undefined {
  const plain = spelling(word);
  if (plain.length < 3 || plain.length > MAX_WORD) return undefined;
  const found = [...candidates].filter((candidate) => {
    const other = spelling(candidate);
    const isPart = other.startsWith(plain) || other.endsWith(plain) || plain.startsWith(other);
    return other.length >= 4 && isPart;
  });
  return found.length === 1 ? found[0] : undefined;
}

/** A word without what only styles of writing differ in: `userName`, `user_name` and `User-Name` are one. */
export function spelling(word: string): string {
  return word.toLowerCase().replaceAll(/[-_\s]/g, '');
}

/** Optimal string alignment distance: insertions, deletions, substitutions and swaps of neighbours; O(n * m). */
function editDistance(a: string, b: string): number {
  let beforePrevious: number[] = [];
  let previous = Array.from({ length: b.length + 1 }, (_, j) => j);
  for (let i = 1; i <= a.length; i += 1) {
    const row = [i];
    for (let j = 1; j <= b.length; j += 1) {
      const change = a[i - 1] === b[j - 1] ? 0 : 1;
      let cost = Math.min((previous[j] ?? 0) + 1, (row[j - 1] ?? 0) + 1, (previous[j - 1] ?? 0) + change);
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]) {
        cost = Math.min(cost, (beforePrevious[j - 2] ?? 0) + 1);
      }
      row.push(cost);
    }
    beforePrevious = previous;
    previous = row;
  }
  return previous[b.length] ?? 0;
}
