/** `a, b and c`, or `a, b or c`. */
export function inWords(parts: readonly string[], joint: 'and' | 'or' = 'and'): string {
  const type = joint === 'and' ? 'conjunction' : 'disjunction';
  return new Intl.ListFormat('en-GB', { type }).format(parts);
}
