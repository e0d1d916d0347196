/** Configuration, mappings, transforms and channels as one thing that goes live whole. */
export {
  loadGeneration,
  checkGeneration,
  type Generation,
  type GenerationOptions,
  type LoadedGeneration,
} from './load-generation.ts';
export { noticePath } from './notice-path.ts';
export {
  openLiveGeneration,
  type LiveGeneration,
  type LiveOptions,
  type ReloadResult,
} from './live-generation.ts';
