/** What advice, explanation and editor read of mappings, beside what the engine needs. At most 40 names. */
import type { MappingSubject } from './compile-mapping.ts';
import type { MappingsSubject } from './compile.ts';
import type { TemplateSubject } from './template/template-subject.ts';

export { fileLevelKey } from './file-level-keys.ts';
export { MAPPING_ADVICE } from './foreign-keys.ts';
export type { HelperProblem, MappingFacts } from './finding-facts.ts';
export type { MappingSubject, MappingsSubject, TemplateSubject };
export type { TemplateArgument, TemplateCall } from './template/template-subject.ts';
export { BLOCK_HELPERS, HELPERS, type Helper } from './template/template-helpers.ts';
export { DATE_TOKENS } from './template/template-date.ts';
export { emptyPathFinding, itemFinding } from './condition/empty-path.ts';

/** What mapping files give to look at, by kind; what is in order, too. */
export interface MappingSubjects {
  readonly mapping: MappingSubject;
  readonly mappings: MappingsSubject;
  readonly template: TemplateSubject;
}
