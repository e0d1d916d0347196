/** Configuration, mappings, transforms and channels as one thing that goes live whole. */
export { approvalLink, readApprovalName } from './approval-link.ts';
export { checkGeneration, checkTypes } from './check-generation.ts';
export {
  loadGeneration,
  type Generation,
  type GenerationOptions,
  type LoadedGeneration,
} from './load-generation.ts';
export { type PathRecovery, type Problem, recoveryOf, senderOf } from './recoveries.ts';
export type { Advise } from './report-findings.ts';
export { loadKeptGeneration, packGeneration, type OldGeneration } from './kept-generation.ts';
export { keptSettings } from './kept-settings.ts';
export { noticePath } from './notice-path.ts';
export {
  openLiveGeneration,
  type LiveGeneration,
  type LiveOptions,
  type ReloadResult,
  WrongFilesError,
} from './live-generation.ts';
