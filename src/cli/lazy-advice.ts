import type { Advise } from '../generation/generation.ts';

/** What is known of mistakes, loaded when there is a finding: a start without one never reads it. */
export const advise: Advise = async (findings, subjects) =>
  (await import('../advice/advice.ts')).advise(findings, subjects);
