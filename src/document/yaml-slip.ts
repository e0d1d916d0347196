import type { Place, TextEdit } from '../finding.ts';

/** A plain text that YAML reads as something else, and how to write it. */
export interface YamlSlip {
  readonly message: string;
  readonly at: Place;
  readonly hint: string;
  /** Absent where the text may be a secret: what an edit writes is printed. */
  readonly edit?: TextEdit;
}
