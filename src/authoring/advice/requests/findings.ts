/**
 * What is said of a request beside its bare facts, as findings: text, `--json` and the console say the same, and what is
 * printed for people is made of these and of nothing else.
 */
import { printSentence, type Finding, type FindingSubject, type Sentence } from '../../../base/finding.ts';
import { formatPlace, type Place } from '../../../base/document/document.ts';
import { defined } from '../../../base/json.ts';

/** Of what a request is. */
export const ADVICE_CODES = [
  'body_is_list',
  'body_is_text',
  'address_check',
  'github_ping',
  'json_text',
  'other_kind',
] as const;
export type AdviceCode = (typeof ADVICE_CODES)[number];

/** Of a comparison that failed: what to write in it, beside what was found. */
export const PART_CODES = ['leaf_advice', 'instead', 'difference', 'found_elsewhere'] as const;
export type PartCode = (typeof PART_CODES)[number];

/** All codes of findings on a request: each is a word that stays the same. */
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
  ...PART_CODES,
  'also_matched',
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

/** Those of what failed or was refused; a request goes on with the others. */
const FAILURES: ReadonlySet<string> = new Set<NoteCode>(['unknown_name', 'not_held', 'detail', 'older']);

/** Codes that say what to do, and not what was found. */
const HINTS: ReadonlySet<string> = new Set<NoteCode>([
  ...ADVICE_CODES,
  ...PART_CODES,
  'near_name',
  'passed_over',
  'returned_nothing',
  'setting',
  'remedy',
  'new_event',
  'refusal',
  'warning',
]);

/** Makes one, for the operator; `at`: its place in the files, or how that is written. */
export function requestFinding(
  code: NoteCode,
  message: Sentence,
  { at, ...subject }: Omit<FindingSubject, 'place'> & { readonly at?: Place | string | undefined } = {},
): Finding {
  const about = { ...subject, ...(typeof at === 'string' ? { place: at } : {}) };
  return {
    severity: FAILURES.has(code) ? 'error' : 'warning',
    code,
    message,
    audience: 'operator',
    ...(typeof at === 'object' ? { at } : {}),
    ...(Object.keys(about).length === 0 ? {} : { subject: about }),
  };
}

/** Where it is, as it is printed. */
export const placeOf = ({ at, subject }: Pick<Finding, 'at' | 'subject'>): string | undefined =>
  at === undefined ? subject?.place : formatPlace(at);

/** Whether it says what to do. */
export const isHint = ({ code, subject }: Finding): boolean => HINTS.has(code) && subject?.isFine !== true;

/** Whether it says what is wrong with a condition, so that nothing is left to choose. */
export const tellsWhatToWrite = ({ code }: Pick<Finding, 'code'>): boolean =>
  (PART_CODES as readonly string[]).includes(code);

/** Whether it says that a request is no event: the conditions that it misses are no fault. */
export const isOfKind = ({ code }: Pick<Finding, 'code'>): boolean =>
  code === 'address_check' || code === 'github_ping';

/** Whether it says what a request is, or why its names found nothing. */
export const isAdvice = ({ code }: Pick<Finding, 'code'>): boolean =>
  (ADVICE_CODES as readonly string[]).includes(code);

/** Warnings that no finding tells already, with what to write. */
export const warningsLeft = <Told extends { readonly code: string }>(
  warnings: readonly Told[],
  findings: readonly Finding[],
): readonly Told[] =>
  warnings.filter(({ code }) => code !== 'json_text' || !findings.some((each) => each.code === code));

/** A finding on a request as `--json` and the console have it. */
export interface NoteJson extends Omit<FindingSubject, 'place' | 'isOfRun'> {
  readonly code: NoteCode;
  readonly text: string;
  /** `file:line:column` of what it is about, in the operator's files. */
  readonly at?: string;
}

export function toNote(finding: Finding): NoteJson {
  const { code, message, subject: { place: _place, isOfRun: _isOfRun, ...subject } = {} } = finding;
  return {
    code: code as NoteCode,
    ...subject,
    ...defined({ at: placeOf(finding) }),
    text: printSentence(message),
  };
}

/** A setting that took part, as plain data. */
export interface SettingJson extends Pick<FindingSubject, 'isOfRun'> {
  readonly setting: string;
  readonly at?: string;
  readonly text: string;
}

export function toSetting(finding: Finding): SettingJson {
  const { message, subject: { setting = '', isOfRun } = {} } = finding;
  return { setting, ...defined({ at: placeOf(finding), isOfRun }), text: printSentence(message) };
}
