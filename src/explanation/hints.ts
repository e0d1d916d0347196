/* What to write, of all that is said of a request that was answered: for a log and a table, which have room for no more. */
import { adviceIn, evaluationNotes, isHint, settingNote, type EvaluationNote } from '../hook/hook.ts';
import type { StoredExplanation } from './explain-stored.ts';
import { shortHint } from './short-hint.ts';

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
