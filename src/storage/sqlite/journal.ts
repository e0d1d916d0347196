/** What both threads know of the two rings: what was decided lately, and requests whose transform failed. */

/** Decisions kept for `sluice requests`. */
export const MAX_DECISIONS = 1000;
/** Failed requests kept for replay, and their bytes. */
export const MAX_KEPT_REQUESTS = 100;
export const MAX_KEPT_BYTES = 16 * 1024 * 1024;

export interface DecisionRow {
  readonly requestId: string;
  readonly mappingId: string | null;
  readonly outcome: string;
  readonly json: string;
}

export interface KeptRow {
  readonly requestId: string;
  readonly receivedAt: number;
  readonly bytes: number;
  readonly json: string;
}
