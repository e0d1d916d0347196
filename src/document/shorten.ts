/** A text of at most so many characters, as messages quote one; what was cut ends in a sign. */
export function shorten(text: string, limit = 80): string {
  return text.length > limit ? `${text.slice(0, limit - 1)}…` : text;
}
