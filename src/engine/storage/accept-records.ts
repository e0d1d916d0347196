import type { Action } from '../../base/action.ts';
import type { RequestWarning } from '../../base/finding.ts';

export interface AcceptedWork {
  readonly requestId: string;
  readonly receivedAt: number;
  readonly actions: readonly Action[];
  readonly warnings: readonly RequestWarning[];
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
  readonly warnings: readonly RequestWarning[];
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
