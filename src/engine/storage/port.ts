import type { DeliveryTarget } from '../../base/action.ts';
import type { MailStorage } from './mail-port.ts';
import type {
  AcceptedWork,
  ActivitySince,
  AcceptResult,
  AgentRun,
  Approval,
  ApprovalAnswer,
  AttemptFailure,
  AuditRecord,
  Backlog,
  ClaimEventsOptions,
  ClaimOutboxOptions,
  ClaimRunsOptions,
  Conversation,
  CostRecord,
  Decided,
  DecisionRecord,
  DropEnding,
  EventClaim,
  EventRecord,
  HeartbeatResult,
  HeldWork,
  HeldRunner,
  IdempotentRecord,
  KeptGeneration,
  KeptLimits,
  KeptPart,
  KeptRequest,
  LimitedMapping,
  LimitRules,
  ListQuery,
  MappingActivity,
  OutboxDeadLetter,
  OutboxProgress,
  OutboxRecord,
  OutboxResult,
  ProcessMark,
  QueuePause,
  PruneResult,
  QueueSelection,
  RetentionLimits,
  RetryRows,
  RunCompletion,
  RunDeadLetter,
  RunnerHold,
  RunRecord,
  SessionRecord,
  StoredConversation,
  Succession,
  UnsentRun,
  WorkChange,
  WorkInNeed,
  WorkPlan,
} from './records.ts';
import type { DatabaseUse, Lease } from './lease.ts';
import type { StorageError, StorageHealth } from './storage-error.ts';

/**
 * The port of durable state. Every method that changes something resolves only after the change is on disk; a method
 * that rejects has changed nothing. Times are milliseconds since the epoch and come in from the caller. One contract
 * suite (`test/engine/storage/contract.ts`) runs against every implementation.
 */
export interface Storage extends MailStorage {
  // --- accept ---------------------------------------------------------------------------------------------------
  /**
   * Stores everything one request became, in one transaction together with its idempotency record: all or nothing.
   * Requests that arrive while a commit is being synced share the next one; one that fails fails alone.
   * @throws HookError `storage_unavailable`, `backlog_full`, `events_full`; then nothing is stored, but for what a store
   * that hangs had begun with, which it may end when it goes on
   */
  accept(work: AcceptedWork): Promise<AcceptResult>;
  /** The first answer to an idempotency key still within its time, or undefined. */
  findIdempotent(scope: string, key: string, nowMs: number): Promise<IdempotentRecord | undefined>;

  // --- runs -----------------------------------------------------------------------------------------------------
  /**
   * Claims due runs in arrival order (`queued -> active`, attempt + 1), at most `limit`, never two of one
   * conversation: one with an active run is passed over, a head that waits for its retry is overtaken.
   */
  claimRuns(options: ClaimRunsOptions): Promise<readonly AgentRun[]>;
  /** Records the process group of the current attempt, so that recovery can end a survivor. */
  recordProcess(runId: string, process: ProcessMark): Promise<void>;
  /**
   * In one transaction: outcome and reply, history, summary event, delivery and callback rows. Resolves to false, and
   * changes nothing, where the run is not active (any more): a run ends once and posts one summary.
   */
  completeRun(completion: RunCompletion): Promise<boolean>;
  /**
   * Puts an active run back (`active -> queued`) with its error and the time of its next attempt; false as above. One
   * that is due at once goes before those of its session key that came after it.
   */
  requeueRun(runId: string, failure: AttemptFailure): Promise<boolean>;
  /** Gives a queued or active run up (`-> dead`), with its summary event; false where it has ended already. */
  deadLetterRun(runId: string, deadLetter: RunDeadLetter): Promise<boolean>;
  /**
   * Takes over what processes left that died: their runs are held by this one then, their outbox entries are due, and
   * the main session is led by this one where nobody does. `held` is what this process is working on; default nothing.
   */
  takeOver(held?: HeldWork): Promise<Succession>;
  /**
   * Says whether the runs of a request begin, one of which is named (`approve` of its mapping): the first answer in time
   * counts, and a later one changes nothing. Resolves to what holds then; null where nobody is asked about such a run.
   */
  decideApproval(runId: string, answer: ApprovalAnswer): Promise<Decided | null>;
  /** The runs of one request about which somebody is asked, in their order, as long as nobody has answered. */
  findAsked(asked: Approval): Promise<readonly AgentRun[]>;
  /** Runs that were denied, or not approved in time: whoever leads gives them up. */
  findUnapproved(nowMs: number): Promise<readonly AgentRun[]>;
  /** Of these runs those that have ended. */
  findEndedRuns(runIds: readonly string[]): Promise<readonly RunRecord[]>;

  // --- runners that cannot take runs --------------------------------------------------------------------------------
  /** Writes a hold down; one of the same runner and model keeps its `since`. */
  saveHold(hold: RunnerHold): Promise<void>;
  /** Ends a hold; false where there is none. */
  removeHold(runner: string, model?: string): Promise<boolean>;
  /** All holds, the oldest first. `defaultRunner` is the one that runs without a runner of their own wait for. */
  listHolds(defaultRunner: string): Promise<readonly HeldRunner[]>;

  // --- limits of mappings, and pauses -------------------------------------------------------------------------------
  /** Begins no further run of the mapping, of a runner (`pauseOfRunner`), or with `ALL_MAPPINGS` of any; false where that is so already. */
  pauseRuns(mappingId: string, nowMs: number): Promise<boolean>;
  /** Ends the pause of a mapping or a runner, or with `ALL_MAPPINGS` every pause there is. Resolves to how many ended. */
  resumeRuns(mappingId: string): Promise<number>;
  /** All pauses, the oldest first. */
  listPauses(): Promise<readonly QueuePause[]>;
  /** Mappings with runs that are due and wait for a pause or a limit, by their id. */
  listLimited(options: {
    readonly nowMs: number;
    readonly rules?: LimitRules;
    readonly defaultRunner?: string;
  }): Promise<readonly LimitedMapping[]>;
  /** Notes that runs of a mapping wait for its limits; resolves to since when they do. */
  markLimited(limited: LimitedMapping, nowMs: number): Promise<number>;
  /** What was marked after a time, as it was marked last. */
  listMarked(sinceMs: number): Promise<readonly LimitedMapping[]>;
  /** Takes away what was marked last before a time; resolves to these mappings. */
  unmarkLimited(beforeMs: number): Promise<readonly string[]>;

  // --- outbox: deliveries and callbacks ---------------------------------------------------------------------------
  /**
   * Claims due entries in order; of deliveries to one recipient only the first that has not ended. Entries left active by a process that died are due at once, chunks sent kept.
   */
  claimOutbox(options: ClaimOutboxOptions): Promise<readonly OutboxRecord[]>;
  /** Records a chunk that went out, so that a repeat resumes after it. */
  recordProgress(outboxId: string, progress: OutboxProgress): Promise<void>;
  /** False, and nothing is changed, where the entry is not active (any more); so do the next two. */
  completeOutbox(outboxId: string, result: OutboxResult): Promise<boolean>;
  requeueOutbox(outboxId: string, failure: AttemptFailure): Promise<boolean>;
  /** Puts a claimed entry back of which nothing was sent, as if it had not been claimed. */
  putBackOutbox(outboxId: string, retryAt: number): Promise<boolean>;
  /**
   * Says whom a claimed delivery is for (`recipientOf`). False where it is not to be sent: another one to the same
   * recipient stands before it, and it is put back.
   */
  addressOutbox(outboxId: string, recipient: string): Promise<boolean>;
  /** Gives an entry up (`-> dead`), with its summary line and, where it has a fallback, the fallback's row. */
  deadLetterOutbox(outboxId: string, deadLetter: OutboxDeadLetter): Promise<boolean>;

  // --- system events and the heartbeat ----------------------------------------------------------------------------
  /**
   * Claims pending events in order for one turn (at most 50 or 64 KB of text); claims left by a dead process are
   * returned first under their old turn id. Undefined where nothing is pending.
   */
  claimEvents(options: ClaimEventsOptions): Promise<EventClaim | undefined>;
  /** Consumes a claim and stores the turn as a run of kind heartbeat; false where the turn holds no claim. */
  consumeEvents(turnId: string, result: HeartbeatResult): Promise<boolean>;
  /**
   * Frees a claim after a failed turn and asks for a heartbeat at `retryAt`; events that failed five times become
   * `dead`. False where the turn holds no claim.
   */
  freeEvents(turnId: string, failure: AttemptFailure): Promise<boolean>;
  /**
   * The earliest time at which claimRuns, claimOutbox or a requested heartbeat has something to do. It lies in the
   * past while claimable runs wait for a free place.
   */
  nextDueAt(): Promise<number | undefined>;
  /**
   * The same without runs that wait for more events, as `debounce` of their mapping says; those that were accepted
   * after `nowMs` count, as the clock was set back since.
   */
  nextRetryAt(nowMs: number): Promise<number | undefined>;
  /** Whether a heartbeat was asked for (`now`), due by `nowMs` where given, and not yet begun; survives a restart. */
  heartbeatRequested(nowMs?: number): Promise<boolean>;
  /** Asks for a heartbeat, as a wake of mode `now` does. */
  requestHeartbeat(atMs: number): Promise<void>;

  // --- sessions ---------------------------------------------------------------------------------------------------
  findConversation(conversation: Conversation): Promise<StoredConversation>;
  listSessions(query: ListQuery): Promise<readonly SessionRecord[]>;
  clearSession(conversation: Conversation): Promise<boolean>;

  // --- the main session's last channel ----------------------------------------------------------------------------
  findLastTarget(): Promise<DeliveryTarget | undefined>;
  /** What somebody sets; it holds until a delivery of the main session is sent that came up after it. */
  saveLastTarget(target: DeliveryTarget, nowMs: number): Promise<void>;

  // --- listings and the queue ---------------------------------------------------------------------------------------
  listRuns(query: ListQuery): Promise<readonly RunRecord[]>;
  findRun(runId: string): Promise<RunRecord | undefined>;
  listEvents(query: ListQuery): Promise<readonly EventRecord[]>;
  listOutbox(query: ListQuery): Promise<readonly OutboxRecord[]>;
  /**
   * The id of the oldest entry that a list with these `before` and `among` looks at, where there are older ones: what to
   * ask as `before` for those. The rest of the query does not matter.
   */
  oldestAmong(
    table: 'runs' | 'outbox',
    query: Pick<ListQuery, 'before' | 'among'>,
  ): Promise<string | undefined>;
  /**
   * Makes failed, dead or waiting runs, dead or waiting outbox entries and dead events due now, in the order in which they
   * came; what had ended starts again with no attempts, and a run keeps how it ended (`earlier`). Agents that selected runs
   * wait for are tried now, too; runs that name no runner wait for `defaultRunner`. Alone, by its id, a run goes before the
   * limits of its mapping, and begins although it was denied; one that was dropped stays so. No run or entry is begun that
   * ended after `nowMs`.
   */
  retry(selection: QueueSelection, nowMs: number, defaultRunner?: string): Promise<number>;
  /** What `retry` would begin: the first `limit` ids of each kind and state. */
  selectRetry(
    selection: QueueSelection,
    options: { readonly nowMs: number; readonly limit?: number },
  ): Promise<RetryRows>;
  /** What a change of a selection would do to how many, and what it leaves out. */
  planWork(
    change: WorkChange,
    job: { readonly selection: QueueSelection; readonly nowMs: number; readonly defaultRunner?: string },
  ): Promise<WorkPlan>;
  /**
   * Drops queued or dead runs and outbox entries and dead events (by id also pending ones). A dropped run is completed
   * with outcome error and code `dropped` and posts what `endingOf` makes of it. Resolves to how many rows changed.
   */
  drop(selection: QueueSelection, nowMs: number, endingOf: (run: AgentRun) => DropEnding): Promise<number>;
  backlog(): Promise<Backlog>;
  /**
   * Removes ended runs, outbox entries and events, expired keys and idle transcripts beyond the limits, in slices so
   * short that accepts pass between them.
   */
  prune(limits: RetentionLimits, nowMs: number): Promise<PruneResult>;

  // --- what mappings did and cost, and who changed what -------------------------------------------------------------
  /** Of mappings that did something in the last 24 hours, by id. Looks at the newest 10,000 decisions and ended runs. */
  mappingActivity(nowMs: number): Promise<readonly MappingActivity[]>;
  /** Since when these counts have all there was, where `keep` decisions are kept. */
  activitySince(nowMs: number, keep: number): Promise<ActivitySince>;
  /** What somebody has to look at, the newest `limit` of each kind: all of it where each has fewer. */
  workInNeed(limit: number): Promise<readonly WorkInNeed[]>;
  /** Of these runs those with a delivery or callback that did not go out; what was given up stands last. */
  findUnsent(runIds: readonly string[]): Promise<readonly UnsentRun[]>;
  /** What turns cost by day, mapping and runner: the newest day first, and of a day what cost most. */
  listCosts(query: Pick<ListQuery, 'mappingId' | 'limit'>): Promise<readonly CostRecord[]>;
  /** Notes a change that somebody made. */
  recordAudit(change: AuditRecord): Promise<void>;
  /** The newest first. */
  listAudit(limit: number): Promise<readonly AuditRecord[]>;

  // --- decisions and failed requests --------------------------------------------------------------------------------
  /** Keeps the decision for `sluice requests`: the newest `keep` (default 10,000); batched, lost at most by a crash. */
  recordDecision(decision: DecisionRecord, keep?: number): void;
  /**
   * The same for a request that proved nothing (the last 200, in a ring of their own): gathered in memory and written
   * at most once a second, so that strangers neither flush the decisions on others nor keep the disk busy. Of one
   * sender (a network) the last ten that were refused alike are kept, so that none flushes what is known of the others.
   */
  recordStranger(decision: DecisionRecord, sender: string): void;
  listDecisions(query: ListQuery): Promise<readonly DecisionRecord[]>;
  findDecision(requestId: string): Promise<DecisionRecord | undefined>;
  /**
   * Keeps a request, so that it can be explained and replayed: the newest within the limits (default `KEPT_LIMITS`).
   * Where room is needed, those go first that are neither the first nor the last of their cause, and of a path that has
   * more than a quarter of the room.
   */
  keepRequest(request: KeptRequest, limits?: KeptLimits): void;
  /** Has a request and its replay name each other; false, and nothing is changed, where one of them is not known (yet). */
  noteReplay(original: string, replay: string): Promise<boolean>;
  findKeptRequest(requestId: string): Promise<KeptRequest | undefined>;
  /** The newest kept requests, newest first; of one kind, or of both. */
  listKeptRequests(limit: number, kind?: KeptRequest['kind']): Promise<readonly KeptRequest[]>;
  /**
   * Kept requests of a time, newest first, as many as have `maxBytes` together, of a longer one its beginning. `before`
   * is the `next` of the part read last; without `next` there are no more.
   */
  readKept(part: KeptPart): Promise<{ readonly rows: readonly KeptRequest[]; readonly next?: number }>;
  /** Forgets kept requests that came before a time. */
  forgetRequests(beforeMs: number): Promise<void>;
  /** Keeps the files that are live, each content once; forgets those of generations that no decision names any more. */
  keepGeneration(generation: KeptGeneration, nowMs: number): Promise<void>;
  /** The files that were live under this id; undefined where they are not kept. */
  findGeneration(id: string): Promise<KeptGeneration | undefined>;

  /** What was asked of the database; absent where the store is a file. */
  databaseUse?(): DatabaseUse;
  /** Under which this process performs from a store that others share; absent where it has the store for itself. */
  readonly lease?: Lease;
  /** Whether the store can take requests, as it was last seen: within a second of a change, without waiting for work. */
  health(): StorageHealth;
  /** Calls back whenever `health()` changes. Performer only. */
  onHealthChange(listener: (health: StorageHealth) => void): void;
  /** Calls back soon (within a second) after another process changed the store. Performer only. */
  onOutsideChange(listener: () => void): void;
  /** Calls back once if the engine dies under its owner; from then on every call rejects. */
  onFailure(listener: (error: StorageError) => void): void;
  /** Resolves after everything handed over before has been written. */
  flush(): Promise<void>;
  /** Copies the store into a new file (refused where it exists) while it is in use. */
  backup(file: string): Promise<void>;
  /** Checks integrity; resolves to findings, empty where all is well. */
  verify(): Promise<readonly string[]>;
  /** Writes what is waiting, frees the lock; idempotent. */
  close(): Promise<void>;
}
