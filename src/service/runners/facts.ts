/** What advice reads of runners, beside what the engine needs. At most 40 names. */
export { AGENT_PROFILES } from './agent-profiles.ts';
export type { RunnerFacts } from './runner-problems.ts';
