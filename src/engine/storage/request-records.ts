import type { StoredFinding } from '../../base/finding.ts';

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
  /** The paths that the request has instead, where their words are those of the operator's files. */
  readonly instead?: readonly string[];
  /** What the two values have in common, which tells neither. */
  readonly how?: StoredFinding;
}

/** What rendered empty, as the mapping writes it. */
export interface EmptyPart {
  readonly field: string;
  readonly expression: string;
  readonly place: string;
  /** The paths that the request has instead, where their words are those of the operator's files. */
  readonly instead?: readonly string[] | undefined;
}

/** A request that was taken again, as its replay. */
export interface Replay {
  readonly requestId: string;
  readonly outcome: 'accepted' | 'skipped' | 'rejected';
}

/** One decision, without any value of the payload. */
export interface DecisionRecord {
  readonly requestId: string;
  readonly receivedAt: number;
  /** For a request that proved nothing, a name that mappings take, else empty. */
  readonly path: string;
  /** Where it is not POST. */
  readonly method?: string | undefined;
  readonly status: number;
  readonly outcome: 'accepted' | 'skipped' | 'rejected';
  readonly code?: string | undefined;
  /** What the path itself says of which of its requests are kept. */
  readonly keepRequests?: string | undefined;
  /** For the operator alone, e.g. which key set a limit, or why the request was skipped. */
  readonly findings?: readonly StoredFinding[] | undefined;
  /** True where the version that decided stored sentences, which are gone. */
  readonly isOlder?: true | undefined;
  /** Which rule made nothing of a request that was skipped. */
  readonly skippedBy?: string | undefined;
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
  /** True where the answer came before the body was read; `bodyBytes` is 0 then. */
  readonly bodyUnread?: true | undefined;
  /** When the sender could not deliver the event before it was asked for it again, and from whom it was fetched. */
  readonly recovered?: { readonly missedAt: number; readonly fetchedFrom?: string } | undefined;
  /** The request that this one is a replay of. */
  readonly replayOf?: string | undefined;
  /** The requests that this one was taken again as, and what came of them; the first is the oldest. */
  readonly replays?: readonly Replay[] | undefined;
  /** Why the proof of a sender failed: what the doctor found, and its facts by code. */
  readonly refusal?: (StoredFinding<string, object> & { readonly scheme: string }) | undefined;
}

/** The recovery of one path; each text is empty where there is nothing. */
export interface RecoveryRecord {
  readonly path: string;
  /** How far it is, in the words of whoever does it. */
  readonly state: string;
  readonly wanted: string;
}

/** How large requests of one kind may be together, and where it is said, how many are kept. */
export interface KeptCapacity {
  readonly count?: number | undefined;
  readonly bytes: number;
}

/** What is kept of requests: whole ones, and the shapes of accepted ones. */
export interface KeptLimits extends KeptCapacity {
  readonly shapes: KeptCapacity;
}

/** What applies where nobody says otherwise. */
export const KEPT_LIMITS: KeptLimits = {
  bytes: 16 * 1024 * 1024,
  shapes: { bytes: 64 * 1024 * 1024 },
};

/** Decisions kept where nobody says otherwise. */
export const KEPT_DECISIONS = 10_000;

export interface KeptRequest {
  readonly requestId: string;
  readonly receivedAt: number;
  /** `whole`, or the `shape` of one that was accepted. */
  readonly kind: 'whole' | 'shape';
  /** The hook name: where space is needed, a path with more than a quarter of it gives it. */
  readonly path: string;
  /** Stands for what became of it: the first and the last of each are forgotten after all others. Not read back. */
  readonly cause?: string;
  /** The hook request as JSON text, tokens already removed. */
  readonly json: string;
}

/** Kept requests that are read together: received from `from` until before `to`, and kept before `before`. */
export interface KeptPart {
  readonly from: number;
  readonly to: number;
  readonly before?: number;
  readonly maxBytes: number;
}

/** A file of a generation, as it was when it was live. */
export interface KeptFile {
  /** Mappings, senders and transforms stand in folders of their own. */
  readonly folder: 'mappings' | 'senders' | 'transforms';
  /** Relative to its folder. */
  readonly name: string;
  readonly hash: string;
  /** Deflated, in base64. */
  readonly content: string;
}

/** The files that were live under the id of a generation. */
export interface KeptGeneration {
  readonly id: string;
  readonly files: readonly KeptFile[];
}

/** What both threads know of the two rings: what was decided lately, and requests that are kept. */

/** Decisions written at once: a burst is spread over the next writes, so that work of senders passes between them. */
export const MAX_DECISIONS_PER_WRITE = 250;

/**
 * Requests of strangers that are kept, apart from the decisions: who proves nothing can send many, and must not be able
 * to flush what was decided for others.
 */
export const MAX_STRANGERS = 200;
/** Stands in the column `outcome` of a stranger's request. */
export const STRANGER = 'stranger';

export interface DecisionRow {
  readonly requestId: string;
  readonly mappingId: string | null;
  readonly outcome: string;
  readonly generation: string;
  readonly json: string;
}

export interface KeptRow {
  readonly requestId: string;
  readonly receivedAt: number;
  readonly kind: KeptRequest['kind'];
  readonly path: string;
  readonly cause: string;
  readonly bytes: number;
  readonly json: string;
}
