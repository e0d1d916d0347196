/* What to write, of all that is said of a request that was answered: for a log, which has room for no more. */
import { adviceIn, evaluationNotes, settingNote, type EvaluationNote } from '../advice/requests.ts';
import type { StoredExplanation } from './explain-stored.ts';

/** The hints of its settings, and of the request itself where it was taken; the surest first. */
export function allHints({ settings, explained }: StoredExplanation): readonly EvaluationNote[] {
  const ofSettings = [...settings, ...(explained?.advice.settings ?? [])]
    .map(settingNote)
    .filter(({ isFine }) => isFine !== true);
  if (explained?.evaluation.outcome.kind !== 'accepted') return ofSettings;
  const notes = evaluationNotes(explained.evaluation, explained.advice);
  const isWhole = !notes.some(({ code }) => code === 'rendered_empty');
  // A comparison that held for another reason is so whatever else is missing.
  const others = adviceIn(notes).others.filter(({ code }) => isWhole || code === 'held_otherwise');
  return [...ofSettings, ...others];
}
