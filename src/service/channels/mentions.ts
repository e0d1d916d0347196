/*
 * Keeps a Markdown text from notifying anybody on GitHub: who wrote the hook may have told the agent to. A zero-width
 * space takes the power from a mention. In code it is left out, as what is copied from there should run, and a
 * decorator or a package mentions nobody there. What is code is decided by rules narrower than Markdown's own (blocks
 * fenced with backticks at the margin, spans that begin and end in their line); where a text has anything that could
 * make GitHub see it otherwise, all of it counts as prose.
 */

const MENTION = /(?<![\p{L}\p{N}])(?:@|&#0*64;|&#x0*40;|&commat;)(?=[\p{L}\p{N}<&])/giu;
/** A text with HTML, an escaped backtick or a fence of another kind is all prose. */
const DOUBTFUL = /<[a-z/!?]|\\`|^ {1,3}```|~~~/im;
const FENCE = /^(`{3,})([^`]*)$/;

export function quietMentions(text: string): string {
  const pieces = DOUBTFUL.test(text) ? undefined : splitCode(text);
  if (pieces === undefined) return quiet(text);
  return pieces.map(({ isCode, text: piece }) => (isCode ? piece : quiet(piece))).join('');
}

const quiet = (text: string): string => text.replaceAll(MENTION, '$&\u200b');

interface TextPart {
  readonly isCode: boolean;
  readonly text: string;
}

/** Prose and code in turn; undefined where a span of code may go on beyond its line. */
function splitCode(text: string): readonly TextPart[] | undefined {
  const pieces: TextPart[] = [];
  let fence: string | undefined;
  for (const line of text.match(/[^\n]*\n|[^\n]+$/g) ?? []) {
    const mark = FENCE.exec(line.trimEnd())?.[1];
    if (fence !== undefined || mark !== undefined) {
      pieces.push({ isCode: true, text: line });
      if (fence === undefined) fence = mark;
      else if (mark !== undefined && mark.length >= fence.length && line.trim() === mark) fence = undefined;
      continue;
    }
    const spans = splitSpans(line);
    if (spans === undefined) return undefined;
    pieces.push(...spans);
  }
  return pieces;
}

/** A span ends at the next run of as many backticks. */
function splitSpans(line: string): readonly TextPart[] | undefined {
  const pieces: TextPart[] = [];
  const parts = line.split(/(`+)/);
  for (let at = 0; at < parts.length; at += 1) {
    const part = parts[at] ?? '';
    if (at % 2 === 0) {
      pieces.push({ isCode: false, text: part });
      continue;
    }
    const end = parts.indexOf(part, at + 1);
    if (end === -1 || end % 2 === 0) return undefined;
    pieces.push({ isCode: true, text: parts.slice(at, end + 1).join('') });
    at = end;
  }
  return pieces;
}
