/** What advice, explanation and editor read of documents, beside what the engine needs. At most 40 names. */
export type { DocumentFacts, PartFacts, SchemaName, SyntaxFacts, UnknownKeyFacts } from './finding-facts.ts';
export { formatPath, lineColumn, positionOf } from './located.ts';
export { definitionOf, findSchemas, findSchemasOf, isObject, knownKeys, wrappedBy } from './schema-keys.ts';
export { formatFindings, findingToJson, printAnnotation, type FindingJson } from './format-findings.ts';
export { longerWord, spelling } from './did-you-mean.ts';
export { editDocument } from './edit-document.ts';
export { inWords } from '../finding.ts';
export { parseDocument } from './parse-document.ts';
export { singleQuoted } from './print-yaml.ts';
export { applyEdits } from './text-edit.ts';
