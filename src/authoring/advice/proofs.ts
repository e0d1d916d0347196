export { findProofFault } from './proofs/proof-fault.ts';
export { sayProof } from './proofs/say.ts';
