import type { Place } from '../finding.ts';

/** A position as people read it: both 1-based, the column in UTF-16 units. */
export interface LineColumn {
  readonly line: number;
  readonly column: number;
}

/** Line and column of a place's start; linear in the text before it. */
export function lineColumn(place: Place): LineColumn {
  return positionOf(place.source.text, place.start);
}

/** Line and column of an offset. */
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
