export type { Finding, Place } from '../finding.ts';
export type { LocatedValue, Path } from './located.ts';
export { addressOrRange } from './address-range.ts';
export { didYouMean, isOneEditApart, longerWord, spelling } from './did-you-mean.ts';
export { documentKind, type DocumentKind, firstLine, nameOfKind } from './document-kind.ts';
export { editDocument } from './edit-document.ts';
export type { Edit } from './edit-document.ts';
export {
  alike,
  below,
  calledHere,
  secondsIn,
  type KeyAdvice,
  type MeantKey,
  type SchemaAdvice,
  type ValueHint,
} from './schema-words.ts';
export { describeValue } from './describe-value.ts';
export { fromZodError, validate } from './findings.ts';
export { byWeight, formatDiagnostics } from './format-diagnostics.ts';
export { hideTokens, holdsCredentials, isSecretPath, sourceOfCode } from './secret-ranges.ts';
export { inWords } from './in-words.ts';
export { formatPlace, lineColumn } from './line-column.ts';
export { parseDocument } from './parse-document.ts';
export type { ParsedDocument } from './parse-document.ts';
export { printYaml, singleQuoted } from './print-yaml.ts';
export { displayName, readBounded, readDocument } from './read-document.ts';
export { kindsAt } from './schema-keys.ts';
export type { TextEdit } from '../finding.ts';
export { applyEdits, replaceWithin, withEdit } from './text-edit.ts';
export { shorten } from './shorten.ts';
export { placeIfWritten, placeWithin } from './tree.ts';
