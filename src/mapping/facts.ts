/** What advice, explanation and editor read of mappings, beside what the engine needs. At most 40 names. */
import type { MappingSubject } from './compile-mapping.ts';
import type { MappingsSubject } from './compile.ts';

export type { MappingFacts } from './finding-facts.ts';
export type { MappingSubject, MappingsSubject };

/** What mapping files give to look at, by kind; what is in order, too. */
export interface MappingSubjects {
  readonly mapping: MappingSubject;
  readonly mappings: MappingsSubject;
}
