/** A line of a YAML text that cannot be read, and the lines around it. */
import type { Place, SourceText, TextEdit } from '../../../base/finding.ts';

export interface BrokenLine {
  readonly source: SourceText;
  readonly lineStart: number;
  readonly line: string;
}

/** A plain text that YAML reads as something else, and how to write it. */
export interface LineError {
  readonly message: string;
  readonly at: Place;
  readonly hint: string;
  /** Absent where the text may be a secret: what an edit writes is printed. */
  readonly edit?: TextEdit;
}

/** `key: value` in one line of a block, as far as it is one: indentation, dash and key, then the text. */
export const KEY_LINE = /^(\s*(?:- +)?([\w.-]+): +)(\S.*?)\s*$/;

/** More lines above are not looked at. */
const MAX_LINES = 500;

/** The line in which an offset stands. */
export function lineAt(source: SourceText, offset: number): BrokenLine {
  const { text } = source;
  const lineStart = text.lastIndexOf('\n', Math.max(0, offset - 1)) + 1;
  const newline = text.indexOf('\n', lineStart);
  return { source, lineStart, line: text.slice(lineStart, newline === -1 ? undefined : newline) };
}

/** A place in a line; its column is 0-based. */
export function placeIn({ source, lineStart }: BrokenLine, column: number, length: number): Place {
  return { source, start: lineStart + column, end: lineStart + column + length };
}

/** The line behind one that is not blank. */
export function lineBelow({ source, lineStart, line }: BrokenLine): BrokenLine | undefined {
  const from = lineStart + line.length + 1;
  const found = /^[ \t]*\S.*$/m.exec(source.text.slice(from));
  return found === null ? undefined : { source, lineStart: from + found.index, line: found[0] };
}

/** The lines above, the nearest first. */
export function linesAbove({ source, lineStart }: BrokenLine, limit = MAX_LINES): readonly BrokenLine[] {
  const lines: BrokenLine[] = [];
  for (let end = lineStart - 1; end >= 0 && lines.length < limit;) {
    const start = end === 0 ? 0 : source.text.lastIndexOf('\n', end - 1) + 1;
    lines.push({ source, lineStart: start, line: source.text.slice(start, end) });
    end = start - 1;
  }
  return lines;
}

export const isBlank = ({ line }: BrokenLine): boolean => line.trim() === '';

export const indentOf = (line: string): number => /^ */.exec(line)?.[0].length ?? 0;

/** The column of what stands behind a dash, else of the line. */
export const columnOf = (line: string): number => /^ *(?:- +)*/.exec(line)?.[0].length ?? 0;
