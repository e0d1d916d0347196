import type { ConfigFacts } from '../../engine/config/facts.ts';
import type { HookFacts } from '../../engine/hook/facts.ts';
import type { DocumentFacts } from '../../base/document/facts.ts';
import type { GenerationFacts, GenerationSubjects } from '../../service/generation/facts.ts';
import type { MappingFacts, MappingSubjects } from '../../engine/mapping/facts.ts';
import type { RunnerFacts } from '../../service/runners/facts.ts';
import type { SandboxFacts } from '../../engine/sandbox/facts.ts';
import type { SampledMapping } from './samples/sampled-mapping.ts';

export type CodeFacts = ConfigFacts &
  DocumentFacts &
  GenerationFacts &
  HookFacts &
  MappingFacts &
  RunnerFacts &
  SandboxFacts;

export type Subjects = MappingSubjects &
  GenerationSubjects & {
    'sampled-mapping': SampledMapping;
  };
