import type * as CodeFrame from '@babel/code-frame';
import { createRequire } from 'node:module';
import type { Place, SourceText } from '../finding.ts';
import { positionOf } from './located.ts';
import { endOfLine } from './scalar-offsets.ts';

const require = createRequire(import.meta.url);

/** Columns shown of a line; a longer one is cut around its carets. */
const MAX_COLUMNS = 160;

interface FrameLines {
  readonly before: number;
  readonly after: number;
}

/** The source lines around a place with carets under its first line; secrets and control characters are hidden. */
export function sourceFrame(at: Place, { before, after }: FrameLines): string {
  const { text } = at.source;
  const { line, column } = positionOf(text, at.start);
  // Only the lines that are shown: a large file is not split for every finding.
  let [from, to, above] = [at.start - column + 1, at.start - column, 0];
  for (; above < before && from > 0; above += 1) from = from < 2 ? 0 : text.lastIndexOf('\n', from - 2) + 1;
  // The line feed that ends the file starts no line of its own.
  for (let below = 0; below <= after && (below === 0 || to + 1 < text.length); below += 1)
    to = endOfLine(text, to + 1);
  const shown = printable(at.source, from, to).split('\n');
  const own = shown[above] ?? '';
  const cut = Math.max(0, Math.min(column - 60, own.length - MAX_COLUMNS));
  const width = Math.max(1, Math.min(at.end - at.start, own.length - column + 1));
  // The frame's columns are 0-based, its lines 1-based.
  const start = column - 1 - cut;
  const { codeFrameColumns } = require('@babel/code-frame') as typeof CodeFrame;
  return codeFrameColumns(
    shown.map((each) => each.slice(cut, cut + MAX_COLUMNS)).join('\n'),
    {
      start: { line, column: start },
      end: { line, column: Math.min(start + width, MAX_COLUMNS) },
    },
    { linesAbove: before, linesBelow: after, startLine: line - above, highlightCode: false },
  );
}

/** Lines with every character that is secret or unprintable replaced by one of the same width. */
function printable(source: SourceText, from: number, to: number): string {
  let text = source.text.slice(from, to);
  for (const secret of source.secrets ?? []) {
    const [start, end] = [Math.max(0, secret.start - from), Math.min(text.length, secret.end - from)];
    if (start >= end) continue;
    const covered = text.slice(start, end).replaceAll(/[^\n]/g, '•');
    text = text.slice(0, start) + covered + text.slice(end);
  }
  return text
    .replaceAll(/\r$/gm, '')
    .replaceAll(/(?![\t\n])[\p{Cc}\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/gu, '·');
}
