/** Why a mapping did not take a request: the words of the operator's own file, and never a value. */
export interface MissedMapping {
  readonly mappingId: string;
  readonly part: string;
  readonly place?: string;
  /** The condition's failing leaf, as written. */
  readonly leaf?: string;
  /** `missing`: a variable was not sent; `unknown`: it could not be judged; `different`: another value was found. */
  readonly why?: 'missing' | 'unknown' | 'different';
  /** The variable that was missing. */
  readonly variable?: string;
  /** The path that the request has instead, where its words are those of the operator's files. */
  readonly instead?: string;
  /** What the two values have in common, in words that tell neither. */
  readonly how?: string;
}

/** What rendered empty, as the mapping writes it. */
interface EmptyPart {
  readonly field: string;
  readonly expression: string;
  readonly place: string;
  /** The path that the request has instead, where its words are those of the operator's files. */
  readonly instead?: string | undefined;
}

/** One decision, without any value of the payload. */
export interface DecisionRecord {
  readonly requestId: string;
  readonly receivedAt: number;
  /** Of a stranger only a name that mappings take, else empty. */
  readonly path: string;
  /** Where it is not POST. */
  readonly method?: string | undefined;
  readonly status: number;
  readonly outcome: 'accepted' | 'skipped' | 'rejected';
  readonly code?: string | undefined;
  /** The path keeps none of its requests, whatever the configuration says. */
  readonly keepRequests?: 'none' | undefined;
  /** What only the operator is told, e.g. which key set a limit, or why it was skipped. */
  readonly note?: string | undefined;
  /** Which rule made nothing of a request that was skipped. */
  readonly skippedBy?: string | undefined;
  /** What the sender was told of the error; nothing of the payload. */
  readonly detail?: string | undefined;
  readonly mappingId?: string | undefined;
  readonly actionIds: readonly string[];
  /** Per considered mapping where none matched: its id and its first failing part. */
  readonly missed?: readonly MissedMapping[] | undefined;
  /** Template paths that rendered empty, as the mapping writes them. */
  readonly empty?: readonly EmptyPart[] | undefined;
  /** Codes of warnings, e.g. `blank_dedupe_key`. */
  readonly warnings?: readonly string[] | undefined;
  readonly generation: string;
  readonly tookMs: number;
  readonly bodyBytes: number;
  /** It was answered before anything of its body was read; `bodyBytes` is 0 then. */
  readonly bodyUnread?: true | undefined;
  /** Why the proof of a sender failed, as the doctor says it. */
  readonly refusal?: { readonly scheme: string; readonly code: string; readonly text: string } | undefined;
  /** What transforms did, by kind and place; their texts are only in a kept request. */
  readonly transformNotes?: readonly string[] | undefined;
}

/** How many requests are kept, how large they may be together, and for how long. */
export interface KeptLimits {
  readonly count: number;
  readonly bytes: number;
  /** Absent: whatever their age. */
  readonly maxAgeMs?: number;
}

/** What applies where nobody says otherwise. */
export const KEPT_LIMITS: KeptLimits = { count: 100, bytes: 16 * 1024 * 1024 };

/** Decisions kept where nobody says otherwise. */
export const KEPT_DECISIONS = 10_000;

export interface KeptRequest {
  readonly requestId: string;
  readonly receivedAt: number;
  /** The hook request as JSON text, tokens already removed. */
  readonly json: string;
}
