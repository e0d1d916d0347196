import { findingAt, type Finding, type LocatedValue, type Path } from '../../base/document/document.ts';
import { type Subject, shorten } from '../../base/finding.ts';
import type { MappingFacts } from './finding-facts.ts';

type PlainReport = Parameters<typeof findingAt>[1];

/** A finding of a mapping but for its place. */
export interface MappingReport<Code extends string = string> extends PlainReport {
  readonly code: Code;
  readonly facts?: Code extends keyof MappingFacts ? MappingFacts[Code] : object;
}

export interface MappingReporter {
  readonly findings: Finding[];
  /** What advice may look at. */
  readonly subjects: Subject[];
  /** An error, unless the finding says otherwise, at the value or key of a path. */
  report<Code extends string>(path: Path, finding: MappingReport<Code>, what?: 'key' | 'value'): void;
  show(subject: Subject): void;
}

export function createReporter(located: LocatedValue): MappingReporter {
  const findings: Finding[] = [];
  const subjects: Subject[] = [];
  return {
    findings,
    subjects,
    report: (path, finding, what) => void findings.push(findingAt(located.place(path, what), finding)),
    show: (subject) => void subjects.push(subject),
  };
}

/** A value from a file as messages quote it, at most 80 characters. */
export function quote(text: string): string {
  return JSON.stringify(shorten(text));
}
