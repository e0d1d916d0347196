import type { HookErrorCode } from '../errors.ts';
import type { Evaluation } from '../hook/hook.ts';
import type { HookRequest, JsonValue } from '../request.ts';
import type { Diagnosis, ProofSettings, Refused, SignedRequest } from '../verify/verify.ts';

/**
 * What is known of mistakes, bound to one generation. It is loaded when there is something to say, speaks to the operator
 * alone, and changes no answer: without it the same requests are taken, and the same refused.
 */
export interface RequestAdvisor {
  /** What to change where a request was refused before mappings saw it. */
  onRefusal(refused: RefusedRequest): string | undefined;
  /** What a decision may say beside its outcome; nothing that only the sender wrote. */
  onEvaluation(evaluation: Evaluation, request: HookRequest): RequestAdvice;
  /** How what a condition found differs from what it asks for, in words that tell neither. */
  howDifferent(failed: FailedPart): string | undefined;
  /** What to do where a repeat was a new event. */
  onRepeat(repeat: RepeatFacts): string | undefined;
  /** Of a transform that returned nothing, and whose request was refused. */
  readonly returnedNothing: string;
  /** Why the hook token was not accepted. */
  onToken(request: TokenFacts): Diagnosis;
  /** Why the proof of a sender was not accepted: costs as much as a hundred signatures. */
  onProof(facts: ProofFacts): Diagnosis;
  /** That a request without a proof only asks whether the address is right, and what answers it. */
  onQuestion(asked: QuestionFacts): Diagnosis | undefined;
}

export interface RequestAdvice {
  readonly notes: readonly string[];
  /** That `ignoreSenders` of the mapping found no account to compare. */
  readonly sender?: string;
  /** Variables and expressions that found nothing, with the path that would. */
  readonly instead: ReadonlyMap<string, string>;
}

type FailedPart = Extract<
  NonNullable<Evaluation['trace']['considered'][number]['failed']>,
  { readonly part: 'when' }
>['node'];

/** A request that was refused before mappings saw it. */
export interface RefusedRequest {
  readonly code: HookErrorCode;
  readonly detail: string;
  readonly field: string | undefined;
  /** The hook name it was sent to. */
  readonly name: string;
  /** The first mapping of the name, with its place. */
  readonly place: string | undefined;
  readonly method: string;
  readonly url: string | undefined;
  readonly headers: HookRequest['headers'];
  /** Of the error. */
  readonly facts: object | undefined;
}

/** By what a repeat was recognised. */
export interface RepeatFacts {
  readonly by: 'signed' | 'body' | 'key' | 'sender';
  /** The header that told it, where one did. */
  readonly header: string | undefined;
  readonly headers: HookRequest['headers'];
  readonly payload: JsonValue | undefined;
  readonly ttlSeconds: number | undefined;
}

/** A request without the right hook token: headers and parameters as they came; nothing of their values is told. */
export interface TokenFacts {
  readonly reason: 'missing' | 'wrong' | 'query-rejected';
  /** Compares as the token itself is compared, in the same time whatever differs. */
  readonly isToken: (text: string) => boolean;
  /** `hooks.queryToken`. */
  readonly queryToken: string;
  /** Node's flat list of names and values. */
  readonly rawHeaders: readonly string[];
  readonly query: Readonly<Record<string, string>>;
  /** The token of the address, as it was read from it. */
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
  /** The address as it was taken for the one that the sender called. */
  readonly url: string;
  readonly publicUrl: string | undefined;
  /** Whether the request carries the hook token. */
  readonly hasToken: boolean;
}

/** A request without a proof, and the mapping that it was sent to, with its place. */
export interface QuestionFacts {
  readonly headers: HookRequest['headers'];
  readonly query: Readonly<Record<string, string>>;
  readonly hasBody: boolean;
  /** Absent where it is long. */
  readonly body: Buffer | undefined;
  readonly place: string | undefined;
}
