/** Why a request did not prove itself, and what to write: for the operator alone. */
export { findProofFault } from './proofs/proof-fault.ts';
export { sayProof } from './proofs/say.ts';
