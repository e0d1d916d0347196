import {
  findingAt,
  shorten,
  type Finding,
  type LocatedValue,
  type Path,
} from '../../base/document/document.ts';
import type { Subject } from '../../base/finding.ts';
import type { MappingFacts } from './finding-facts.ts';

/** Every code this folder reports besides those of reading a file; each has a page in `docs/findings/`. */
export const MAPPING_CODES = [
  'CHALLENGE_INCOMPLETE',
  'CONDITION_ARITY',
  'CONDITION_LOG',
  'CONDITION_NOT_A_RULE',
  'CONDITION_NOT_ONE_OPERATOR',
  'CONDITION_TOO_DEEP',
  'CONDITION_UNKNOWN_OPERATOR',
  'DUPLICATE_MAPPING_ID',
  'FOREIGN_PATH',
  'HEADER_NAME_CASE',
  'INSTRUCTIONS_NOT_LITERAL',
  'INVALID_CALLBACK_URL',
  'INVALID_DEBOUNCE',
  'INVALID_FOR_EACH',
  'INVALID_MAPPING_PATH',
  'INVALID_RECIPIENT',
  'INVALID_STARTED_BY',
  'KEY_ESCAPED',
  'ITEM_WITHOUT_FOR_EACH',
  'MAIN_SESSION_KEY',
  'MAPPING_FILE_PASSED_OVER',
  'MAPPING_FILE_SHAPE',
  'MODEL_NOT_ALLOWED',
  'NOT_LITERAL',
  'OPENCLAW_SHARED_CONVERSATIONS',
  'PATH_SETTINGS_DIFFER',
  'PATH_SETTINGS_WITHOUT_PATH',
  'PROOF_NOT_COVERING',
  'REFERENCE_NOT_REPLACED',
  'RESERVED_PATH',
  'SESSION_KEY_REFUSED',
  'SESSION_KEY_WITHOUT_ID',
  'TEMPLATE_FOREIGN_SYNTAX',
  'TEMPLATE_HELPER_USAGE',
  'TEMPLATE_NOT_SUPPORTED',
  'TEMPLATE_SYNTAX',
  'TEMPLATE_TOO_LONG',
  'TEMPLATE_UNKNOWN_DATA',
  'TEMPLATE_UNKNOWN_HELPER',
  'TOKEN_CARRIER_READ',
  'UNKNOWN_CHANNEL',
  'UNKNOWN_RUNNER',
  'UNKNOWN_AGENT_ID',
  'UNKNOWN_THINKING',
  'UNKNOWN_WORK_FOLDER',
  'UNREACHABLE_MAPPING',
  'UNSAFE_CONTENT_ALLOWED',
  'UNTRUSTED_ROUTING',
  'VERIFY_SECRET',
  'WRONG_TEMPLATE_KEY',
] as const;
export type MappingCode = (typeof MAPPING_CODES)[number];

type PlainReport = Parameters<typeof findingAt>[1];

/** A finding of a mapping but for its place. */
export interface MappingReport<Code extends MappingCode = MappingCode> extends PlainReport {
  readonly code: Code;
  readonly facts?: Code extends keyof MappingFacts ? MappingFacts[Code] : object;
}

/** Collects the findings of one mapping. */
export interface MappingReporter {
  readonly findings: Finding[];
  /** What advice may look at. */
  readonly subjects: Subject[];
  /** An error, unless the finding says otherwise, at the value or key of a path. */
  report<Code extends MappingCode>(path: Path, finding: MappingReport<Code>, what?: 'key' | 'value'): void;
  /** Gives something to look at. */
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
