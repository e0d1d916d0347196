import type { Action, ActionOrigin, AgentAction, DeliveryTarget, Warning } from '../action.ts';

/**
 * The port of durable state. Every method that changes something resolves only after the change is on disk; a method
 * that rejects has changed nothing. Times are milliseconds since the epoch and come in from the caller. One contract
 * suite (`test/storage-contract.ts`) runs against every implementation.
 */
export interface Storage {
  // --- accept ---------------------------------------------------------------------------------------------------
  /**
   * Stores everything one request became, in one transaction together with its idempotency record: all or nothing.
   * Requests that arrive while a commit is being synced share the next one, each in its own savepoint.
   * @throws HookError `storage_unavailable`, `backlog_full`, `events_full`; then nothing is stored
   */
  accept(work: AcceptedWork): Promise<AcceptResult>;
  /** The first answer to an idempotency key still within its time, or undefined. */
  findIdempotent(scope: string, key: string, nowMs: number): Promise<IdempotentRecord | undefined>;

  // --- runs -----------------------------------------------------------------------------------------------------
  /**
   * Claims due runs in arrival order (`queued -> active`, attempt + 1), at most `limit`, never two of one session
   * key: a key with an active run is passed over, a head that waits for its retry is overtaken.
   */
  claimRuns(options: ClaimRunsOptions): Promise<readonly RunRecord[]>;
  /** Records the process group of the current attempt, so that recovery can end a survivor. */
  recordProcess(runId: string, process: ProcessMark): Promise<void>;
  /** In one transaction: outcome and reply, history, summary event, delivery and callback rows. */
  completeRun(completion: RunCompletion): Promise<void>;
  /** Puts an active run back (`active -> queued`) with its error and the time of its next attempt. */
  requeueRun(runId: string, failure: AttemptFailure): Promise<void>;
  /** Ends a run for good (`-> dead`), with its summary event. */
  buryRun(runId: string, burial: RunBurial): Promise<void>;
  /** Runs left active by a process that died, with the process group of their last attempt. */
  findInterruptedRuns(): Promise<readonly RunRecord[]>;

  // --- outbox: deliveries and callbacks ---------------------------------------------------------------------------
  /** Claims due entries in order; entries left active by a process that died are due at once, chunks sent kept. */
  claimOutbox(options: { readonly nowMs: number; readonly limit: number }): Promise<readonly OutboxRecord[]>;
  /** Records a chunk that went out, so that a repeat resumes after it. */
  recordProgress(outboxId: string, chunksSent: number): Promise<void>;
  completeOutbox(outboxId: string, result: OutboxResult): Promise<void>;
  requeueOutbox(outboxId: string, failure: AttemptFailure): Promise<void>;
  /** Gives an entry up (`-> dead`), with its summary line and, where it has a fallback, the fallback's row. */
  buryOutbox(outboxId: string, burial: OutboxBurial): Promise<void>;

  // --- system events and the heartbeat ----------------------------------------------------------------------------
  /**
   * Claims pending events in order for one turn (at most 50 or 64 KB of text); claims left by a dead process are
   * returned first under their old turn id. Undefined where nothing is pending.
   */
  claimEvents(options: ClaimEventsOptions): Promise<EventClaim | undefined>;
  consumeEvents(turnId: string, result: HeartbeatResult): Promise<void>;
  /** Frees a claim after a failed turn; events that failed five times become `dead`. */
  freeEvents(turnId: string, failure: AttemptFailure): Promise<void>;
  /** The earliest time at which claimRuns, claimOutbox or a requested heartbeat has something to do. */
  nextDueAt(): Promise<number | undefined>;
  /** Whether a heartbeat was asked for (`now`) and not yet begun; survives a restart. */
  heartbeatRequested(): Promise<boolean>;

  // --- sessions ---------------------------------------------------------------------------------------------------
  findHistory(sessionKey: string): Promise<readonly SessionTurn[]>;
  listSessions(query: ListQuery): Promise<readonly SessionRecord[]>;
  clearSession(sessionKey: string): Promise<boolean>;

  // --- the main session's last channel ----------------------------------------------------------------------------
  findLastTarget(): Promise<DeliveryTarget | undefined>;
  saveLastTarget(target: DeliveryTarget, nowMs: number): Promise<void>;

  // --- listings and the queue ---------------------------------------------------------------------------------------
  listRuns(query: ListQuery): Promise<readonly RunRecord[]>;
  findRun(runId: string): Promise<RunRecord | undefined>;
  listEvents(query: ListQuery): Promise<readonly EventRecord[]>;
  listOutbox(query: ListQuery): Promise<readonly OutboxRecord[]>;
  /** Makes dead or waiting work due now. Resolves to how many rows changed. */
  retry(selection: QueueSelection, nowMs: number): Promise<number>;
  /** Drops queued or dead work; each dropped run posts its summary. Resolves to how many rows changed. */
  drop(selection: QueueSelection, nowMs: number): Promise<number>;
  backlog(): Promise<Backlog>;
  /** Removes completed work, consumed events, expired keys and old transcripts beyond the limits. */
  prune(limits: RetentionLimits, nowMs: number): Promise<PruneResult>;

  // --- decisions and failed requests --------------------------------------------------------------------------------
  /** Keeps the decision for `sluice requests` (the last 1,000); batched, lost at most by a crash. */
  recordDecision(decision: DecisionRecord): void;
  listDecisions(query: ListQuery): Promise<readonly DecisionRecord[]>;
  findDecision(requestId: string): Promise<DecisionRecord | undefined>;
  /** Keeps a request whose transform failed (the last 100, at most 16 MB) so that it can be replayed. */
  keepRequest(request: KeptRequest): void;
  findKeptRequest(requestId: string): Promise<KeptRequest | undefined>;

  /** Resolves after everything handed over before has been written. */
  flush(): Promise<void>;
  /** Copies the store into a new file while it is in use. */
  backup(file: string): Promise<void>;
  /** Checks integrity; resolves to findings, empty where all is well. */
  verify(): Promise<readonly string[]>;
  close(): Promise<void>;
}

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
  readonly kind: 'wake' | 'agent';
  /** Id of the event or run; for a duplicate that of the first. */
  readonly id: string;
  readonly mode: 'now' | 'next-heartbeat';
  readonly duplicate: boolean;
}

export type RunState = 'queued' | 'active' | 'completed' | 'dead';
export type RunOutcome = 'ok' | 'error' | 'timeout';

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
  readonly nowMs: number;
}

export interface RunRecord {
  readonly id: string;
  readonly kind: 'hook' | 'heartbeat';
  readonly action: AgentAction;
  readonly state: RunState;
  readonly outcome?: RunOutcome;
  readonly reply?: string;
  readonly attempts: number;
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

export interface ClaimRunsOptions {
  readonly nowMs: number;
  readonly limit: number;
  /** Runs active at most of any one mapping id; runs of the built-in routes have none and are not limited by it. */
  readonly maxPerMapping?: number;
  /** Runs active at most per runner name (`''` for the default). */
  readonly maxPerRunner?: ReadonlyMap<string, number>;
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
}

export interface NewCallback {
  readonly url: string;
  /** The JSON text to be posted. */
  readonly body: string;
}

export interface RunCompletion {
  readonly runId: string;
  readonly outcome: RunOutcome;
  readonly reply: string;
  readonly error?: { readonly code: string; readonly message: string };
  readonly usage?: TokenUsage;
  /** Turns to append to the session's history; absent for one-shot sessions. */
  readonly history?: {
    readonly sessionKey: string;
    readonly turns: readonly SessionTurn[];
    readonly maxTurns: number;
  };
  readonly summary: SummaryEvent;
  readonly delivery?: NewDelivery;
  readonly callback?: NewCallback;
  readonly nowMs: number;
}

export interface RunBurial {
  readonly error: { readonly code: string; readonly message: string };
  readonly summary: SummaryEvent;
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

export interface OutboxBurial {
  readonly error: { readonly code: string; readonly message: string };
  readonly summary: SummaryEvent;
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
  readonly createdAt: number;
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
  readonly run: RunRecord;
  /** Turns to append to the main session's history. */
  readonly history?: RunCompletion['history'];
  readonly delivery?: NewDelivery;
  readonly nowMs: number;
}

export interface SessionTurn {
  readonly role: 'user' | 'assistant';
  readonly text: string;
  readonly at: number;
}

export interface SessionRecord {
  readonly key: string;
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
  readonly sessionKey?: string;
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
  readonly pendingEvents: number;
  readonly deadEvents: number;
  readonly bytes: number;
  /** Acceptance time of the oldest queued run. */
  readonly oldestQueuedAt?: number;
}

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

/** One decision, without any value of the payload. */
export interface DecisionRecord {
  readonly requestId: string;
  readonly receivedAt: number;
  readonly path: string;
  readonly status: number;
  readonly outcome: 'accepted' | 'skipped' | 'rejected';
  readonly code?: string;
  readonly mappingId?: string;
  readonly actionIds: readonly string[];
  /** Per considered mapping where none matched: its id and the place of its first failing part. */
  readonly missed?: readonly { readonly mappingId: string; readonly part: string; readonly place?: string }[];
  readonly generation: string;
  readonly tookMs: number;
  readonly bodyBytes: number;
  /** Transform output, payload-derived: shown by `sluice requests` and `explain`, never logged. */
  readonly transformNotes?: readonly string[];
}

export interface KeptRequest {
  readonly requestId: string;
  readonly receivedAt: number;
  /** The hook request as JSON text, tokens already removed. */
  readonly json: string;
}
