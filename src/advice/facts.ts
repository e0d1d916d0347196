import type { MappingFacts, MappingSubjects } from '../mapping/facts.ts';

/** What the engine says of a finding beside its place, by code. */
export type Facts = MappingFacts;

/** What the engine gives to look at, by kind. */
export type Subjects = MappingSubjects;
