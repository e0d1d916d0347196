/** `a, b and c`. */
export function inWords(parts: readonly string[]): string {
  return new Intl.ListFormat('en-GB').format(parts);
}
