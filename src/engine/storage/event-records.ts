import type { ActionOrigin } from '../../base/action.ts';

/** A summary line for the main session. */
export interface SummaryEvent {
  readonly text: string;
  readonly origin: ActionOrigin;
  readonly requestHeartbeat: boolean;
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
