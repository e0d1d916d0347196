/**
 * Proofs of senders: the raw body, the headers and the secrets of a path in, a proof or the reason of a refusal out.
 * Pure: the clock and the way to fetch an issuer's keys are handed in. Everything is judged over the bytes as they
 * came, secrets are compared in constant time, and nothing of the payload is built before the proof.
 */
export {
  answerChallenge,
  type Challenge,
  type ChallengeResult,
  ChallengeSettings,
  compileChallenge,
  readsBody,
} from './challenge.ts';
export { type CommentMark, findCommentMark, markComment } from './comment-mark.ts';
export { describeCoverage, findCoverageGaps, proofCoverage, type Coverage } from './coverage.ts';
export { schemesOfHeader } from './scheme-headers.ts';
export { isPlainHeaderName } from './find-header.ts';
export { MAX_TRIED_BYTES } from './judge-sender.ts';
export type { Diagnosis, DiagnosisCode } from './diagnosis.ts';
export { doubtSecret, type SecretFacts, secretSentence } from './secret-forms.ts';
export { presentedToken, TOKEN_HEADERS } from './credentials.ts';
export {
  type Arrival,
  judgeSender,
  type RefusedProof,
  type SenderDoor,
  type SenderVerdict,
} from './judge-sender.ts';
export { type Proof, type Proved, type RefusalReason, type Refused } from './proof.ts';
export type { Scheme, SignedRequest } from './scheme.ts';
export { PROVIDER_NAMES, type ProviderName, SCHEMES } from './schemes.ts';
export { nameOfSecret, type SecretReference, secretsText, VerifySettings } from './verify-settings.ts';
export { signRequest, type SigningFacts, type SignResult } from './sign.ts';
export {
  createVerifier,
  type ProofSettings,
  type ReceivedRequest,
  signsUrl,
  type Verifier,
  type VerifierDeps,
} from './verifier.ts';
export { trimMarks } from './trim-marks.ts';
export type { SecretProblem } from './ways.ts';
