import type { Sentence } from '../finding.ts';
import type { RefusalReason } from './proof.ts';

/** What the doctor can find. Data for `--json`; the sentence is for people. */
export type DiagnosisCode =
  | RefusalReason
  | 'other-scheme'
  | 'prefix'
  | 'encoding'
  | 'algorithm'
  | 'signed-content'
  | 'timestamp-unit'
  | 're-encoded-body'
  | 'secret-white-space'
  | 'secret-encoding'
  | 'secret-prefix'
  | 'other-url'
  | 'no-token'
  | 'unknown-token'
  | 'token-elsewhere'
  | 'query-rejected'
  | 'no-verify'
  | 'address'
  | 'challenge'
  | 'wrong-secret';

/** Why a request did not prove itself, as far as it can be told. Nothing secret and nothing of the payload is in it. */
export interface Diagnosis {
  readonly code: DiagnosisCode;
  /** What is wrong, and what to do; one or two sentences. */
  readonly text: Sentence;
}
