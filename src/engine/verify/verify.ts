/**
 * Proofs of senders: the raw body, the headers and the secrets of a path in, a proof or the reason of a refusal out.
 * Pure: the clock and the way to fetch an issuer's keys are handed in. Everything is judged over the bytes as they
 * came, or as they unpack; secrets are compared in constant time, and nothing of the payload is built before the proof.
 */
export {
  answerChallenge,
  type Challenge,
  type ChallengeFault,
  ChallengeSettings,
  compileChallenge,
  readsBody,
} from './challenge.ts';
export { findCoverageGaps } from './coverage.ts';
export { MAX_TRIED_BYTES, judgeSender, type RefusedProof, type SenderCheck } from './judge-sender.ts';
export type { ProofFinding } from './proof-findings.ts';
export { doubtSecret, type SecretFacts, secretSentence } from './secret-forms.ts';
export type { RefusalReason, Refused } from './proof.ts';
export type { SignedRequest } from './scheme.ts';
export { SCHEMES } from './schemes.ts';
export { nameOfSecret, SecretReference, SenderProof, VerifySettings } from './verify-settings.ts';
export { createVerifier, type ProofSettings, signsUrl, type Verifier } from './verifier.ts';
