/**
 * Where the characters of a text stand in the file that holds it.
 *
 * A quoted scalar is read once more, character by character: an escape yields what it stands for, a line break with
 * the white space around it folds (one break is a space, more are one break less; a JSON5 or escaped break is nothing).
 * Plain and block scalars have no escapes: each line's content, from its first to its last non-blank character, stands
 * in the value as written, and only white space lies between. So lines are found in order, and indentation, folding
 * and chomping need not be known; the white space between two lines is counted on from the end of the first.
 */
export interface ScalarText {
  readonly style: 'verbatim' | 'double' | 'single' | 'json' | 'json5';
  /** Range of the content: without quotes, after a block scalar's header. */
  readonly start: number;
  readonly end: number;
}

/** Offsets in `source` of each UTF-16 unit of `value`, and of its end; O(length of both). */
export function scalarOffsets(source: string, value: string, text: ScalarText): Int32Array {
  const offsets = new Int32Array(value.length + 1).fill(-1);
  if (text.style === 'verbatim') mapLines(source, value, text, offsets);
  else mapQuoted(source, text, offsets);
  return fillGaps(offsets, text);
}

function mapLines(source: string, value: string, text: ScalarText, offsets: Int32Array): void {
  let at = 0;
  let from = text.start;
  while (from < text.end) {
    const lineEnd = endOfLine(source, from, text.end);
    let first = from;
    while (first < lineEnd && isBlank(source.charCodeAt(first))) first += 1;
    let last = lineEnd;
    while (last > first && isBlank(source.charCodeAt(last - 1))) last -= 1;
    if (last > first) {
      const lineStart = at;
      while (at < value.length && isBlank(value.charCodeAt(at))) at += 1;
      if (!value.startsWith(source.slice(first, last), at)) return;
      for (let back = 1; at - back >= lineStart && first - back >= from; back += 1) {
        if (value.charCodeAt(at - back) !== source.charCodeAt(first - back)) break;
        offsets[at - back] = first - back;
      }
      for (let i = first; i < last; i += 1) offsets[at + i - first] = i;
      at += last - first;
    }
    from = lineEnd + 1;
  }
}

function mapQuoted(source: string, text: ScalarText, offsets: Int32Array): void {
  let at = 0;
  let from = text.start;
  const put = (start: number, units: number): void => {
    for (let i = 0; i < units && at < offsets.length; i += 1) offsets[at++] = start;
  };
  while (from < text.end) {
    const unit = source.charCodeAt(from);
    if (text.style === 'single' && unit === QUOTE) {
      put(from, 1);
      from += 2;
    } else if (text.style !== 'single' && unit === BACKSLASH) {
      const escape = readEscape(source, from, text);
      put(from, escape.units);
      from += escape.length;
    } else if (text.style !== 'json' && text.style !== 'json5' && isBlank(unit)) {
      let end = from;
      while (end < text.end && isBlank(source.charCodeAt(end))) end += 1;
      const breaks = countBreaks(source, from, end);
      if (breaks === 0) for (let i = from; i < end; i += 1) put(i, 1);
      else put(from, breaks === 1 ? 1 : breaks - 1);
      from = end;
    } else {
      put(from, 1);
      from += 1;
    }
  }
}

/** An escape's length in the source and the UTF-16 units it yields. */
function readEscape(source: string, from: number, text: ScalarText): { length: number; units: number } {
  const letter = source[from + 1] ?? '';
  if (letter === '\n' || letter === '\r') {
    let end = from + (source.startsWith('\r\n', from + 1) ? 3 : 2);
    if (text.style === 'json5') return { length: end - from, units: 0 };
    const firstBreakEnd = end;
    while (end < text.end && isBlank(source.charCodeAt(end))) end += 1;
    return { length: end - from, units: countBreaks(source, firstBreakEnd, end) };
  }
  const digits = text.style === 'double' ? YAML_HEX_DIGITS[letter] : JSON_HEX_DIGITS[letter];
  if (digits === undefined) return { length: 2, units: 1 };
  const code = Number.parseInt(source.slice(from + 2, from + 2 + digits), 16);
  return { length: 2 + digits, units: code > 0xff_ff ? 2 : 1 };
}

/** White space that no line settled: counted on from the character before it, never past the one after it. */
function fillGaps(offsets: Int32Array, text: ScalarText): Int32Array {
  let next = text.end;
  const limits = new Int32Array(offsets.length);
  for (let i = offsets.length - 1; i >= 0; i -= 1) {
    limits[i] = next;
    const known = offsets[i] ?? -1;
    if (known >= 0) next = known;
  }
  let previous = text.start - 1;
  for (let i = 0; i < offsets.length; i += 1) {
    if ((offsets[i] ?? -1) < 0) offsets[i] = Math.min(previous + 1, limits[i] ?? text.end);
    previous = offsets[i] ?? previous;
  }
  return offsets;
}

const QUOTE = 0x27;
const BACKSLASH = 0x5c;
const YAML_HEX_DIGITS: Readonly<Record<string, number>> = { x: 2, u: 4, U: 8 };
const JSON_HEX_DIGITS: Readonly<Record<string, number>> = { x: 2, u: 4 };

function isBlank(unit: number): boolean {
  return unit === 0x20 || unit === 0x0a || unit === 0x0d || unit === 0x09;
}

export function endOfLine(source: string, from: number, limit = source.length): number {
  const end = source.indexOf('\n', from);
  return end < 0 || end > limit ? limit : end;
}

function countBreaks(source: string, from: number, to: number): number {
  let breaks = 0;
  for (let i = from; i < to; i += 1) if (source.charCodeAt(i) === 0x0a) breaks += 1;
  return breaks;
}
