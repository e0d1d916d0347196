import { defined } from '../../base/json.ts';

/** The reasons, with how far the judgement came: of several refusals the one that came furthest says most. */
const REASONS = {
  /** No secret of the path could be read. */
  'not-configured': 0,
  /** The header (or field) with the proof is not there. */
  'no-proof': 1,
  /** The proof is there, but not in the form of the scheme. */
  'malformed-proof': 2,
  /** The time or the id that is signed is not there. */
  'no-timestamp': 3,
  'malformed-timestamp': 3,
  'malformed-id': 3,
  /** The proof belongs to other bytes or another secret. */
  'wrong-proof': 5,
  /** The proof is right; its time lies too far from now. */
  'too-old': 6,
  'too-new': 6,
  /** The proof does not cover the body. */
  'body-not-covered': 4,
  /** The body cannot be read as far as the proof needs it. */
  'unreadable-body': 3,
  /** The claims of a token do not fit: its issuer, its audience or another one that the path asks for. */
  'wrong-claims': 6,
  /** The keys of the issuer could not be fetched. */
  'no-keys': 4,
} as const;

/** Why a request did not prove itself. The sender never hears it; the operator does. */
export type RefusalReason = keyof typeof REASONS;

export interface Proved {
  readonly kind: 'proved';
  /** 0 for the current secret, n for the n-th one after it in the list. */
  readonly retired: number;
  /** Seconds since the epoch, where the time of signing is signed. */
  readonly signedAtSeconds?: number;
  /** The id of the delivery, where it is signed. */
  readonly signedId?: string;
}

export interface Refused {
  readonly kind: 'refused';
  readonly reason: RefusalReason;
  /** How old the proof is, where its time could be read; negative for one from the future. */
  readonly ageSeconds?: number;
  /** What exactly, for the operator: the name of a claim, why keys could not be fetched. Nothing the sender wrote. */
  readonly detail?: string;
}

export type Proof = Proved | Refused;

export function refused(reason: RefusalReason, ageSeconds?: number): Refused {
  return ageSeconds === undefined ? { kind: 'refused', reason } : { kind: 'refused', reason, ageSeconds };
}

export function refusedFor(reason: RefusalReason, detail: string | undefined): Refused {
  return detail === undefined ? { kind: 'refused', reason } : { kind: 'refused', reason, detail };
}

/**
 * The proof of a request that the key at this place has signed; a refusal where it is -1, for none, or where the time of
 * signing lies too far from now.
 */
export function proofBy(
  retired: number,
  signed: { readonly atSeconds?: number | undefined; readonly id?: string | undefined } = {},
  age: { readonly nowMs: number; readonly toleranceSeconds: number } = { nowMs: 0, toleranceSeconds: 0 },
): Proof {
  const { atSeconds: signedAtSeconds, id: signedId } = signed;
  const ageSeconds =
    signedAtSeconds === undefined ? undefined : Math.floor(age.nowMs / 1000) - Math.floor(signedAtSeconds);
  if (retired < 0) return refused('wrong-proof', ageSeconds);
  if (ageSeconds !== undefined && Math.abs(ageSeconds) > age.toleranceSeconds)
    return refused(ageSeconds > 0 ? 'too-old' : 'too-new', ageSeconds);
  return { kind: 'proved', retired, ...defined({ signedAtSeconds, signedId }) };
}

/** The first proof that holds, else the refusal that came furthest. */
export function bestOf(proofs: readonly Proof[]): Proof {
  let best: Refused = refused('not-configured');
  for (const proof of proofs) {
    if (proof.kind === 'proved') return proof;
    if (REASONS[proof.reason] > REASONS[best.reason]) best = proof;
  }
  return best;
}
