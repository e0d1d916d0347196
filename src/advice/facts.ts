import type { ConfigFacts, ConfigSubjects } from '../config/facts.ts';
import type { HookFacts } from '../hook/facts.ts';
import type { DocumentFacts } from '../document/facts.ts';
import type { GenerationFacts, GenerationSubjects } from '../generation/facts.ts';
import type { MappingFacts, MappingSubjects } from '../mapping/facts.ts';
import type { RunnerFacts } from '../runners/facts.ts';
import type { SandboxFacts, SandboxSubjects } from '../sandbox/facts.ts';
import type { SampledMapping } from './samples/sampled-mapping.ts';

/** What the engine says of a finding beside its place, by code. */
export type Facts = ConfigFacts &
  DocumentFacts &
  GenerationFacts &
  HookFacts &
  MappingFacts &
  RunnerFacts &
  SandboxFacts;

/** What the engine gives to look at, by kind. */
export type Subjects = ConfigSubjects &
  MappingSubjects &
  GenerationSubjects &
  SandboxSubjects & {
    'sampled-mapping': SampledMapping;
  };
