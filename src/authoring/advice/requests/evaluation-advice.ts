import type { Sentence, StoredFinding } from '../../../base/finding.ts';
import type { Place } from '../../../base/document/document.ts';
import type { AdviceCode } from './evaluation-note.ts';

/** A sentence of advice. */
export interface AdviceText {
  readonly text: Sentence;
  /** Paths and names of the request that it mentions: where only the operator's own words may be told, these decide. */
  readonly names: readonly string[];
  /** The paths it names, as a template writes them, where `names` are steps or parts of them. */
  readonly paths?: readonly string[];
  /** The text with values of the request in it: only for those who may read the request. */
  readonly shown?: Sentence;
  /** The one path that it names with its value. */
  readonly value?: string;
}

/** A sentence of advice about a request as a whole. */
export interface AdviceNote extends AdviceText {
  readonly code: AdviceCode;
  /** What it speaks of, where a decision may keep that. */
  readonly facts?: StoredFinding['facts'];
  /** The part of the operator's files that it is about. */
  readonly at?: Place;
}

/** A setting, its place and what it did. */
export interface SettingText {
  readonly setting: string;
  readonly at?: string;
  readonly text: Sentence;
  /** It did what it is there for: nothing is to be done. */
  readonly isFine?: boolean;
  /** It says how a run ended, and what to write. */
  readonly isOfRun?: true;
}

/** A field of a request, and what reads it. */
export interface RequestField {
  /** As a template writes it; in a list at its first element. */
  readonly path: string;
  /** One line, cut, secrets left out; absent where the request has no such field. Payload-derived. */
  readonly value?: string;
  /** Keys of the mapping that read it: `when`, `messageTemplate`. */
  readonly by: readonly string[];
}

/** Fields that were read with those near them. */
export interface FieldList {
  readonly fields: readonly RequestField[];
  /** How many are not listed. */
  readonly more: number;
  /** Paths of those listed that the signature of the sender does not cover: a copy of the request may have others. */
  readonly unsigned?: readonly string[];
}

/** A text of the request that a condition asked for at another place, or one that is nearly so. */
export interface FoundText {
  readonly wanted: string;
  readonly at: string;
  readonly text: string;
  /** The text is the name of the field, and its value is true. */
  readonly isTrue?: boolean;
}

/** What is said of a comparison that failed. */
export interface PartAdvice {
  /** Of what is certain `leaf_advice`, which stands in place of all others. */
  readonly code: 'leaf_advice' | 'instead' | 'difference' | 'found_elsewhere';
  readonly text: Sentence;
  /** Paths of the request that it names. */
  readonly paths?: readonly string[];
  /** Where the text stands that was asked for. */
  readonly found?: FoundText;
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
  /** Whether it asks for less than the one taken, so that what that leaves is meant for it. */
  readonly takesAny?: boolean;
}

/** Advice as it is printed. */
export interface EvaluationAdvice {
  readonly nearNames: readonly NearHookName[];
  readonly suggestions: ReadonlyMap<string, AdviceText>;
  /** Of the comparisons that mappings failed by, by their places. */
  readonly parts: ReadonlyMap<Place, readonly PartAdvice[]>;
  /** What kind of request it is, where that explains what became of it. */
  readonly notes?: readonly AdviceNote[];
  /** Files of the mappings folder that are not read. */
  readonly passedOver?: readonly Sentence[];
  /** What to do about a body that could not be read. */
  readonly refused?: Sentence;
  /** What the request holds, and what reads it. */
  readonly fields?: FieldList;
  /** What is wrong with the code of a transform that failed, where that shows without a request. */
  readonly transform?: Sentence | undefined;
  /** Settings that took part, with what each did. */
  readonly settings?: readonly SettingText[];
  /** Mappings behind the one taken that would have taken the request, too. */
  readonly alsoMatched: readonly LaterMapping[];
}

/** Where nothing is said. */
export const NO_ADVICE: EvaluationAdvice = {
  nearNames: [],
  suggestions: new Map(),
  parts: new Map(),
  alsoMatched: [],
};
