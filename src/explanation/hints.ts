/* What to write, of all that is said of a request that was answered: for a log and a table, which have room for no more. */
import {
  adviceIn,
  evaluationNotes,
  isHint,
  partedHint,
  settingNote,
  type EvaluationNote,
} from '../hook/hook.ts';
import type { StoredExplanation } from './explain-stored.ts';

/** What its settings and keys have to say, the surest first. */
export function settingHints({ settings, explained }: StoredExplanation): readonly EvaluationNote[] {
  return [...settings, ...(explained?.advice.settings ?? [])].map(settingNote).filter(isHint);
}

/** Everything in short, where the request was taken: what was refused says why itself. */
export function shortHints(told: StoredExplanation): readonly string[] {
  const { explained } = told;
  if (explained?.evaluation.outcome.kind !== 'accepted') return [];
  const { others } = adviceIn(evaluationNotes(explained.evaluation, explained.advice));
  return [...settingHints(told), ...others].map(shortHint);
}

/** A hint with the sentence alone that says what to write. */
export function shortHint({ setting, text }: EvaluationNote): string {
  const [what, fix = what] = partedHint(text);
  const at = fix.search(/(?<=: )write /i);
  const short = at === -1 ? fix : fix.slice(at);
  const line = short.split('\n', 1)[0] ?? '';
  return setting === undefined ? line : `${setting}: ${line.charAt(0).toLowerCase()}${line.slice(1)}`;
}
