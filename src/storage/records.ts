/** What goes through the storage port, by what it is about; here what is about the store as a whole. */
export { KEPT_DECISIONS, KEPT_LIMITS } from './request-records.ts';
export { ALL_MAPPINGS, pauseOfRunner } from './limit-records.ts';
export { NO_ACTIVITY } from './cost-records.ts';
export { DROPPED } from './run-records.ts';
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
  readonly among?: number;
}

export type QueueSelection =
  | { readonly kind: 'ids'; readonly ids: readonly string[] }
  | { readonly kind: 'mapping'; readonly mappingId: string; readonly errorCode?: string }
  | { readonly kind: 'all'; readonly errorCode?: string };

/** Ids of what `retry` would begin. */
export interface RetryRows {
  readonly runs: readonly string[];
  readonly outbox: readonly string[];
  readonly events: readonly string[];
}

export type { BacklogFigures as Backlog } from '../telemetry/telemetry.ts';

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
