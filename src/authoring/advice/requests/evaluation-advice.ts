import type { Finding } from '../../../base/finding.ts';

/** The paths that a request has in place of one that found nothing: one, or two that are as near. */
export interface Suggestion {
  readonly names: readonly string[];
  /** The same with their values, only for readers who may see the request. */
  readonly shown: string;
}

/** A text that a condition asked for, found at another place of the request or nearly spelt so. */
export interface FoundText {
  readonly wanted: string;
  readonly at: string;
  readonly text: string;
  /** The text is the name of the field, and the field's value is true. */
  readonly isTrue?: boolean;
}

export interface EvaluationAdvice {
  /** Each is said once; its code says what it is about. The facts of `found_elsewhere` are `FoundText`. */
  readonly findings: readonly Finding[];
  readonly suggestions: ReadonlyMap<string, Suggestion>;
}

export const NO_ADVICE: EvaluationAdvice = { findings: [], suggestions: new Map() };
