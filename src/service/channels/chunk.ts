/*
 * Cuts a reply into messages. A cut is made at the last paragraph, line, sentence or word boundary of the space that
 * is left, in this order, provided the chunk is then at least a third full; else at the last boundary of any of these
 * kinds; else (a word longer than a message) between two graphemes. A grapheme longer than a whole message is cut
 * between code points: the only case in which one is.
 *
 * Nothing but the white space at a cut is lost: outside code the run of white space there (the indentation of the
 * line that follows is kept), inside a fenced code block one line break. A cut inside a code block adds its closing
 * fence to the chunk and its opening fence, with the language, to the next one; both count towards the limit.
 *
 * Every window is scanned once and a window after a short chunk holds no earlier boundary, so the work is linear.
 */
import assert from 'node:assert/strict';

/** One chunk: `open + text.slice(start, end) + close`; between two pieces the text has only white space. */
export interface Piece {
  readonly start: number;
  readonly end: number;
  /** The fence that is opened again before this piece, with its line break; usually empty. */
  readonly open: string;
  /** The fence that is closed after this piece, with its line break; usually empty. */
  readonly close: string;
}

/** A fenced code block. Offsets are UTF-16 units; an unclosed block reaches to the end of the text. */
interface Fence {
  readonly openStart: number;
  readonly contentStart: number;
  readonly closeStart: number;
  readonly closeEnd: number;
  readonly open: string;
  readonly close: string;
}

interface FenceOpening extends Pick<Fence, 'openStart' | 'contentStart' | 'open'> {
  readonly mark: string;
}

/** A place to cut: the chunk ends before `end`, the next begins at `next`. */
interface CutPlace {
  readonly end: number;
  readonly next: number;
}

const RANKS = { paragraph: 0, line: 1, sentence: 2, word: 3 } as const;
const FENCE_LINE = /^( {0,3})(`{3,}|~{3,})([^\n]*)$/gm;
const SENTENCE_END = /[.!?…。！？]["'”’)\]]?$/;
const FULL_WIDTH_END = /[。！？]/;
/** Every position of such text is a grapheme boundary (no CR: CR LF is one grapheme). */
const PLAIN_ASCII = /^[\n\t\x20-\x7e]*$/;
/** Units behind a window that decide whether its last boundary is one. */
const LOOKAHEAD = 16;

/**
 * Cuts `text` into chunks of at most `maxChars` UTF-16 units; none is blank, and a blank text has none. A text that
 * fits is returned as it is.
 */
export function chunkText(text: string, maxChars: number): string[] {
  return cutText(text, maxChars).map(
    (piece) => piece.open + text.slice(piece.start, piece.end) + piece.close,
  );
}

export function cutText(text: string, maxChars: number): Piece[] {
  assert(Number.isInteger(maxChars) && maxChars >= 2, 'a message has space for one code point');
  if (text.trim() === '') return [];
  if (text.length <= maxChars) return [{ start: 0, end: text.length, open: '', close: '' }];
  const fences = findFences(text, maxChars);
  const textEnd = trimmedEnd(text);
  const pieces: Piece[] = [];
  let fenceIndex = 0;
  let start = skipBlankLines(text, 0);
  while (start < textEnd) {
    while ((fences[fenceIndex]?.closeEnd ?? Infinity) <= start) fenceIndex += 1;
    const fence = fences[fenceIndex];
    const open = fence && start >= fence.contentStart && start < fence.closeStart ? fence.open : '';
    const space = maxChars - open.length;
    if (textEnd - start <= space) {
      pieces.push({ start, end: textEnd, open, close: '' });
      break;
    }
    const { cut, close } = chooseCut(text, { start, space, fences, fenceIndex });
    assert(cut.end > start, 'a chunk takes at least one code point');
    if (open === '' && close === '' && text.slice(start, cut.end).trim() === '') {
      // Indentation as long as a message is left out.
      start = cut.end;
      continue;
    }
    pieces.push({ start, end: cut.end, open, close });
    start = close === '' ? skipBlankLines(text, cut.next) : cut.next;
  }
  return pieces;
}

interface Window {
  readonly start: number;
  readonly space: number;
  readonly fences: readonly Fence[];
  /** The first fence that ends after `start`. */
  readonly fenceIndex: number;
}

function chooseCut(text: string, window: Window): { cut: CutPlace; close: string } {
  const { start, space } = window;
  const isBoundary = graphemeBoundaries(text, start, space);
  const best: (CutPlace | undefined)[] = [undefined, undefined, undefined, undefined];
  const offer = (rank: number, end: number, next: number): void => {
    if (end > start && isBoundary(end) && (next - start > space || isBoundary(next)))
      best[rank] = { end, next };
  };
  let fenceIndex = window.fenceIndex;
  for (let at = start + 1; at <= start + space; at += 1) {
    while ((window.fences[fenceIndex]?.closeEnd ?? Infinity) <= at) fenceIndex += 1;
    const fence = window.fences[fenceIndex];
    if (fence && at >= fence.openStart) {
      const inContent = at > fence.contentStart && at < fence.closeStart;
      if (inContent && at - start <= space - fence.close.length) offerInCode(text, at, offer);
    } else offerInProse(text, at, offer);
  }
  const cut = bestOf(best, start + space / 3) ?? cutBetweenGraphemes(text, window, isBoundary);
  return { cut, close: fenceAt(window, cut.end)?.close ?? '' };
}

/** The first cut by rank that fills the chunk up to `enough`, else the cut that fills it most. */
function bestOf(cuts: readonly (CutPlace | undefined)[], enough: number): CutPlace | undefined {
  return (
    cuts.find((cut) => cut !== undefined && cut.end >= enough) ??
    cuts.reduce((far, cut) => ((cut?.end ?? 0) > (far?.end ?? 0) ? cut : far), undefined)
  );
}

type OfferCut = (rank: number, end: number, next: number) => void;

function offerInProse(text: string, at: number, offer: OfferCut): void {
  if (!isSpace(text, at)) {
    if (FULL_WIDTH_END.test(text[at - 1] ?? '')) offer(RANKS.sentence, at, at);
    return;
  }
  if (isSpace(text, at - 1)) return;
  let next = at;
  let lines = 0;
  let lineStart = at;
  while (next < text.length && isSpace(text, next)) {
    if (text[next] === '\n') {
      lines += 1;
      lineStart = next + 1;
    }
    next += 1;
  }
  if (lines > 1) offer(RANKS.paragraph, at, lineStart);
  else if (lines === 1) offer(RANKS.line, at, lineStart);
  else offer(SENTENCE_END.test(text.slice(Math.max(0, at - 2), at)) ? RANKS.sentence : RANKS.word, at, next);
}

function offerInCode(text: string, at: number, offer: OfferCut): void {
  if (text[at] === '\n') offer(RANKS.line, text[at - 1] === '\r' ? at - 1 : at, at + 1);
  else if (text[at - 1] === ' ') offer(RANKS.word, at, at);
}

/** A fence around a position inside its content, where a cut has to close it. */
function fenceAt(window: Window, at: number): Fence | undefined {
  for (let index = window.fenceIndex; index < window.fences.length; index += 1) {
    const fence = window.fences[index];
    if (fence === undefined || fence.openStart >= at) return undefined;
    if (at < fence.closeEnd) return fence;
  }
  return undefined;
}

/**
 * The cut where the window holds no boundary of any kind: it is one word of prose, or one of a code block that began
 * before it and goes on behind it, since the ends of a block's lines would be boundaries.
 */
function cutBetweenGraphemes(text: string, window: Window, isBoundary: (at: number) => boolean): CutPlace {
  const { start, space } = window;
  const limit = start + space - (fenceAt(window, start + space)?.close.length ?? 0);
  for (let at = limit; at > start; at -= 1) if (isBoundary(at)) return { end: at, next: at };
  const inPair = isHighSurrogate(text, limit - 1) && isLowSurrogate(text, limit);
  const end = inPair ? limit - 1 : limit;
  return { end, next: end };
}

/** Says where grapheme boundaries are within `space` units after `start`, which counts as one. */
function graphemeBoundaries(text: string, start: number, space: number): (at: number) => boolean {
  const window = text.slice(start, start + space + LOOKAHEAD);
  if (PLAIN_ASCII.test(window)) return () => true;
  const boundaries = new Uint8Array(window.length + 1);
  for (const { index } of new Intl.Segmenter('und', { granularity: 'grapheme' }).segment(window)) {
    boundaries[index] = 1;
  }
  if (start + window.length === text.length) boundaries[window.length] = 1;
  return (at) => boundaries[at - start] === 1;
}

/** Code blocks whose fences leave at least half a message for code; others are cut like prose. */
function findFences(text: string, maxChars: number): Fence[] {
  const fences: Fence[] = [];
  let opening: FenceOpening | undefined;
  for (const match of text.matchAll(FENCE_LINE)) {
    const [line, , mark = '', rest = ''] = match;
    if (opening === undefined) opening = readOpening(match, maxChars);
    else if (mark[0] === opening.mark[0] && mark.length >= opening.mark.length && rest.trim() === '') {
      const close = `\n${line.trimEnd()}`;
      if (opening.open.length + close.length > maxChars / 2) continue;
      fences.push({
        ...opening,
        closeStart: match.index,
        closeEnd: match.index + line.trimEnd().length,
        close,
      });
      opening = undefined;
    }
  }
  if (opening) fences.push(unclosed(opening, text.length + 1));
  return fences;
}

/** A block that nothing closes before the end of the text. */
function unclosed(opening: FenceOpening, end: number): Fence {
  return { ...opening, closeStart: end, closeEnd: end, close: `\n${opening.mark}` };
}

/** The beginning of a code block; undefined where the line is none, or leaves too little space for code. */
function readOpening(match: RegExpExecArray, maxChars: number): FenceOpening | undefined {
  const [line, , mark = '', rest = ''] = match;
  if (mark.startsWith('`') && rest.includes('`')) return undefined;
  const open = `${mark}${/^\S{1,32}(?=\s|$)/.exec(rest.trim())?.[0] ?? ''}\n`;
  if (line.length + open.length + mark.length + 1 > maxChars / 2) return undefined;
  return { openStart: match.index, contentStart: match.index + line.length + 1, open, mark };
}

/** The start of the first line that is not blank, its indentation included. */
function skipBlankLines(text: string, from: number): number {
  let at = from;
  let lineStart = from;
  while (at < text.length && isSpace(text, at)) {
    if (text[at] === '\n') lineStart = at + 1;
    at += 1;
  }
  return lineStart;
}

function trimmedEnd(text: string): number {
  let end = text.length;
  while (end > 0 && isSpace(text, end - 1)) end -= 1;
  return end;
}

function isSpace(text: string, at: number): boolean {
  const code = text.charCodeAt(at);
  return code < 128 ? code === 32 || (code >= 9 && code <= 13) : /\s/.test(text[at] ?? '');
}

function isHighSurrogate(text: string, at: number): boolean {
  return (text.charCodeAt(at) & 0xfc00) === 0xd800;
}

function isLowSurrogate(text: string, at: number): boolean {
  return (text.charCodeAt(at) & 0xfc00) === 0xdc00;
}
