/** Delays of a reader; tests have shorter ones. */
export interface ReaderTimes {
  readonly leaseMs: number;
  readonly renewMs: number;
  /** The longest wait without a look at the folder: it also tells whether the connection is alive. */
  readonly keepAliveMs: number;
  readonly firstRetryMs: number;
  readonly maxRetryMs: number;
  /** Between tries of a login that was refused for good. */
  readonly deadRetryMs: number;
  /** Between looks whether another reader has let go of the mailbox. */
  readonly standbyMs: number;
  /** A connection that lived this long starts the delays again. */
  readonly settledMs: number;
}

export const READER_TIMES: ReaderTimes = {
  leaseMs: 30_000,
  renewMs: 8_000,
  keepAliveMs: 120_000,
  firstRetryMs: 1_000,
  maxRetryMs: 300_000,
  deadRetryMs: 1_800_000,
  standbyMs: 5_000,
  settledMs: 30_000,
};

/** Doubles from the first delay up to the longest; attempts count from 1. */
export function growingDelay(
  attempts: number,
  { firstMs, maxMs }: { firstMs: number; maxMs: number },
): number {
  return Math.min(maxMs, firstMs * 2 ** Math.min(attempts - 1, 20));
}
