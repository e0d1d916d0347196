/** What advice reads of transforms, beside what the engine needs. At most 40 names. */
import type { ModuleSubject } from './transform-facts.ts';

export { NODE_STAND_INS, standInOf } from './names.ts';
export type { ModuleSubject, SandboxFacts } from './transform-facts.ts';

/** What transforms give to look at, by kind. */
export interface SandboxSubjects {
  readonly module: ModuleSubject;
}
