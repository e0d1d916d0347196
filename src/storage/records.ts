import type {
  Action,
  ActionOrigin,
  AgentAction,
  ConversationOwner,
  DeliveryTarget,
  RunAction,
  Warning,
} from '../action.ts';

export interface AcceptedWork {
  readonly requestId: string;
  readonly receivedAt: number;
  readonly actions: readonly Action[];
  readonly warnings: readonly Warning[];
  /** From the `Idempotency-Key` header: scope is the path. */
  readonly idempotency?: IdempotencyKey;
}

export interface IdempotencyKey {
  readonly scope: string;
  readonly key: string;
  /** SHA-256 of the raw body, hex: the same key with another body is refused. */
  readonly bodySha256: string;
  readonly ttlSeconds: number;
}

export interface IdempotentRecord {
  readonly bodySha256: string;
  readonly result: AcceptResult;
}

/** What the answer to the sender is made of; stored with the idempotency key and given again to a repeat. */
export interface AcceptResult {
  /** One entry per action, in order. */
  readonly accepted: readonly AcceptedAction[];
  readonly warnings: readonly Warning[];
  /** True where the whole request repeats one already accepted (same Idempotency-Key, or every action deduped). */
  readonly duplicate: boolean;
}

export interface AcceptedAction {
  readonly kind: Action['kind'];
  /** Id of the event or run; for a duplicate that of the first. */
  readonly id: string;
  readonly mode: 'now' | 'next-heartbeat';
  readonly duplicate: boolean;
}

export type RunState = 'queued' | 'active' | 'completed' | 'dead';
/** `forwarded`: another gateway took the turn and keeps its reply. */
export type RunOutcome = 'ok' | 'error' | 'timeout' | 'forwarded';

export interface ProcessMark {
  readonly pgid: number;
  /** Start time of the group leader as the kernel counts it (clock ticks since boot), against reused pids. */
  readonly startTicks: string;
}

export interface AttemptFailure {
  /** Stable lower_snake code, e.g. `spawn_failed`, `connection_refused`, `interrupted`. */
  readonly code: string;
  readonly message: string;
  /** When the next attempt is due. */
  readonly retryAt: number;
  /** True where the attempt does not count: the agent is away, or the service stops in good order. */
  readonly isHeld?: boolean;
  readonly nowMs: number;
}

/** A runner whose runs wait, because nothing can be started there: it is away, or asks for a pause. */
export interface RunnerHold {
  readonly runner: string;
  /** The model whose runs wait; absent where all runs of the runner do. */
  readonly model?: string;
  readonly since: number;
  /** Why, as the runner said it last. */
  readonly code: string;
  readonly message: string;
  /** When a run is tried again. */
  readonly retryAt: number;
  /** Tries in a row that failed. */
  readonly tries: number;
}

/** A hold with the queued runs of its runner, whatever their model. */
export interface HeldRunner extends RunnerHold {
  readonly waiting: number;
}

export interface RunRecord<Kind extends RunAction = RunAction> {
  readonly id: string;
  readonly kind: 'hook' | 'heartbeat';
  /** A notification is stored as a run that has ended: what is left of it is its delivery. */
  readonly action: Kind;
  readonly state: RunState;
  readonly outcome?: RunOutcome;
  readonly reply?: string;
  readonly attempts: number;
  /** The first line of the message is the service's; what may follow is the end of a command's stderr. */
  readonly lastError?: { readonly code: string; readonly message: string };
  readonly process?: ProcessMark;
  readonly usage?: TokenUsage;
  readonly acceptedAt: number;
  readonly dueAt: number;
  readonly startedAt?: number;
  readonly endedAt?: number;
}

export interface TokenUsage {
  readonly inputTokens?: number;
  readonly outputTokens?: number;
}

/** A run that an agent takes a turn for. */
export type AgentRun = RunRecord<AgentAction>;

export interface ClaimRunsOptions {
  readonly nowMs: number;
  readonly limit: number;
  /** Runs active at most of any one mapping id; runs of the built-in routes have none and are not limited by it. */
  readonly maxPerMapping?: number;
  /** Runs active at most per runner name. */
  readonly maxPerRunner?: ReadonlyMap<string, number>;
  /** The name that runs without one count under. */
  readonly defaultRunner?: string;
}

/** What a process is working on. */
export interface HeldWork {
  /** Ids of its active runs. */
  readonly runs: readonly string[];
  /** Ids of the outbox entries it sends. */
  readonly outbox: readonly string[];
  /** Whether it takes a turn of the main session. */
  readonly isTurnTaken: boolean;
}

/** A process whose lease has ended, as it was seen. */
export interface LapsedReplica {
  readonly id: string;
  readonly leaseUntil: number;
}

/** What a process took over from others that are gone. */
export interface Succession {
  /** Runs that were active there, with the process group of their last attempt; they are active here now. */
  readonly runs: readonly AgentRun[];
  /** Whether this process leads: takes the turns of the main session, and sends deliveries. */
  readonly isLeader: boolean;
}

export interface ClaimOutboxOptions {
  readonly nowMs: number;
  readonly limit: number;
  /** Only entries of this kind; default all. */
  readonly kind?: 'callback';
}

/** A summary line for the main session. */
export interface SummaryEvent {
  readonly text: string;
  readonly origin: ActionOrigin;
  readonly requestHeartbeat: boolean;
}

export interface NewDelivery extends DeliveryTarget {
  readonly text: string;
  readonly fallback?: DeliveryTarget;
  /** The main session's own deliveries move `last`; a hook's never do. */
  readonly fromMain: boolean;
  /** True where nothing in the text is formatting: it is sent without any, and shows as it is. */
  readonly plain?: true;
}

export interface NewCallback {
  readonly url: string;
  /** The JSON text to be posted. */
  readonly body: string;
  /** The trace of the request, sent as a header. */
  readonly traceparent?: string;
}

export interface RunCompletion {
  readonly runId: string;
  readonly outcome: RunOutcome;
  readonly reply: string;
  readonly error?: { readonly code: string; readonly message: string };
  readonly usage?: TokenUsage;
  /** Turns to append to the session's history; absent for one-shot sessions. */
  readonly history?: {
    readonly conversation: Conversation;
    readonly turns: readonly SessionTurn[];
    readonly maxTurns: number;
  };
  /** Absent where none is posted. */
  readonly summary?: SummaryEvent;
  readonly delivery?: NewDelivery;
  readonly callback?: NewCallback;
  readonly nowMs: number;
}

/** The error of work that an operator dropped. */
export const DROPPED = { code: 'dropped', message: 'removed from the queue by the operator' } as const;

/** What dropping a run posts. */
export interface DropEnding {
  /** Absent where none is posted. */
  readonly summary?: SummaryEvent;
  readonly callback?: NewCallback;
}

export interface RunDeadLetter {
  readonly error: { readonly code: string; readonly message: string };
  /** Absent where none is posted. */
  readonly summary?: SummaryEvent;
  readonly callback?: NewCallback;
  readonly nowMs: number;
}

export type OutboxState = 'queued' | 'active' | 'completed' | 'dead' | 'skipped';

export interface OutboxRecord {
  readonly id: string;
  readonly kind: 'delivery' | 'callback';
  readonly runId: string;
  readonly state: OutboxState;
  readonly attempts: number;
  readonly delivery?: NewDelivery;
  readonly callback?: NewCallback;
  readonly chunksSent: number;
  /** Where it went, once it has ended. */
  readonly target?: DeliveryTarget;
  readonly lastError?: { readonly code: string; readonly message: string };
  readonly createdAt: number;
  readonly dueAt: number;
  readonly endedAt?: number;
}

export interface OutboxResult {
  readonly state: 'completed' | 'skipped';
  /** Why it was skipped, or a remark such as `plain_text`; stored as lastError. */
  readonly note?: { readonly code: string; readonly message: string };
  /** Where it went, `last` resolved. */
  readonly target?: DeliveryTarget;
  /** Set for the main session's own deliveries. */
  readonly lastTarget?: DeliveryTarget;
  readonly nowMs: number;
}

export interface OutboxDeadLetter {
  readonly error: { readonly code: string; readonly message: string };
  /** Absent where none is posted. */
  readonly summary?: SummaryEvent;
  readonly fallback?: NewDelivery;
  readonly nowMs: number;
}

export type EventState = 'pending' | 'claimed' | 'consumed' | 'dead';

export interface EventRecord {
  readonly id: string;
  readonly kind: 'wake' | 'summary';
  readonly text: string;
  readonly origin: ActionOrigin;
  readonly mode: 'now' | 'next-heartbeat';
  readonly state: EventState;
  readonly attempts: number;
  readonly turnId?: string;
  /** Of a run's summary. */
  readonly runId?: string;
  readonly lastError?: { readonly code: string; readonly message: string };
  readonly createdAt: number;
  /** When it was consumed, or parked as dead. */
  readonly consumedAt?: number;
}

export interface ClaimEventsOptions {
  readonly turnId: string;
  readonly nowMs: number;
  readonly maxEvents: number;
  readonly maxBytes: number;
}

export interface EventClaim {
  readonly turnId: string;
  readonly events: readonly EventRecord[];
}

/** A heartbeat turn that completed: stored as a run of kind `heartbeat`, with the main session's own delivery. */
export interface HeartbeatResult {
  /** Absent where the events are consumed without a turn. */
  readonly run?: AgentRun;
  /** Turns to append to the main session's history. */
  readonly history?: RunCompletion['history'];
  readonly delivery?: NewDelivery;
  readonly nowMs: number;
}

/** What names a conversation: its owner and its key. */
export interface Conversation {
  /** `unknown`: a stored session of an older version whose runs were already removed. Nobody can join it. */
  readonly owner: ConversationOwner | 'unknown';
  readonly key: string;
}

/** A conversation as a turn goes on with it. */
export interface StoredConversation {
  /** Oldest first; empty for a new one. */
  readonly turns: readonly SessionTurn[];
  /** True where it began before conversations had owners: its session id is still made from the key alone. */
  readonly hasKeyOnlyId: boolean;
}

export interface SessionTurn {
  readonly role: 'user' | 'assistant';
  readonly text: string;
  readonly at: number;
}

export interface SessionRecord extends Conversation {
  readonly turns: number;
  readonly bytes: number;
  readonly createdAt: number;
  readonly lastUsedAt: number;
}

/** Newest first. */
export interface ListQuery {
  readonly limit: number;
  readonly state?: string;
  readonly mappingId?: string;
  /** Runs only. */
  readonly kind?: 'hook' | 'heartbeat';
  readonly sessionKey?: string;
  /** Sessions only. */
  readonly owner?: string;
  /** Outbox only: what belongs to one run. */
  readonly runId?: string;
  /** Outbox and events only: one entry. */
  readonly id?: string;
}

export type QueueSelection =
  | { readonly kind: 'ids'; readonly ids: readonly string[] }
  | { readonly kind: 'mapping'; readonly mappingId: string }
  | { readonly kind: 'all' };

export interface Backlog {
  readonly queuedRuns: number;
  readonly activeRuns: number;
  readonly deadRuns: number;
  readonly queuedOutbox: number;
  readonly deadOutbox: number;
  /** Wakes and summaries not yet consumed. */
  readonly pendingEvents: number;
  readonly deadEvents: number;
  /** Of queued and active runs. */
  readonly bytes: number;
  /** Acceptance time of the oldest queued run. */
  readonly oldestQueuedAt?: number;
  /** When the oldest of the dead runs, outbox entries and events was given up. */
  readonly oldestDeadAt?: number;
}

/** How long and how much ended work is kept. */
export interface RetentionLimits {
  readonly maxAgeMs: number;
  readonly maxRows: number;
}

export interface PruneResult {
  readonly runs: number;
  readonly events: number;
  readonly outbox: number;
  readonly keys: number;
  readonly sessions: number;
}

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
}

/** One decision, without any value of the payload. */
export interface DecisionRecord {
  readonly requestId: string;
  readonly receivedAt: number;
  /** Of a stranger only a name that mappings take, else empty. */
  readonly path: string;
  /** Where it is not POST. */
  readonly method?: string;
  readonly status: number;
  readonly outcome: 'accepted' | 'skipped' | 'rejected';
  readonly code?: string;
  /** What only the operator is told of the error, e.g. which key set a limit. */
  readonly note?: string;
  /** What the sender was told of the error; nothing of the payload. */
  readonly detail?: string;
  readonly mappingId?: string;
  readonly actionIds: readonly string[];
  /** Per considered mapping where none matched: its id and its first failing part. */
  readonly missed?: readonly MissedMapping[];
  /** Template paths that rendered empty, as the mapping writes them. */
  readonly empty?: readonly { readonly field: string; readonly expression: string; readonly place: string }[];
  /** Codes of warnings, e.g. `blank_dedupe_key`. */
  readonly warnings?: readonly string[];
  readonly generation: string;
  readonly tookMs: number;
  readonly bodyBytes: number;
  /** Why the proof of a sender failed, as the doctor says it. */
  readonly refusal?: { readonly scheme: string; readonly code: string; readonly text: string };
  /** What transforms did, by kind and place; their texts are only in a kept request. */
  readonly transformNotes?: readonly string[];
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
