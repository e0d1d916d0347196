import type { Advise } from '../generation/generation.ts';
import type { ExplainStart } from '../runners/runners.ts';

/** What is known of mistakes, loaded when there is a finding: a start without one never reads it. */
export const advise: Advise = async (findings, subjects) =>
  (await import('../advice/advice.ts')).advise(findings, subjects);

/** Why a command did not start, loaded when one did not. */
export const explainStart: ExplainStart = async (argv, places) => {
  const { findStartProblem } = await import('../advice/commands.ts');
  const found = findStartProblem(argv, places);
  return found && `${found.problem}; ${found.remedy}`;
};
