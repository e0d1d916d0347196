import type { StoredFinding } from '../../base/finding.ts';
import type { ChallengeFault } from './challenge.ts';
import type { RefusalReason } from './proof.ts';
import type { SecretFacts } from './secret-forms.ts';
import type { SecretReference, SenderProof } from './verify-settings.ts';

/** A name of ours or of the operator's files, or what only the sender wrote, such as the name of a header. */
export type FactName = string | { readonly sent: string };

/** A `verify` by which the request is right, or which belongs to the sender whose header it carries. */
export interface OtherVerify {
  readonly verify: SenderProof;
  /** The secrets of the path, as its mapping refers to them. */
  readonly secrets: readonly SecretReference[];
  readonly now: string;
  /** Whether the request is right by it, with the secret as it is. */
  readonly isProved: boolean;
  /** Otherwise the header that it carries, who sends that, and the schemes of others who do. */
  readonly header?: FactName;
  readonly of?: readonly string[];
  readonly or?: readonly string[];
}

/** Where a `verify` would stand, and whether the path may have one. */
interface VerifyPlace {
  /** The mapping of the path, with its place; absent where there is none. */
  readonly mapping?: string;
  /** The hook name that is nearest to one that no mapping has. */
  readonly near?: string;
}

/** The secrets of a path by their names in its mapping. */
interface Secrets {
  readonly names: readonly string[];
}

interface ProofAge {
  readonly scheme: string;
  /** Negative for a time that is to come. */
  readonly ageSeconds?: number;
  readonly toleranceSeconds?: number;
}

/** What is found out with each code. Nothing secret and nothing of the payload is in it. */
interface FactsByCode extends Record<Exclude<RefusalReason, keyof PlainFacts>, object>, PlainFacts {
  readonly 'other-scheme': OtherVerify;
  readonly prefix: OtherVerify;
  readonly encoding: OtherVerify;
  readonly algorithm: OtherVerify;
  readonly 'signed-content': OtherVerify;
  readonly 'timestamp-unit': OtherVerify;
  readonly 'secret-encoding': OtherVerify;
  readonly 'secret-white-space': Secrets & { readonly around: 'space' | 'quotes' };
  /** `word`: it stands before the secret, in its value or as it is sent; absent of a prefix such as `whsec_`. */
  readonly 'secret-prefix': Secrets & { readonly word?: string; readonly isSent?: boolean };
  /** `taken`: the address that was tried. */
  readonly 'other-url': { readonly taken?: string };
  /** `beside`: the scheme of a path that asks for both. `has`: what Authorization holds in its place. */
  readonly 'no-token': VerifyPlace & {
    readonly beside?: string;
    readonly has?: string;
  };
  readonly 'unknown-token': { readonly around?: 'space' | 'quotes' };
  /** `word`: before the token in its header. */
  readonly 'token-elsewhere': VerifyPlace & {
    readonly in: 'header' | 'authorization' | 'query';
    readonly name?: FactName;
    readonly word?: string;
  };
  readonly 'query-rejected': object;
  readonly 'no-verify': VerifyPlace & {
    readonly header: FactName;
    /** Who sends it, where it is known, and each way in which they prove themselves, as it is written. */
    readonly of: readonly string[];
    readonly schemes: readonly string[];
    readonly isUnknown: boolean;
  };
  readonly address: { readonly sent: string };
  /** `why`: the mapping answers such a question, and this one is wrong. */
  readonly challenge: VerifyPlace & {
    readonly asks: string;
    readonly why?: ChallengeFault;
    /** The line of a mapping that answers it, and what else there is to do. */
    readonly write?: string;
    readonly also?: string;
  };
  readonly 'wrong-secret': Secrets & {
    readonly scheme: string;
    /** A header in which the secret itself stands. */
    readonly header?: string;
    readonly otherKey?: string;
    /** A header with a time, which the path does not take as signed. */
    readonly time?: FactName;
    readonly isSentInQuotes?: boolean;
  };
}

/** Facts of those reasons of a refusal of which more is known. */
interface PlainFacts {
  /** `doubts`: what is wrong with each secret that is there and cannot be used. */
  readonly 'not-configured': Secrets & {
    readonly isUnset: boolean;
    readonly doubts?: readonly SecretFacts[];
  };
  /** `carries`: a header that looks like a signature of another kind. */
  readonly 'no-proof': {
    readonly scheme: string;
    readonly headers: readonly string[];
    readonly hasToken?: boolean;
    readonly carries?: FactName;
  };
  /** The scheme is absent where an earlier version kept more. */
  readonly 'malformed-proof': { readonly scheme?: string };
  readonly 'too-old': ProofAge;
  readonly 'too-new': ProofAge;
  readonly 'wrong-claims': { readonly detail?: string };
  readonly 'no-keys': { readonly detail?: string };
  /** `user`: what verify names, where the password is right. */
  readonly 'wrong-proof': { readonly scheme: string; readonly user?: string; readonly detail?: string };
}

/** What can be found of a proof: the reason of its refusal, or what trying shows. */
export type ProofCode =
  | RefusalReason
  | 'other-scheme'
  | 'prefix'
  | 'encoding'
  | 'algorithm'
  | 'signed-content'
  | 'timestamp-unit'
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
export type FactsOf<Code extends ProofCode> = FactsByCode[Code];

/** Why a request did not prove itself, as far as that is known; `advice` makes its sentence when it is shown. */
export type ProofFinding = {
  readonly [Code in ProofCode]: StoredFinding<Code, FactsOf<Code>> & { readonly facts: FactsOf<Code> };
}[ProofCode];
