import type { MappingFacts } from '../mapping/facts.ts';

/** What the engine says of a finding beside its place, by code. */
export type Facts = MappingFacts;
