import type { Action } from '../../base/action.ts';
import type { RequestFindingJson } from '../../base/finding.ts';
import type { AgentRun } from './run-records.ts';

/** What goes through the storage port; conversations, runs and what they post, and requests stand in files of their own. */
export { KEPT_DECISIONS, KEPT_LIMITS } from './request-records.ts';
export { isSkipped, NO_CONVERSATION, SUPERSEDED } from './conversation-records.ts';
export { callbackPlace, DROPPED, recipientOf } from './run-records.ts';
export type * from './conversation-records.ts';
export type * from './request-records.ts';
export type * from './run-records.ts';

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
  /** Runs only, of a conversation with a key that was named: its owner, a line break, its key. */
  readonly line?: string;
  /** Runs and outbox only: what came before the entry with this id. */
  readonly before?: string;
  /** Runs and outbox only: how many of the newest, or of those before, are looked at. */
  readonly among?: number | undefined;
}

export type QueueSelection =
  | { readonly kind: 'ids'; readonly ids: readonly string[] }
  | ({ readonly kind: 'mapping'; readonly mappingId: string } & QueueFilter)
  | ({ readonly kind: 'all' } & QueueFilter);

/** What a selection is narrowed to. */
export interface QueueFilter {
  readonly errorCode?: string | undefined;
  /** Only work of this kind. */
  readonly of?: 'runs' | 'outbox' | 'events' | undefined;
  /** Only what is in this state, by the name that listings have for it. */
  readonly state?: string | undefined;
  /** Only what came until then. */
  readonly until?: number | undefined;
}

/** What an operator does to stored work. */
export type WorkChange = 'retry' | 'drop' | 'approve' | 'deny' | 'cancel';

/** What a change of a selection would do. */
export interface WorkPlan extends Readonly<Record<'runs' | 'outbox' | 'events', number>> {
  /** What is changed first: runs, then what they send, then events, each in the order in which they came; 10,000 at most. */
  readonly ids: readonly string[];
  readonly leftOut: readonly LeftOutWork[];
}

/** Work of a selection that a change leaves as it is. */
export interface LeftOutWork {
  /** `refused`: denied, or not approved in time; `limited`: delayed by a limit or a pause; `other`: it has ended, or is not there. */
  readonly reason: 'refused' | 'limited' | 'asking' | 'due' | 'active' | 'other';
  readonly count: number;
}

/** Ids of what `retry` would begin. */
export interface RetryRows {
  readonly runs: readonly string[];
  readonly outbox: readonly string[];
  readonly events: readonly string[];
}

export type { BacklogFigures as Backlog } from '../../base/telemetry/telemetry.ts';

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

export interface AcceptedWork {
  readonly requestId: string;
  readonly receivedAt: number;
  readonly actions: readonly Action[];
  readonly warnings: readonly RequestFindingJson[];
  /** From the `Idempotency-Key` header: scope is the path. */
  readonly idempotency?: IdempotencyKey;
}

export interface IdempotencyKey {
  readonly scope: string;
  readonly key: string;
  /** SHA-256 of the body, hex: the same key with another body is refused. */
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
  readonly warnings: readonly RequestFindingJson[];
  /** True where the whole request repeats one already accepted (same Idempotency-Key, or every action deduped). */
  readonly duplicate: boolean;
}

export interface AcceptedAction {
  readonly kind: Action['kind'];
  /** Id of the event or run; for a duplicate that of the first. */
  readonly id: string;
  readonly mode: 'now' | 'next-heartbeat';
  readonly duplicate: boolean;
  /**
   * Why the event has no turn: it waits for a conversation, or there is none and nothing of it is stored, or it tells of
   * what an agent opened itself. Absent where it has a turn.
   */
  readonly without?: 'waiting' | 'none' | 'own';
}

export interface OwnWork {
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

/** What turns of a mapping by a runner cost in a day. */
export interface CostRecord {
  /** The day (UTC) on which they ended, as 2026-11-27. */
  readonly day: string;
  /** Empty for the built-in routes and the main session. */
  readonly mappingId: string;
  readonly runner: string;
  /** Turns whose agent says what they used. */
  readonly turns: number;
  /** Turns whose cost is not known: the agent ended before it said it. */
  readonly costUnknown: number;
  readonly inputTokens: number;
  readonly outputTokens: number;
  /** The cost of the turns whose cost is known; 0 where the agent reports none. */
  readonly usd: number;
}

/** What runs of a mapping did in the last 24 hours, as far back as ended runs are kept and looked at. */
export interface MappingActivity {
  readonly mappingId: string;
  /** Runs that ended, and of these how many failed or were given up. */
  readonly runs: number;
  readonly failed: number;
  /** Now. */
  readonly active: number;
  /** By the minute, also of turns that are tried again. */
  readonly usd: number;
  readonly inputTokens: number;
  readonly outputTokens: number;
}

/** The activity of a mapping that did nothing. */
export const NO_ACTIVITY = {
  runs: 0,
  failed: 0,
  active: 0,
  usd: 0,
  inputTokens: 0,
  outputTokens: 0,
};

/** A change that somebody made by the console or the command line. */
export interface AuditRecord {
  readonly at: number;
  readonly who: string;
  /** The address of a browser, or the name of the machine whose command line it was. */
  readonly source: string;
  /** What was done, e.g. `retry` or `pause`. */
  readonly what: string;
  /** Ids, a mapping, a runner, or what else it was done to. */
  readonly about: string;
  /** How many entries changed. */
  readonly changed: number;
}

/** What failed for one reason within an hour. */
export interface FailedHour {
  readonly kind: 'run' | 'delivery' | 'event';
  readonly mappingId: string;
  /** The runner of a run, empty for the usual one; the channel of a delivery, or "callback". */
  readonly where: string;
  readonly why: string;
  readonly count: number;
  readonly firstAt: number;
  readonly lastAt: number;
  /** The last of them: the id of its run, or of the event, and what its error said. */
  readonly example: string;
  readonly message: string;
}

/** Decisions on one path within five minutes. */
export interface DecidedGroup extends Pick<FailedHour, 'count' | 'firstAt' | 'lastAt'> {
  readonly path: string;
  readonly mappingId: string | null;
  /** The last of those that were refused for one reason, as JSON text; null where they were not refused. */
  readonly refused: string | null;
}

/** A run that ended, of whose deliveries and callbacks one waits, is being sent, or was given up or dropped. */
export interface UnsentRun {
  readonly runId: string;
  readonly end: 'sending' | 'unsent';
}

/** Stands for all mappings, and for the built-in routes. */
export const ALL_MAPPINGS = '*';

/** What stands for the runs of a runner where a mapping may be named; no mapping's id has a space. */
export const pauseOfRunner = (runner: string): string => `runner ${runner}`;

/** Runs that are not begun, because somebody said so. */
export interface QueuePause {
  /** A mapping's id, `ALL_MAPPINGS`, or what `pauseOfRunner` makes. */
  readonly mappingId: string;
  /** Set where a runner is paused. */
  readonly runner?: string;
  readonly since: number;
}

/** A mapping with runs that wait although agents are free. */
export interface LimitedMapping {
  /** Empty for the built-in routes. */
  readonly mappingId: string;
  readonly reason: 'paused' | 'runsPerHour' | 'runsPerHourAndSession' | 'usdPerDay';
  /** Runs that wait for this. */
  readonly waiting: number;
  /** When the next of them may begin; absent for a pause. */
  readonly until?: number;
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
export interface AwayRunner extends RunnerHold {
  readonly waiting: number;
}
