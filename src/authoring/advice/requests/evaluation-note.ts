import { printSentence, type Sentence } from '../../../base/finding.ts';
import { formatPlace, type Place } from '../../../base/document/document.ts';

/**
 * One thing that is said of a request beside its bare facts. As data, so that text, `--json` and the console say the
 * same: what is printed for people is made of these, and of nothing else.
 */
export interface EvaluationNote {
  /** Which kind of note it is: a word that stays the same. */
  readonly code: NoteCode;
  /** What to read; it may quote the payload. */
  readonly text: Sentence;
  /** `file:line:column` of what it is about, in the operator's files. */
  readonly at?: string;
  /** The mapping it is about, where several were considered. */
  readonly mapping?: { readonly id: string; readonly at?: string };
  /** The key of the mapping, e.g. `messageTemplate`. */
  readonly field?: string;
  /** The element of a batch, counted from 0. */
  readonly index?: number;
  /** Paths and names of the request that it speaks of. */
  readonly paths?: readonly string[];
  /** The setting that took part, as it is written. */
  readonly setting?: string;
  /** Of a setting that did what it is there for: nothing is to be done. */
  readonly isFine?: boolean;
  /** What rendered empty. */
  readonly expression?: string;
}

/** Kinds of notes that the analysis of a request makes. */
export const ADVICE_CODES = [
  'body_is_list',
  'body_is_text',
  'list_read',
  'address_check',
  'github_ping',
  'json_text',
  'split_key',
  'held_otherwise',
  'other_kind',
] as const;
export type AdviceCode = (typeof ADVICE_CODES)[number];

/** Notes that tell what a request is: the conditions that it misses are no fault, so they stand first. */
const KIND_CODES: ReadonlySet<string> = new Set<AdviceCode>(['address_check', 'github_ping']);

/** Whether a note says that a request is no event. */
export const isKindCode = (code: string): boolean => KIND_CODES.has(code);

/** Notes of a condition that say what to write in it, beside those that say what was found. */
const TELLING_CODES: ReadonlySet<string> = new Set<NoteCode>([
  'leaf_advice',
  'instead',
  'difference',
  'found_elsewhere',
]);

/** Whether a note says what is wrong with a condition, so that nothing is left to choose. */
export const tellsWhatToWrite = (code: string): boolean => TELLING_CODES.has(code);

/** Other notes that say what to do. */
const HINT_CODES: ReadonlySet<string> = new Set<NoteCode>([
  ...ADVICE_CODES,
  'near_name',
  'passed_over',
  'only_first_acts',
  'returned_nothing',
  'setting',
  'remedy',
  'new_event',
  'refusal',
  'warning',
]);

/** Whether a note says what to do, and not what was found. */
export const isHint = ({ code, isFine }: EvaluationNote): boolean =>
  isFine !== true && (HINT_CODES.has(code) || tellsWhatToWrite(code));

/** All kinds of notes. */
export const NOTE_CODES = [
  // Of a hook name that no mapping has.
  'unknown_name',
  'near_name',
  'hook_name',
  'passed_over',
  'name_known',
  // Of a mapping that was considered.
  'held',
  'more_held',
  'not_held',
  'part',
  'leaf_advice',
  'instead',
  'difference',
  'found_elsewhere',
  'also_matched',
  'only_first_acts',
  // Of the request itself.
  ...ADVICE_CODES,
  // Of what was made of it.
  'skipped',
  'lines_dropped',
  'returned_nothing',
  'rendered_empty',
  'empty_key',
  'setting',
  'cause',
  'remedy',
  // Of the decision that the store keeps.
  'detail',
  'older',
  'decision',
  'new_event',
  'refusal',
  'warning',
  'transform',
  'repeat',
  'not_kept',
  'hidden',
  'removed',
  'judged_otherwise',
] as const;
export type NoteCode = (typeof NOTE_CODES)[number];

/** The notes of advice: those that tell what a request is, for the first lines, and the others. */
export function adviceIn(notes: readonly EvaluationNote[]): {
  readonly ofKind: readonly EvaluationNote[];
  readonly others: readonly EvaluationNote[];
} {
  const advice = notes.filter(({ code }) => (ADVICE_CODES as readonly string[]).includes(code));
  return {
    ofKind: advice.filter(({ code }) => isKindCode(code)),
    others: advice.filter(({ code }) => !isKindCode(code)),
  };
}

/** The place of a note; nothing where there is none. */
export const placed = (at: Place | undefined): Pick<EvaluationNote, 'at'> =>
  at === undefined ? {} : { at: formatPlace(at) };

/** A note as plain data, e.g. for `--json`. */
export type NoteJson = Omit<EvaluationNote, 'text'> & { readonly text: string };

export const noteToJson = ({ text, ...note }: EvaluationNote): NoteJson => ({
  ...note,
  text: printSentence(text),
});

/** Warnings that no note tells already, with what to write. */
export const warningsLeft = <Told extends { readonly code: string }>(
  warnings: readonly Told[],
  notes: readonly EvaluationNote[],
): readonly Told[] =>
  warnings.filter(({ code }) => code !== 'json_text' || !notes.some((note) => note.code === code));
