/** What advice, explanation and editor read of documents, beside what the engine needs. At most 40 names. */
export type { DocumentFacts, PartFacts, SchemaName, SyntaxFacts, UnknownKeyFacts } from './finding-facts.ts';
export { positionOf } from './line-column.ts';
export { formatPath, keyText } from './path-text.ts';
export {
  definitionOf,
  findSchemas,
  findSchemasOf,
  isFixed,
  isObject,
  kindsAt,
  knownKeys,
  wrappedBy,
} from './schema-keys.ts';
export { firstStumbles } from './yaml-stumbles.ts';
