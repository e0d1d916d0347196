/** What can be written at a place of a mapping file, for whoever edits one. */
export {
  blockAt,
  completeAt,
  describeKey,
  type Known,
  knownPaths,
  type KnownPath,
  type Offered,
  presence,
  type SampleContent,
  type TextAt,
} from './complete-at.ts';
export { parseExact } from './page/exact-json.ts';
