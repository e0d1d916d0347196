import type { Sentence, StoredFinding } from '../../base/finding.ts';
import type { HookErrorCode } from '../../base/errors.ts';
import type { Evaluation } from '../../engine/hook/hook.ts';
import type { HookRequest } from '../../base/request.ts';
import type { ProofFinding, ProofSettings, Refused, SignedRequest } from '../../engine/verify/verify.ts';

/**
 * What is known of mistakes, bound to one generation. It is loaded when there is something to say, speaks to the
 * operator alone, and changes no answer: without it the same requests are accepted, and the same refused.
 */
export interface RequestAdvisor {
  /** What is known of a request that was refused before mappings saw it; nothing that only the sender wrote. */
  onRefusal(refused: RefusedRequest): StoredFinding | undefined;
  /** What a decision may say beside its outcome; nothing that only the sender wrote. */
  onEvaluation(evaluation: Evaluation, request: HookRequest): RequestAdvice;
  /** How what a condition found differs from what it asks for, in codes that tell neither. */
  howDifferent(failed: FailedCondition): StoredFinding | undefined;
  /** Which fields would be new for each event, where one counted as a repeat. */
  onRepeat(repeat: RepeatFacts): StoredFinding | undefined;
  /** The sentences of findings on a request of that hook name, for a log. */
  say(findings: readonly StoredFinding[], path: string): Sentence | undefined;
  sayProof(found: ProofFinding): Sentence | undefined;
  onToken(request: TokenFacts): ProofFinding;
  /** Why the proof of a sender was not accepted: costs as much as a hundred signatures. */
  onProof(facts: ProofFacts): ProofFinding;
  /** Says that a request without a proof only asks whether the address is right, and what answers it. */
  onQuestion(asked: QuestionFacts): ProofFinding | undefined;
}

export interface RequestAdvice {
  readonly findings: readonly StoredFinding[];
  /** Variables and expressions that found nothing, with the paths that would. */
  readonly instead: ReadonlyMap<string, readonly string[]>;
}

type FailedCondition = Extract<
  NonNullable<Evaluation['trace']['considered'][number]['failed']>,
  { readonly part: 'when' }
>['node'];

export interface RefusedRequest {
  readonly code: HookErrorCode;
  readonly field: string | undefined;
  readonly name: string;
  readonly method: string;
  readonly url: string | undefined;
  readonly headers: HookRequest['headers'];
  readonly facts: object | undefined;
}

export interface RepeatFacts {
  readonly by: 'signed' | 'event' | 'body' | 'key' | 'sender';
  /** The header that said it, where one did. */
  readonly header: string | undefined;
  readonly headers: HookRequest['headers'];
  readonly ttlSeconds: number | undefined;
}

/** A request without the right hook token: headers and parameters as they came; nothing of their values is shown. */
export interface TokenFacts {
  readonly reason: 'missing' | 'wrong' | 'query-rejected';
  /** Compares a text with the token, in the same time whatever differs. */
  readonly isToken: (text: string) => boolean;
  /** `hooks.queryToken`. */
  readonly queryToken: string;
  /** Node's flat list of names and values. */
  readonly rawHeaders: readonly string[];
  readonly query: Readonly<Record<string, string>>;
  /** The token that was in the address. */
  readonly addressToken?: string | undefined;
  /** The hook name; default one that a mapping has. */
  readonly unknownName?: string | undefined;
  /** The mapping of the hook name, with its place. */
  readonly mapping?: string | undefined;
}

/** A proof that was refused, and what the service knows beside it. */
export interface ProofFacts {
  readonly proof: ProofSettings;
  readonly request: SignedRequest;
  readonly refusal: Refused;
  readonly signsUrl: boolean;
  /** The address that the sender called, as far as it is known. */
  readonly url: string;
  readonly publicUrl: string | undefined;
  /** Whether the request carries the hook token. */
  readonly hasToken: boolean;
}

/** A request without a proof, and the mapping that it was sent to, with its place. */
export interface QuestionFacts {
  readonly method: string | undefined;
  readonly headers: HookRequest['headers'];
  readonly query: Readonly<Record<string, string>>;
  readonly hasBody: boolean;
  /** Absent where the body is long. */
  readonly body: Buffer | undefined;
  readonly place: string | undefined;
}
