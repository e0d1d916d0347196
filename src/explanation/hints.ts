/* What to write, of all that is said of a request that was answered: for a log, which has room for no more. */
import { adviceIn, evaluationNotes, settingNote, type EvaluationNote } from '../advice/requests.ts';
import type { StoredExplanation } from './explain-stored.ts';

/** What its settings and keys have to say, the surest first. */
function settingHints({ settings, explained }: StoredExplanation): readonly EvaluationNote[] {
  return [...settings, ...(explained?.advice.settings ?? [])]
    .map(settingNote)
    .filter(({ isFine }) => isFine !== true);
}

/** The same with what is said of the request itself, where it was taken and everything that was read is there. */
export function allHints(told: StoredExplanation): readonly EvaluationNote[] {
  const { explained } = told;
  if (explained?.evaluation.outcome.kind !== 'accepted') return settingHints(told);
  const notes = evaluationNotes(explained.evaluation, explained.advice);
  const isWhole = !notes.some(({ code }) => code === 'rendered_empty');
  const { others } = adviceIn(notes);
  return [...settingHints(told), ...others.filter(({ code }) => isWhole || CERTAIN.has(code))];
}

/** What is so whatever else is missing: a comparison that held for another reason than was meant. */
const CERTAIN: ReadonlySet<string> = new Set(['held_otherwise']);
