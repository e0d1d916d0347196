/** What goes through the storage port, by what it is about; here what is about the store as a whole. */
export { KEPT_DECISIONS, KEPT_LIMITS } from './request-records.ts';
export { ALL_MAPPINGS, pauseOfRunner } from './limit-records.ts';
export { NO_ACTIVITY } from './cost-records.ts';
export { DROPPED } from './run-records.ts';
export { recipientOf } from './outbox-records.ts';
export type * from './accept-records.ts';
export type * from './cost-records.ts';
export type * from './event-records.ts';
export type * from './limit-records.ts';
export type * from './outbox-records.ts';
export type * from './replica-records.ts';
export type * from './request-records.ts';
export type * from './run-records.ts';
export type * from './session-records.ts';

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
  /** The first of the runs, in the order in which they came: a thousand at most. */
  readonly runIds: readonly string[];
  readonly leftOut: readonly LeftOut[];
}

/** Work of a selection that a change leaves as it is. */
export interface LeftOut {
  /** `refused`: denied, or not approved in time; `limited`: held by a limit or a pause; `other`: it has ended, or is not there. */
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
