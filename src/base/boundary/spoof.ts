/** A part of a text that is replaced, and by what remark. */
export interface Spoof {
  readonly start: number;
  readonly end: number;
  readonly remark: string;
}
