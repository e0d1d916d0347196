import type { KeptRequest } from '../records.ts';

/** What both threads know of the two rings: what was decided lately, and requests that are kept. */

/** Decisions written at once: a burst is spread over the next writes, so that work of senders passes between them. */
export const MAX_DECISIONS_PER_WRITE = 250;

/**
 * Requests of strangers that are kept, apart from the decisions: who proves nothing can send many, and must not be able
 * to flush what was decided for others.
 */
export const MAX_STRANGERS = 200;
/** Stands in the column `outcome` of a stranger's request. */
export const STRANGER = 'stranger';

export interface DecisionRow {
  readonly requestId: string;
  readonly mappingId: string | null;
  readonly outcome: string;
  readonly generation: string;
  readonly json: string;
}

export interface KeptRow {
  readonly requestId: string;
  readonly receivedAt: number;
  readonly kind: KeptRequest['kind'];
  readonly path: string;
  readonly cause: string;
  readonly bytes: number;
  readonly json: string;
}
