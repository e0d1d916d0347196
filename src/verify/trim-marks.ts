const SPACE = /\s/;

/** A text without white space and these marks at its ends; linear, for texts that a stranger chose. */
export function trimMarks(text: string, before: string, after = before): string {
  const isMark = (at: number, marks: string): boolean => {
    const char = text.charAt(at);
    return marks.includes(char) || SPACE.test(char);
  };
  let start = 0;
  let end = text.length;
  while (start < end && isMark(start, before)) start += 1;
  while (end > start && isMark(end - 1, after)) end -= 1;
  return text.slice(start, end);
}
