/** What advice, explanation and editor read of documents, beside what the engine needs. At most 40 names. */
export type { DocumentFacts, SyntaxFacts } from './finding-facts.ts';
export { positionOf } from './line-column.ts';
export { firstStumbles } from './yaml-stumbles.ts';
