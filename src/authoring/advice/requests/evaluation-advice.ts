import type { Finding, Sentence } from '../../../base/finding.ts';
import type { Place } from '../../../base/document/document.ts';
import type { NearName } from './near-names.ts';

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
  readonly nearNames: readonly NearName[];
  readonly suggestions: ReadonlyMap<string, Suggestion>;
  /**
   * Advice on the comparisons that mappings failed by, by their places. The facts of a finding that names a
   * text of the request are `FoundText`.
   */
  readonly parts: ReadonlyMap<Place, readonly Finding[]>;
  /** The kind of the request, where that explains what became of it. */
  readonly notes: readonly Finding[];
  /** Files of the mappings folder that are not read. */
  readonly passedOver?: readonly Finding[];
  readonly refused?: Sentence;
  /** What is wrong with the code of a transform that failed, where that shows without a request. */
  readonly transform?: Sentence | undefined;
  readonly settings?: readonly Finding[];
  /** Mappings behind the first match that would have matched, too. */
  readonly alsoMatched: readonly Finding[];
}

export const NO_ADVICE: EvaluationAdvice = {
  nearNames: [],
  suggestions: new Map(),
  parts: new Map(),
  notes: [],
  alsoMatched: [],
};
