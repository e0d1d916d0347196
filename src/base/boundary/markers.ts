/** Finds what imitates the markers of the boundary. */
import { GAP, spaced } from './fold.ts';
import type { Skeleton, Spoof } from './skeleton.ts';

const MARKER_REMARK = '[marker removed]';

const MARKER = new RegExp(
  [spaced('external'), `(?:${GAP}${spaced('untrusted')})?`, spaced('content')].join(GAP),
  'g',
);
/** What may stand between a marker's words and its closing brackets: nothing, or `id="…"`. */
const ATTRIBUTE = /^ ?(?:[a-z]{1,12} ?= ?["']?[^"'<>]{0,64}["']? ?)?$/;
/** The same behind words that stand alone. */
const ID = /^ ?[a-z]{1,12} ?= ?["']?[^"'<>=\r\n]{0,64}["']?/;
/** Two words of a sentence, or of a heading such as "External content". */
const PROSE = /^(?:[Ee]xternal [Cc]ontent|[Ee]xternal [Uu]ntrusted [Cc]ontent)$/;
const LINE_BREAK = /[\n\r\v\f\u0085\u2028\u2029]/;
const CLOSING: Readonly<Record<string, string>> = { '(': ')', '[': ']', '{': '}' };
/** Decoration round words that stand alone; a longer one is a drawing of its own. */
const MAX_DECORATION = 80;

/** A marker's words, END before them included, as a range of the skeleton. */
interface MarkerWords {
  readonly start: number;
  readonly end: number;
  readonly hasEnd: boolean;
}

/**
 * A marker's words count next to angle brackets: one `<` before them is enough; without it two `>` on the same line,
 * after nothing but an attribute (quoted mail has `>` at the start of its lines). END and the words count in brackets
 * of any kind, and words that are all there is on their line count with or without brackets, unless they are written
 * as in a sentence.
 */
export function findMarkers(text: string, skeleton: Skeleton): Spoof[] {
  const findings: Spoof[] = [];
  let searched = 0;
  for (const match of skeleton.folded.matchAll(MARKER)) {
    if (match.index < searched) continue;
    const words = wordsAt(skeleton.folded, match.index, {
      end: match.index + match[0].length,
      from: searched,
    });
    const found = markerAround(text, skeleton, { words, from: searched });
    searched = found?.end ?? words.end;
    if (found === undefined) continue;
    const { startOf, endOf } = skeleton;
    findings.push({ start: startOf(found.start), end: endOf(found.end - 1), remark: MARKER_REMARK });
  }
  return findings;
}

interface MarkerRange {
  readonly start: number;
  readonly end: number;
}

/** The words with the signs around them, where both together are a marker. Never looks before `from`. */
function markerAround(text: string, skeleton: Skeleton, found: WordsFrom): MarkerRange | undefined {
  return (
    findInAngles(text, skeleton, found) ??
    findInBrackets(skeleton, found.words, found.from) ??
    findAlone(text, skeleton, found.words)
  );
}

interface WordsFrom {
  readonly words: MarkerWords;
  readonly from: number;
}

/** The words at `index` with END before them, if it is there. Never looks before `from`. */
function wordsAt(folded: string, index: number, { end, from }: { end: number; from: number }): MarkerWords {
  const position = skipGapBefore(folded, index, from);
  const found = /e[ _.-]{0,4}n[ _.-]{0,4}d$/.exec(folded.slice(Math.max(from, position - 11), position));
  if (found === null) return { start: index, end, hasEnd: false };
  return { start: position - found[0].length, end, hasEnd: true };
}

function findInAngles(
  text: string,
  { folded, startOf, endOf }: Skeleton,
  { words, from }: WordsFrom,
): MarkerRange | undefined {
  const opening = openingBefore(folded, words.start, from);
  const closing = closingAfter(folded, words.end);
  if (opening === undefined) {
    if (closing.brackets < 2 || !ATTRIBUTE.test(folded.slice(words.end, closing.start))) return undefined;
    if (/[\r\n]/.test(text.slice(endOf(words.end - 1), startOf(closing.start)))) return undefined;
  }
  return { start: opening ?? words.start, end: closing.brackets === 0 ? words.end : closing.end };
}

/** Where the run of `<` begins that opens a marker whose words begin at `index`. */
function openingBefore(folded: string, index: number, from: number): number | undefined {
  let position = skipGapBefore(folded, index, from);
  let bracket: number | undefined;
  while (position > from && (folded[position - 1] === '<' || folded[position - 1] === ' ')) {
    position -= 1;
    if (folded[position] === '<') bracket = position;
  }
  return bracket;
}

function skipGapBefore(folded: string, index: number, from: number): number {
  let position = index;
  while (position > from && ' _.-/"\''.includes(folded[position - 1] ?? '?')) position -= 1;
  return position;
}

/** The closing brackets after a marker's words, with an attribute of at most 120 characters between. */
function closingAfter(
  folded: string,
  index: number,
): { readonly start: number; readonly end: number; readonly brackets: number } {
  let position = index;
  const limit = Math.min(folded.length, index + 120);
  while (position < limit && folded[position] !== '>' && folded[position] !== '<') position += 1;
  const start = position;
  let end = index;
  let brackets = 0;
  while (position < folded.length && (folded[position] === '>' || folded[position] === ' ')) {
    if (folded[position] === '>') {
      brackets += 1;
      end = position + 1;
    }
    position += 1;
  }
  return { start, end, brackets };
}

/** END and the words in round, square or curly brackets, one or several. */
function findInBrackets({ folded }: Skeleton, words: MarkerWords, from: number): MarkerRange | undefined {
  if (!words.hasEnd) return undefined;
  let start = skipGapBefore(folded, words.start, from);
  const closing = CLOSING[folded[start - 1] ?? ''];
  if (closing === undefined || start <= from) return undefined;
  let end = words.end + (ID.exec(folded.slice(words.end, words.end + 120))?.[0].length ?? 0);
  while (end < folded.length && ' _.-/"\''.includes(folded[end] ?? '?') && end - words.end < 128) end += 1;
  if (folded[end] !== closing) return undefined;
  const opening = folded[start - 1];
  while (start > from && folded[start - 1] === opening && words.start - start < MAX_DECORATION) start -= 1;
  while (folded[end] === closing && end - words.end < 128 + MAX_DECORATION) end += 1;
  return { start, end };
}

/** Words with nothing but signs, and perhaps an id, between them and the ends of their line. */
function findAlone(text: string, skeleton: Skeleton, words: MarkerWords): MarkerRange | undefined {
  const { folded, startOf, endOf } = skeleton;
  const written = text.slice(startOf(words.start), endOf(words.end - 1));
  if (PROSE.test(written) && !isBracketed(folded, words)) return undefined;
  const start = lineStart(text, skeleton, words.start);
  const id = ID.exec(folded.slice(words.end, words.end + 120))?.[0].length ?? 0;
  const end = lineEnd(text, skeleton, words.end + id);
  return start === undefined || end === undefined ? undefined : { start, end };
}

function isBracketed(folded: string, { start, end }: MarkerWords): boolean {
  const closing = CLOSING[folded[start - 1] ?? ''];
  return closing !== undefined && folded[end] === closing;
}

/** Where a line begins that has only signs before `index`; undefined where it has more. */
function lineStart(text: string, skeleton: Skeleton, index: number): number | undefined {
  for (let at = index; at >= Math.max(0, index - MAX_DECORATION); at -= 1) {
    if (at === 0 || breaksLine(text, skeleton, at - 1)) return at;
    if (!isSign(text, skeleton, at - 1)) return undefined;
  }
  return undefined;
}

function lineEnd(text: string, skeleton: Skeleton, index: number): number | undefined {
  for (let at = index; at <= index + MAX_DECORATION; at += 1) {
    if (at >= skeleton.folded.length || breaksLine(text, skeleton, at)) return at;
    if (!isSign(text, skeleton, at)) return undefined;
  }
  return undefined;
}

function breaksLine(text: string, { folded, startOf }: Skeleton, at: number): boolean {
  return folded[at] === ' ' && LINE_BREAK.test(text.slice(startOf(at), startOf(at + 1)));
}

/** No letter and no digit. */
function isSign(text: string, { folded, startOf, endOf }: Skeleton, at: number): boolean {
  const character = folded[at] ?? '';
  if (/[a-z0-9]/.test(character)) return false;
  return character < '\x7f' || !/[\p{L}\p{N}]/u.test(text.slice(startOf(at), endOf(at)));
}
