/**
 * A finding in an operator's file, as data: collected, never thrown. Positions are offsets into the source text;
 * line and column are computed when it is printed.
 */
export interface Diagnostic {
  readonly severity: 'error' | 'warning';
  /** Stable SCREAMING_SNAKE code; each has a golden file under `test/diagnostics/`. */
  readonly code: string;
  /** What is wrong, what was found, what is expected: lower case, no full stop, values cut to 80 characters. */
  readonly message: string;
  /** Absent where the finding belongs to no file, e.g. a command line option. */
  readonly at?: Place;
  /** Further places that explain the finding, e.g. the first of two duplicates. */
  readonly labels?: readonly { readonly at: Place; readonly text: string }[];
  /** What to do about it. */
  readonly hint?: string;
  /** Ranges of the file that no finding may show: nobody knows what stands there. */
  readonly hides?: readonly { readonly start: number; readonly end: number }[];
  /** Of a choice that may be meant, and of no mistake in a line: it comes last, without lines of the file. */
  readonly isGeneral?: boolean;
  /** The hint as a change of the file, where it is mechanical: `check --fix` makes it. */
  readonly edit?: TextEdit;
  /** Changes at other places, without which the edit is none. */
  readonly also?: readonly TextEdit[];
}

/** A range of a source file. Offsets are 0-based UTF-16 units, `end` exclusive. */
export interface Place {
  readonly source: SourceText;
  readonly start: number;
  readonly end: number;
}

/** A file's text with the name it is printed under (relative to the working directory where it lies below it). */
export interface SourceText {
  readonly file: string;
  readonly text: string;
  /** Ranges that hold literal secrets, in order: printed source lines show dots there. */
  readonly secrets?: readonly { readonly start: number; readonly end: number }[];
}

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

/** A change of a file that mends a finding: the text at a place becomes another. */
export interface TextEdit {
  readonly at: Place;
  readonly text: string;
}
