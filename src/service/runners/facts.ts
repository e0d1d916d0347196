/** What advice reads of runners, beside what the engine needs. At most 40 names. */
export type { RunnerFacts } from './runner-problems.ts';
