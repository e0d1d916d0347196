import type { DeliveryTarget } from '../../base/action.ts';
import type {
  AcceptedAction,
  AcceptedWork,
  AcceptResult,
  AgentRun,
  Approval,
  ClaimEventsOptions,
  ClaimOutboxOptions,
  ClaimRunsOptions,
  DecisionRecord,
  RunPosts,
  EventClaim,
  EventRecord,
  OwnWork,
  IdempotentRecord,
  KeptLimits,
  KeptRequest,
  ListQuery,
  OutboxRecord,
  PruneResult,
  QueueSelection,
  RetentionLimits,
  RunRecord,
  Succession,
} from './records.ts';
import type { RemoteOperations } from './statements/statement-table.ts';
import type { StorageError, StorageHealth } from './storage-error.ts';

/** What this process has asked of a database, since it started. */
export interface DatabaseUse {
  readonly roundTrips: number;
  readonly roundTripMs: number;
  /** Transactions that waited at least a millisecond for the lock of all who claim and end. */
  readonly lockWaits: number;
  readonly lockWaitMs: number;
}

/**
 * The time for which this process may perform, by the clock of the database. It is renewed again and again. Where that
 * fails, `isHeld` is false well before the lease ends there: whoever performs has to stop, since another process
 * may take its work over after that.
 */
export interface Lease {
  /** The name of this process among those that share the store. */
  readonly id: string;
  readonly isHeld: boolean;
  /** How often others are looked at that may be gone. */
  readonly lookEveryMs: number;
  onChange(listener: (isHeld: boolean) => void): void;
  /** Calls back when another process has left. */
  onOtherLeft(listener: () => void): void;
}

/** What `make-storage.ts` makes of several operations, or of rows. */
interface ComposedOperations {
  /**
   * Stores everything one request became, in one transaction together with its idempotency record: all or nothing.
   * Requests that arrive while a commit is being synced share the next one; one that fails fails alone.
   * @throws HookError `storage_unavailable`, `backlog_full`, `events_full`; then nothing is stored, but for what a store
   * that hangs had begun with, which it may end when it goes on
   */
  accept(work: AcceptedWork): Promise<AcceptResult>;
  /** The first answer to an idempotency key still within its time, or undefined. */
  findIdempotent(scope: string, key: string, nowMs: number): Promise<IdempotentRecord | undefined>;
  /** What first came with a key of `dedupe` that is still within its time; its scope is a mapping. */
  findDeduped(scope: string, key: string, nowMs: number): Promise<AcceptedAction | undefined>;
  /**
   * Claims due runs in arrival order (`queued -> active`, attempt + 1), at most `limit`, never two of one
   * conversation: one with an active run is passed over, a head that waits for its retry is overtaken.
   */
  claimRuns(options: ClaimRunsOptions): Promise<readonly AgentRun[]>;
  /**
   * Takes over what processes left that died: their runs belong to this one then, their outbox entries are due, and
   * the main session is led by this one where nobody does. `held` is what this process is working on; default nothing.
   */
  takeOver(held?: OwnWork): Promise<Succession>;
  /** The runs of one request about which somebody is asked, in their order, as long as nobody has answered. */
  findAsked(asked: Approval): Promise<readonly AgentRun[]>;
  /**
   * Runs that will not begin, which whoever leads ends: denied or not approved in time, or superseded or without a
   * conversation, as their last error says.
   */
  findUnbegun(nowMs: number): Promise<readonly AgentRun[]>;
  /** Takes over the runs whose lease was over at a time; each is returned as its worker had it. */
  takeLapsedRuns(nowMs: number): Promise<readonly AgentRun[]>;
  /** Work of which it is to be found out now whether its account may start it: whoever leads asks, and says it by `decideStart`. */
  findUndecided(nowMs: number): Promise<readonly AgentRun[]>;
  findEndedRuns(runIds: readonly string[]): Promise<readonly RunRecord[]>;
  /**
   * Claims due entries in order; of deliveries to one recipient only the first that has not ended. Entries left active by a process that died are due at once, chunks sent kept.
   */
  claimOutbox(options: ClaimOutboxOptions): Promise<readonly OutboxRecord[]>;
  /**
   * Claims pending events in order for one turn (at most 50 or 64 KB of text); claims left by a dead process are
   * returned first under their old turn id. Undefined where nothing is pending.
   */
  claimEvents(options: ClaimEventsOptions): Promise<EventClaim | undefined>;
  /** Whether a heartbeat was asked for (`now`), due by `nowMs` where given, and not yet begun; survives a restart. */
  heartbeatRequested(nowMs?: number): Promise<boolean>;
  findLastTarget(): Promise<DeliveryTarget | undefined>;
  listRuns(query: ListQuery): Promise<readonly RunRecord[]>;
  findRun(runId: string): Promise<RunRecord | undefined>;
  listEvents(query: ListQuery): Promise<readonly EventRecord[]>;
  listOutbox(query: ListQuery): Promise<readonly OutboxRecord[]>;
  /**
   * Makes failed, dead or waiting runs, dead or waiting outbox entries and dead events due now, in the order in which they
   * came; what had ended starts again with no attempts, and a run keeps how it ended (`earlier`). Agents that selected runs
   * wait for are tried now, too; runs that name no runner wait for `defaultRunner`. Alone, by its id, a run goes before the
   * limits of its mapping, and begins although it was denied; one that was dropped stays so. No run or entry is begun that
   * ended after `nowMs`.
   */
  retry(selection: QueueSelection, nowMs: number, defaultRunner?: string): Promise<number>;
  /**
   * Drops queued or dead runs and outbox entries and dead events (by id also pending ones). A dropped run is completed
   * with outcome error and code `dropped` and posts what `endingOf` makes of it. Resolves to how many rows changed.
   */
  drop(selection: QueueSelection, nowMs: number, endingOf: (run: AgentRun) => RunPosts): Promise<number>;
  /**
   * Removes ended runs, outbox entries and events, expired keys and idle transcripts beyond the limits, in slices so
   * short that accepts pass between them.
   */
  prune(limits: RetentionLimits, nowMs: number): Promise<PruneResult>;
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
   * Where space is needed, requests of a path with more than a quarter of it go first, but for the first and the last
   * of each cause.
   */
  keepRequest(request: KeptRequest, limits?: KeptLimits): void;
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
  /** Copies the store into a new file (refused where it exists) while it is in use. */
  backup(file: string): Promise<void>;
  /** Checks integrity; resolves to findings, empty where all is well. */
  verify(): Promise<readonly string[]>;
  /** Writes what is waiting, frees the lock; idempotent. */
  close(): Promise<void>;
}

/** Operations that are steps of others. */
type StepOperation =
  | 'acceptRequest'
  | 'recordDecisions'
  | 'recordStrangers'
  | 'keepRequests'
  | 'freeKeptSpace'
  | 'hurryHolds'
  | 'retryRows'
  | 'selectDrop'
  | 'dropRows'
  | 'pruneSlice'
  | 'findReservation'
  | 'findHeartbeatAt'
  | 'findBrokenRows';

/**
 * The port of durable state: operations as the files of `statements/` describe them, and what is made of them. Every
 * method that changes something resolves only after the change is on disk; a method that rejects has changed nothing.
 * Times are milliseconds since the epoch and come in from the caller. One contract suite
 * (`test/engine/storage/contract.ts`) runs against every implementation.
 */
export interface Storage
  extends ComposedOperations, Omit<RemoteOperations, StepOperation | keyof ComposedOperations> {}

/** The part that keeps what a reader of mailboxes must not lose. */
export type MailStorage = Pick<
  Storage,
  | 'claimMailbox'
  | 'reportMailbox'
  | 'releaseMailbox'
  | 'passMail'
  | 'isMailPassed'
  | 'listMailboxes'
  | 'listSetAsideMail'
>;
