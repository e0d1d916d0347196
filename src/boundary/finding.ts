/** A part of a text that is replaced, and by what remark. */
export interface Finding {
  readonly start: number;
  readonly end: number;
  readonly remark: string;
}
