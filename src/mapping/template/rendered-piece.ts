import type { Place } from '../../document/document.ts';
import type { RenderTrace } from '../compiled-mapping.ts';

/** Pieces recorded of one rendering: a loop over a long list prints without end. */
const MAX_PIECES = 200;
/** UTF-16 units of a piece that are recorded. */
const MAX_PIECE_CHARS = 500;

/** Records what an expression printed, where somebody wants to know. */
export function notePiece(
  trace: RenderTrace | undefined,
  expression: { readonly text: string; readonly at: Place } | undefined,
  text: string,
): void {
  const pieces = trace?.pieces;
  if (pieces === undefined || expression === undefined || pieces.length >= MAX_PIECES) return;
  pieces.push({ expression: expression.text, at: expression.at, text: text.slice(0, MAX_PIECE_CHARS) });
}
