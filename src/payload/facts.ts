/** What advice reads of bodies, beside what the engine needs. */
export type { JsonFacts } from './json-error.ts';
