import type { MailFailure } from './mail-failure.ts';
import type { MailHealth } from './mailbox-health.ts';

export interface ReaderTimes {
  readonly leaseMs: number;
  readonly renewMs: number;
  /** The longest wait without a look at the folder: it also tells whether the connection is alive. */
  readonly keepAliveMs: number;
  readonly firstRetryMs: number;
  readonly maxRetryMs: number;
  /** The pause between tries of a login that was refused for good. */
  readonly deadRetryMs: number;
  /** The pause between looks whether another reader has let go of the mailbox. */
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

/** A delay that doubles from the first up to the longest; attempts count from 1. */
export function growingDelay(
  attempts: number,
  { firstMs, maxMs }: { firstMs: number; maxMs: number },
): number {
  return Math.min(maxMs, firstMs * 2 ** Math.min(attempts - 1, 20));
}

/** So many refused logins in a row count as final: servers refuse some for a moment. */
const LOGINS_UNTIL_DEAD = 3;

export interface FailedConnection {
  readonly health: MailHealth;
  readonly delayMs: number;
}

/** Decides how long to wait after a failure, and what it says of the mailbox. */
export class Reconnection {
  readonly #times: ReaderTimes;
  readonly #clock: () => number;
  #attempts = 0;
  #refusals = 0;
  #deadSince: number | undefined;

  constructor(times: ReaderTimes, clock: () => number) {
    this.#times = times;
    this.#clock = clock;
  }

  get loginDeadSince(): number | undefined {
    return this.#deadSince;
  }

  /** A login that the reader before this one found dead stays dead until it works, and is not reported again. */
  recall(deadSince: number): MailHealth {
    this.#deadSince = deadSince;
    const reason = 'the login was refused before the restart';
    return { state: 'authentication-dead', since: deadSince, reason };
  }

  /** Begins anew where the reader has just got the mailbox. */
  restart(): void {
    this.#attempts = 0;
    this.#refusals = 0;
  }

  succeeded(): void {
    this.#deadSince = undefined;
  }

  /** Notes a failure. With `isSettled` the connection had worked for a while, so the delays begin again. */
  failed(failure: MailFailure, isSettled: boolean): FailedConnection {
    const { kind, message: reason } = failure;
    const { maxRetryMs, deadRetryMs } = this.#times;
    this.#attempts = isSettled ? 1 : this.#attempts + 1;
    this.#refusals = kind === 'authentication' ? this.#refusals + 1 : 0;
    const since = this.#clock();
    const isDead = this.#deadSince !== undefined || this.#refusals >= LOGINS_UNTIL_DEAD;
    if (kind === 'authentication' && isDead) {
      this.#deadSince ??= since;
      const health = { state: 'authentication-dead', since: this.#deadSince, reason } as const;
      return { health, delayMs: deadRetryMs };
    }
    if (kind === 'settings') {
      return { health: { state: 'misconfigured', since, reason }, delayMs: maxRetryMs };
    }
    return this.#backOff(since, reason);
  }

  #backOff(since: number, reason: string): FailedConnection {
    const { firstRetryMs: firstMs, maxRetryMs: maxMs } = this.#times;
    const attempts = this.#attempts;
    // The jitter keeps readers that lost the same server from coming back at once.
    const delayMs = Math.round(growingDelay(attempts, { firstMs, maxMs }) * (0.8 + Math.random() * 0.4));
    const health = { state: 'backing-off', since, reason, attempts, retryAt: since + delayMs } as const;
    return { health, delayMs };
  }
}
