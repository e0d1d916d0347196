/** A call's states as single characters, with which `take` begins its answer. */
export const CALL_STATES = {
  pending: 'p',
  ok: 'o',
  /** As `ok`, of an instance of a class. */
  instance: 'i',
  undefined: 'u',
  failed: 'e',
  notJson: 'j',
  tooLarge: 'l',
} as const;

export type CallState = (typeof CALL_STATES)[keyof typeof CALL_STATES];
