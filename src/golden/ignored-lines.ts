/** `# sluice-coverage ignore: reason` in YAML, with `//` in transforms. Without a reason it is no such comment. */
const IGNORE = /(?:#|\/\/)[ \t]*sluice-coverage ignore:[ \t]*(\S.*?)[ \t]*(?:\*\/)?$/;
const COMMENT_ONLY = /^[ \t]*(?:#|\/\/)/;

/**
 * Lines (1-based) that coverage leaves out, with the reason that is given: the line with the comment, or, where
 * the comment stands alone, the next line that holds more than a comment.
 */
export function findIgnoredLines(text: string): ReadonlyMap<number, string> {
  const ignored = new Map<number, string>();
  let waiting: string | undefined;
  for (const [index, line] of text.split(/\r\n|\n|\r/).entries()) {
    const reason = IGNORE.exec(line)?.[1];
    if (COMMENT_ONLY.test(line)) {
      waiting = reason ?? waiting;
      continue;
    }
    const given = reason ?? waiting;
    if (given !== undefined && line.trim() !== '') {
      ignored.set(index + 1, given);
      waiting = undefined;
    }
  }
  return ignored;
}
