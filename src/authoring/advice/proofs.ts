/** Why a request did not prove itself, and what to write: for the operator alone. */
export { diagnose } from './proofs/diagnose.ts';
export { sayProof } from './proofs/say.ts';
