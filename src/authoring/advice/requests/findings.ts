/** All that is said of a request, as findings. Text, `--json` and the console are made of these and of nothing else. */
import { printSentence, type Finding, type FindingSubject, type Sentence } from '../../../base/finding.ts';
import { formatPlace, type Place } from '../../../base/document/document.ts';
import { defined } from '../../../base/json.ts';

export const ADVICE_CODES = [
  'body_is_list',
  'body_is_text',
  'address_check',
  'github_ping',
  'json_text',
  'other_kind',
] as const;

export const PART_CODES = ['leaf_advice', 'instead', 'difference', 'found_elsewhere'] as const;
export type PartCode = (typeof PART_CODES)[number];

/** Findings that say what to do, the most certain first. */
export const HINT_CODES = [
  ...ADVICE_CODES,
  ...PART_CODES,
  'rendered_empty',
  'near_name',
  'passed_over',
  'refusal',
  'new_event',
  'remedy',
  'returned_nothing',
  'warning',
  'transform',
  'setting',
] as const;

/** Lists all codes of findings on a request. A code never changes. */
export const NOTE_CODES = [
  ...HINT_CODES,
  'unknown_name',
  'hook_name',
  'name_known',
  'held',
  'more_held',
  'not_held',
  'part',
  'also_matched',
  'skipped',
  'lines_dropped',
  'empty_key',
  'cause',
  'detail',
  'older',
  'decision',
  'repeat',
  'not_kept',
  'hidden',
  'removed',
  'judged_otherwise',
] as const;
export type NoteCode = (typeof NOTE_CODES)[number];

const FAILURES: ReadonlySet<string> = new Set<NoteCode>(['unknown_name', 'not_held', 'detail', 'older']);

/** Makes a finding for the operator; `at` is its place in the files, or how that place is written. */
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

export const placeOf = ({ at, subject }: Pick<Finding, 'at' | 'subject'>): string | undefined =>
  at === undefined ? subject?.place : formatPlace(at);

export const withCodes = (findings: readonly Finding[], ...codes: readonly NoteCode[]): readonly Finding[] =>
  findings.filter(({ code }) => codes.includes(code as NoteCode));

/** Whether the finding says what to do by itself: an empty template and a failed transform are shown as they are found. */
export const isHint = ({ code, subject }: Finding): boolean =>
  (HINT_CODES as readonly string[]).includes(code) &&
  code !== 'rendered_empty' &&
  code !== 'transform' &&
  subject?.isFine !== true;

/** Whether the finding says what is wrong with a condition, so that nothing is left to choose. */
export const tellsWhatToWrite = ({ code }: Pick<Finding, 'code'>): boolean =>
  (PART_CODES as readonly string[]).includes(code);

/** Whether the finding says that a request is no event, so that the conditions it misses are no fault. */
export const isOfKind = ({ code }: Pick<Finding, 'code'>): boolean =>
  code === 'address_check' || code === 'github_ping';

/** Leaves out warnings that a finding already reports together with what to write. */
export const warningsLeft = <Told extends { readonly code: string }>(
  warnings: readonly Told[],
  findings: readonly Finding[],
): readonly Told[] =>
  warnings.filter(({ code }) => code !== 'json_text' || !findings.some((each) => each.code === code));

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

export interface SettingJson extends Pick<FindingSubject, 'isOfRun'> {
  readonly setting: string;
  readonly at?: string;
  readonly text: string;
}

export function toSetting(finding: Finding): SettingJson {
  const { message, subject: { setting = '', isOfRun } = {} } = finding;
  return { setting, ...defined({ at: placeOf(finding), isOfRun }), text: printSentence(message) };
}
