/** What advice reads of bodies, beside what the engine needs. */
export { EXPECTED, type JsonFacts } from './json-error.ts';
export type { FormatFacts } from './formats.ts';
