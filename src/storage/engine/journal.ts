/** What both threads know of the two rings: what was decided lately, and requests that are kept. */

/** Decisions kept for `sluice requests`. */
export const MAX_DECISIONS = 1000;

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
