import type { Finding, Sentence } from '../../../base/finding.ts';
import type { Place } from '../../../base/document/document.ts';

/** Paths that a request has in place of one that found nothing: one, or two that are as near. */
export interface Suggestion {
  readonly names: readonly string[];
  /** The same with their values: only for those who may read the request. */
  readonly shown: string;
}

/** A text of the request that a condition asked for at another place, or one that is nearly so. */
export interface FoundText {
  readonly wanted: string;
  readonly at: string;
  readonly text: string;
  /** The text is the name of the field, and its value is true. */
  readonly isTrue?: boolean;
}

/** A hook name that is close to the one that no mapping takes. */
export interface NearHookName {
  readonly name: string;
  readonly why: Sentence;
  readonly at: string;
  /** What to do, where that is neither another name at the sender nor another in the mapping. */
  readonly remedy?: Sentence;
}

/** A mapping behind the one taken. */
export interface LaterMapping {
  readonly id: string;
  readonly at: string;
}

/** What is known of a request beside its evaluation. */
export interface EvaluationAdvice {
  readonly nearNames: readonly NearHookName[];
  readonly suggestions: ReadonlyMap<string, Suggestion>;
  /** Of the comparisons that mappings failed by, by their places; where one names a text of the request, its facts are `FoundText`. */
  readonly parts: ReadonlyMap<Place, readonly Finding[]>;
  /** What kind of request it is, where that explains what became of it. */
  readonly notes: readonly Finding[];
  /** Files of the mappings folder that are not read. */
  readonly passedOver?: readonly Sentence[];
  /** What to do about a body that could not be read. */
  readonly refused?: Sentence;
  /** What is wrong with the code of a transform that failed, where that shows without a request. */
  readonly transform?: Sentence | undefined;
  /** Settings that took part, with what each did. */
  readonly settings?: readonly Finding[];
  /** Mappings behind the one taken that would have taken the request, too. */
  readonly alsoMatched: readonly LaterMapping[];
}

/** Where nothing is said. */
export const NO_ADVICE: EvaluationAdvice = {
  nearNames: [],
  suggestions: new Map(),
  parts: new Map(),
  notes: [],
  alsoMatched: [],
};
