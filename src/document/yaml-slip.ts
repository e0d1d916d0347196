import type { Place, SourceText, TextEdit } from './diagnostic.ts';

/** A plain text that YAML reads as something else, and how to write it. */
export interface YamlSlip {
  readonly message: string;
  readonly at: Place;
  readonly hint: string;
  /** Absent where the text may be a secret: what an edit writes is printed. */
  readonly edit?: TextEdit;
}

/** A line with what is known of it. */
export interface BrokenLine {
  readonly source: SourceText;
  readonly lineStart: number;
  readonly line: string;
}

/** `key: value` in one line of a block, as far as it is one: indentation, dash and key, then the text. */
export const KEY_LINE = /^(\s*(?:- +)?([\w.-]+): +)(\S.*?)\s*$/;
