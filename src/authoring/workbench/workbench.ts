/**
 * What every front end for authors shares: loading, drafts and their impact, completion, first mappings,
 * golden cases. It prints nothing, and nothing that it loads goes live.
 */
export {
  type AuthorFile,
  type AuthorFolders,
  type FileContent,
  findAuthorFile,
  findAuthorFiles,
  readAuthorFile,
  saveAuthorFile,
} from './author-files.ts';
export { completeAt, hoverText, type CompletionFacts, type CompletionChoice } from './complete-at.ts';
export { Drafts } from './drafts.ts';
export { FIRST_LIMITS, firstMappings, writeNewMapping } from './first-mapping.ts';
export { type Impact, Judge, type Judgement, judgementOf } from './judge.ts';
export { type LoadedFiles, type ValidFiles, judging, Workbench, type WorkbenchOptions } from './load.ts';
export { type LoadedProject, openProject, type Project } from './project.ts';
export { type EventId, idOf, kindOf, type SentSample } from './sample-facts.ts';
export { fieldInTemplate } from './sample-text.ts';
export { type ShownFinding, shownFinding } from './shown-finding.ts';
