import type * as CodeFrame from '@babel/code-frame';
import { createRequire } from 'node:module';
import type { Place, SourceText } from '../finding.ts';
import { positionOf } from './line-column.ts';

const require = createRequire(import.meta.url);

/** Columns shown of a line; a longer one is cut around its carets. */
const MAX_COLUMNS = 160;

/** How many lines are shown before and after a place. */
interface FrameLines {
  readonly before: number;
  readonly after: number;
}

/** The source lines around a place with carets under its first line; secrets and control characters are hidden. */
export function sourceFrame(at: Place, options: FrameLines): string {
  const { text } = at.source;
  const start = positionOf(text, at.start);
  const lines = linesAround(at.source, at.start - start.column + 1, options);
  const own = lines.shown[lines.ownIndex] ?? '';
  const cut = Math.max(0, Math.min(start.column - 60, own.length - MAX_COLUMNS));
  const width = Math.max(1, Math.min(at.end - at.start, own.length - start.column + 1));
  const shown = lines.shown.map((line) => line.slice(cut, cut + MAX_COLUMNS));
  // The frame's columns are 0-based, its lines 1-based.
  const column = start.column - 1 - cut;
  const { codeFrameColumns } = require('@babel/code-frame') as typeof CodeFrame;
  return codeFrameColumns(
    shown.join('\n'),
    {
      start: { line: start.line, column },
      end: { line: start.line, column: Math.min(column + width, MAX_COLUMNS) },
    },
    {
      linesAbove: options.before,
      linesBelow: options.after,
      startLine: start.line - lines.ownIndex,
      highlightCode: false,
    },
  );
}

/** Only the lines that are shown, so that a large file is not split for every finding. */
function linesAround(
  source: SourceText,
  lineStart: number,
  { before, after }: FrameLines,
): { readonly shown: readonly string[]; readonly ownIndex: number } {
  const { from, ownIndex } = firstShown(source.text, lineStart, before);
  const shown: string[] = [];
  let at = from;
  while (shown.length <= ownIndex + after && at <= source.text.length) {
    // The line feed that ends the file starts no line of its own.
    if (at === source.text.length && shown.length > ownIndex) break;
    const end = source.text.indexOf('\n', at);
    shown.push(printable(source, at, end < 0 ? source.text.length : end));
    if (end < 0) break;
    at = end + 1;
  }
  return { shown, ownIndex };
}

/** Where the first line that is shown begins, and how many lines stand between it and the line of the place. */
function firstShown(
  text: string,
  lineStart: number,
  before: number,
): { readonly from: number; readonly ownIndex: number } {
  let from = lineStart;
  let ownIndex = 0;
  while (ownIndex < before && from > 0) {
    // From before the text's first character lastIndexOf would look at that character all the same.
    from = from < 2 ? 0 : text.lastIndexOf('\n', from - 2) + 1;
    ownIndex += 1;
  }
  return { from, ownIndex };
}

/** A line with every character that is secret or unprintable replaced by one of the same width. */
function printable(source: SourceText, start: number, end: number): string {
  let line = source.text.slice(start, end).replace(/\r$/, '');
  for (const secret of source.secrets ?? []) {
    const from = Math.max(0, secret.start - start);
    const to = Math.min(line.length, secret.end - start);
    if (from < to) line = line.slice(0, from) + '•'.repeat(to - from) + line.slice(to);
  }
  return line.replaceAll(/(?!\t)[\p{Cc}\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/gu, '·');
}
