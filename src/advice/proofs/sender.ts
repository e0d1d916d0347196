import { say, todo } from '../../finding.ts';
import type { ProofFacts } from '../../server/server.ts';
import type { Diagnosis } from '../../verify/verify.ts';
import { diagnose } from './diagnose.ts';

/** Says why the proof of a sender was not accepted, with what the service knows beside the proof itself. */
export function explainProof({ proof, request, refusal, ...known }: ProofFacts): Diagnosis {
  if (refusal.reason === 'no-proof' && known.hasToken) return TOKEN_FOR_A_SIGNATURE;
  const found = diagnose(proof, request, refusal);
  if (found.code !== 'wrong-secret' || !known.signsUrl) return found;
  return known.publicUrl === undefined ? ADDRESS_UNKNOWN : otherAddress(known.url);
}

/** Nothing in the request says which address its sender called. */
const otherAddress = (url: string): Diagnosis => ({
  code: 'other-url',
  text: say`this sender signs the address that it calls, and it was taken for ${url.replace(/\?.*$/s, '')} (server.publicUrl with the path): if another one stands at the sender, write the beginning of that at publicUrl; if it is this one, the secret is another one`,
});

const ADDRESS_UNKNOWN: Diagnosis = {
  code: 'other-url',
  text: say`this sender signs the address that it calls, and server.publicUrl does not say what that is: ${todo}set it, e.g. https://hooks.example.com; if the signature still does not fit, the secret is another one`,
};

const TOKEN_FOR_A_SIGNATURE: Diagnosis = {
  code: 'no-proof',
  text: say`the request carries the hook token, but verify of this path asks for the proof of its sender instead: sign it (sluice send --sign does), or remove verify from the mappings of the path`,
};
