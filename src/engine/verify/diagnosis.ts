import type { ChallengeFault } from './challenge.ts';
import type { RefusalReason } from './proof.ts';
import type { SecretFacts } from './secret-forms.ts';
import type { SecretReference, SenderProof } from './verify-settings.ts';

/** What only the sender wrote, such as the name of a header that nobody knows. */
export interface SentName {
  readonly sent: string;
}
/** A name of ours or of the operator's files, or one of the sender's. */
export type Name = string | SentName;

/** A `verify` that may be the right one. */
export interface OtherVerify {
  readonly verify: SenderProof;
  /** The secrets of the path, as its mapping refers to them. */
  readonly secrets: readonly SecretReference[];
  /** The scheme of the path. */
  readonly now: string;
  /** The header that has the proof; absent where the body has it. */
  readonly header?: Name;
  /** Whether the proof is right so; otherwise it only looks so, and the secret is another one. */
  readonly isProved: boolean;
  /** Who sends this header, where it is known. */
  readonly of?: readonly string[];
  /** Others that send it, by their schemes. */
  readonly or?: readonly string[];
  /** Keys of the path's own verify that have to change, where that is enough. */
  readonly write?: Readonly<Record<string, string>>;
  readonly remove?: readonly string[];
}

/** Where a `verify` would stand, and whether the path may have one. */
interface Place {
  /** The mapping of the path, with its place; absent where there is none. */
  readonly mapping?: string;
  /** The hook name that is nearest to one that no mapping has. */
  readonly near?: string;
}

/** The secrets of a path by their names in its mapping. */
interface Secrets {
  readonly names: readonly string[];
}

/** What is found out with each code. Nothing secret and nothing of the payload is in it. */
interface DiagnosisFacts extends Record<Exclude<RefusalReason, keyof PlainFacts>, object>, PlainFacts {
  readonly 'other-scheme': OtherVerify;
  readonly prefix: OtherVerify;
  readonly encoding: OtherVerify;
  readonly algorithm: OtherVerify;
  readonly 'signed-content': OtherVerify;
  readonly 'timestamp-unit': OtherVerify;
  readonly 'secret-encoding': OtherVerify;
  /** How the body was written that was signed. */
  readonly 're-encoded-body': {
    readonly form: 'trimmed' | 'line end' | 'line ends' | 'compact' | 'two spaces' | 'Python';
    readonly escapes?: 'letters' | 'slashes' | 'signs';
  };
  readonly 'secret-white-space': Secrets & { readonly around: 'space' | 'quotes' };
  /** `word`: it stands before the secret, in its value or as it is sent; absent of a prefix such as `whsec_`. */
  readonly 'secret-prefix': Secrets & { readonly word?: string; readonly isSent?: boolean };
  /** Of the address that was signed, what is known of it; `taken`: the one that was tried. */
  readonly 'other-url': {
    readonly origin?: Name;
    readonly path?: 'query' | 'slash' | 'begin';
    readonly cut?: string;
    readonly taken?: string;
  };
  /** `beside`: the scheme of a path that asks for both. `has`: what Authorization holds in its place. */
  readonly 'no-token': Place & {
    readonly beside?: string;
    readonly has?: 'basic' | 'other';
    readonly takesQuery?: boolean;
  };
  readonly 'unknown-token': { readonly around?: 'space' | 'quotes'; readonly isVariable?: boolean };
  readonly 'token-elsewhere': Place & {
    readonly in: 'header' | 'authorization' | 'query';
    readonly name?: Name;
    readonly word?: string;
    readonly takesQuery: boolean;
  };
  readonly 'query-rejected': object;
  readonly 'no-verify': Place & {
    readonly header: Name;
    /** Who sends it, where it is known, and each way in which they prove themselves, as it is written. */
    readonly of: readonly string[];
    readonly schemes: readonly string[];
    readonly isUnknown: boolean;
  };
  /** The address that was judged. */
  readonly address: SentName;
  /** `why`: the mapping answers such a question, and this one is wrong. */
  readonly challenge: Place & {
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
    /** What the secret is by its form. */
    readonly otherKey?: string;
    /** A header with a time, which the path does not take as signed. */
    readonly time?: Name;
    readonly isSentInQuotes?: boolean;
  };
}

/** Of the reasons of a refusal, those of which more is known. */
interface PlainFacts {
  /** `doubts`: what is wrong with each secret that is there and cannot be used. */
  readonly 'not-configured': Secrets & {
    readonly isUnset: boolean;
    readonly doubts?: readonly SecretFacts[];
  };
  readonly 'no-proof': {
    readonly scheme: string;
    readonly headers: readonly string[];
    readonly hasToken?: boolean;
  };
  readonly 'malformed-proof': OtherVerify | { readonly scheme: string };
  readonly 'too-old': Age;
  readonly 'too-new': Age;
  readonly 'wrong-claims': { readonly detail?: string };
  readonly 'no-keys': { readonly detail?: string };
  /** `user`: what verify names, where the password is right. */
  readonly 'wrong-proof': { readonly scheme: string; readonly user?: string; readonly detail?: string };
}

interface Age {
  readonly scheme: string;
  /** Negative for a time that is to come. */
  readonly ageSeconds?: number;
  readonly toleranceSeconds?: number;
}

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
export type FactsOf<Code extends DiagnosisCode> = DiagnosisFacts[Code];

/** Why a request did not prove itself, as far as it can be told: data, whose sentence `advice` makes when it is shown. */
export type Diagnosis = {
  readonly [Code in DiagnosisCode]: { readonly code: Code; readonly facts: DiagnosisFacts[Code] };
}[DiagnosisCode];
