import { printSentence } from '../../base/finding.ts';
import type { Advise } from '../../service/generation/generation.ts';
import type { ExplainStart } from '../../service/runners/runners.ts';
import type { ServiceOptions } from '../../service/startup/startup.ts';
import { knownSenders } from '../../engine/senders/senders.ts';

/** Advice is loaded when there is a finding: a start without one never reads it. */
export const advise: Advise = async (findings, subjects) =>
  (await import('../../authoring/advice/advice.ts')).advise(findings, subjects);

/** Explains why a command did not start; loaded when one did not. */
export const explainStart: ExplainStart = async (argv, path) => {
  const { findStartProblem } = await import('../../authoring/advice/commands.ts');
  const found = findStartProblem(argv, path);
  return found && `${found.problem}; ${found.remedy}`;
};

/** Loads each part of the advice when the service asks for it the first time. */
export const serviceAdvice = {
  advise,
  explainStart,
  loadAdvisor: async ({ table, config: { file, settings } }) => {
    const { createAdvisor } = await import('../../authoring/advice/requests.ts');
    return createAdvisor(table, await knownSenders(file, settings.hooks));
  },
  adviseRun: async (run, config) => {
    const said = (await import('../../authoring/explanation/explanation.ts')).runAdvice(run, config);
    return said && printSentence(said);
  },
} satisfies Partial<ServiceOptions>;
