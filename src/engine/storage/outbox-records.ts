import type { CallbackAddress, DeliveryTarget } from '../../base/action.ts';
import type { SummaryEvent } from './event-records.ts';

export interface ClaimOutboxOptions {
  readonly nowMs: number;
  readonly limit: number;
  /** Only entries of this kind; default all. */
  readonly kind?: 'callback';
}

/** Whom a delivery is for; those to one recipient are sent in their order. */
export const recipientOf = ({ channel, to = '' }: DeliveryTarget): string => `${channel}\n${to}`;

export interface NewDelivery extends DeliveryTarget {
  readonly text: string;
  /** Where it stands on its channel; another one, such as the fallback, does not know it. */
  readonly thread?: string;
  readonly fallback?: DeliveryTarget;
  /** The main session's own deliveries move `last`; a hook's never do. */
  readonly fromMain: boolean;
  /** It asks whether a run begins: how to answer is added when it is sent, so that no store holds the link. */
  readonly asks?: { readonly runId: string; readonly expiresAt: number; readonly nonce: string };
  /** It tells of a mail that no machine is to answer (RFC 3834): it is sent by any channel but `email`. */
  readonly isAutomatic?: true | undefined;
  /** True where nothing in the text is formatting: it is sent without any, and shows as it is. */
  readonly plain?: true;
  /** The main session says it of something that failed: where the only channel is the customers', it is not sent. */
  readonly isOfFailure?: true | undefined;
}

export interface NewCallback {
  /** Sent to what it leads to then, where it is a reference. */
  readonly url: CallbackAddress;
  /** The JSON text to be posted. */
  readonly body: string;
  /** The trace of the request, sent as a header. */
  readonly traceparent?: string;
}

export type OutboxState = 'queued' | 'active' | 'completed' | 'dead' | 'skipped';

export interface OutboxRecord {
  readonly id: string;
  readonly kind: 'delivery' | 'callback';
  readonly runId: string;
  /** Of the run; empty where it is the main session's own. */
  readonly mappingId: string;
  readonly state: OutboxState;
  readonly attempts: number;
  readonly delivery?: NewDelivery;
  readonly callback?: NewCallback;
  readonly chunksSent: number;
  /** Where it went, once a part of it was sent. */
  readonly target?: DeliveryTarget;
  readonly lastError?: { readonly code: string; readonly message: string };
  /** Whom it is for, as far as that is known (`recipientOf`); callbacks have no order. */
  readonly recipient?: string;
  /** It waits for an earlier one to the same recipient. */
  readonly isBehind?: true;
  readonly createdAt: number;
  readonly dueAt: number;
  readonly endedAt?: number;
}

/** How far a delivery has come. */
export interface OutboxProgress {
  readonly chunksSent: number;
  /** Where these went, `last` resolved: the rest goes there too. */
  readonly target: DeliveryTarget;
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
