import type { Place } from '../finding.ts';

/** The way from the root of a document to a part of it. */
export type Path = readonly (string | number)[];

/** A part of a file as plain data, with a way from a path inside it to its place in the file. */
export interface LocatedValue {
  readonly value: unknown;
  /** The way from the document's root to this part; paths handed to the functions below start here. */
  readonly path: Path;
  /** The value at a path, numbers that a double cannot hold as `ExactNumber`; in `value` they are the nearest double. */
  exact(path: Path): unknown;
  /** Place of the value (or of the key with `'key'`) at a path such as `['match', 'path']`; the nearest parent where it is absent. */
  place(path: Path, what?: 'key' | 'value'): Place;
  /** The part at a path; its value is undefined where there is none, its place then the nearest parent's. */
  at(path: Path): LocatedValue;
  /**
   * Offset in the file of the character at `offsetInValue` (UTF-16 units, 0 to its length) of the text at `path`: exact
   * through quotes, escapes, indentation and line folding. The start of the nearest part where there is no text.
   */
  scalarOffset(path: Path, offsetInValue: number): number;
}

/** A path as it is written in messages: `hooks.mappings[2].match`, `match.path of entry 1`. */
export function formatPath(path: Path): string {
  const [first, ...rest] = path;
  // A file that is a list: `[0].action` would puzzle.
  if (typeof first === 'number') {
    const entry = `entry ${String(first + 1)}`;
    return rest.length === 0 ? entry : `${formatPath(rest)} of ${entry}`;
  }
  let text = '';
  for (const step of path) {
    if (typeof step === 'number') text += `[${String(step)}]`;
    else if (/^[A-Za-z_][\w-]*$/.test(step)) text += text === '' ? step : `.${step}`;
    else text += `[${JSON.stringify(step.slice(0, 80))}]`;
  }
  return text === '' ? 'the document' : text;
}

/** The place of a file of which nothing is read or shown. */
export const wholeFile = (file: string): Place => ({ source: { file, text: '' }, start: 0, end: 0 });

/** A position as people read it: both 1-based, the column in UTF-16 units. */
export interface LineColumn {
  readonly line: number;
  readonly column: number;
}

/** Line and column of a place's start; linear in the text before it. */
export function lineColumn(place: Place): LineColumn {
  return positionOf(place.source.text, place.start);
}

export function positionOf(text: string, offset: number): LineColumn {
  const end = Math.max(0, Math.min(offset, text.length));
  let line = 1;
  let lineStart = 0;
  for (let at = text.indexOf('\n'); at >= 0 && at < end; at = text.indexOf('\n', at + 1)) {
    line += 1;
    lineStart = at + 1;
  }
  return { line, column: end - lineStart + 1 };
}

/** `file:line:column` of a place's start. */
export function formatPlace(place: Place): string {
  const { line, column } = lineColumn(place);
  return `${place.source.file}:${String(line)}:${String(column)}`;
}
