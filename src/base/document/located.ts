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
