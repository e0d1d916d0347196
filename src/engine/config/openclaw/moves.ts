import type { LocatedValue, Path } from '../../../base/document/document.ts';

/** Port of their gateway where the file names none. */
export const THEIR_PORT = 18_789;

/** Where a part of an OpenClaw file goes in ours. */
export interface Move {
  readonly from: Path;
  readonly to: Path;
  /** Given where it is not the original's value. */
  readonly value?: unknown;
}

/** A part without a counterpart here, and what is lost by that: one short clause. */
export interface Loss {
  readonly path: Path;
  readonly lost: string;
}

/** What a translation collects. */
export interface Moves {
  readonly moves: Move[];
  readonly lost: Loss[];
}

/** Moves a part that is written. Paths are written with dots; without `to` it keeps its own. */
export function moveWritten(original: LocatedValue, { moves }: Moves, from: string, to = from): void {
  const path = from.split('.');
  if (original.at(path).value !== undefined) moves.push({ from: path, to: to.split('.') });
}
