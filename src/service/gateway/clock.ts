export interface Clock {
  /** Milliseconds since the epoch; may jump either way. */
  wallMs(): number;
  /** Milliseconds since some start; never jumps, never goes back. */
  monotonicMs(): number;
}

export const systemClock: Clock = {
  wallMs: () => Date.now(),
  monotonicMs: () => performance.now(),
};

/**
 * The time work is scheduled by: the wall clock, except that it never goes back and always advances at least as fast
 * as the monotonic clock. A wall clock set back an hour would otherwise park every retry for an hour; one set forward
 * only brings retries early.
 */
export interface SchedulingClock {
  now(): number;
  /** Goes on from a later time: stored work shows that the wall clock was set back while the service was down. */
  advanceTo(atMs: number): void;
}

export function createSchedulingClock(clock: Clock): SchedulingClock {
  let lastMs = clock.wallMs();
  let lastMonotonicMs = clock.monotonicMs();
  return {
    now() {
      const monotonicMs = clock.monotonicMs();
      lastMs = Math.max(clock.wallMs(), lastMs + (monotonicMs - lastMonotonicMs));
      lastMonotonicMs = monotonicMs;
      return Math.round(lastMs);
    },
    advanceTo(atMs) {
      lastMs = Math.max(lastMs, atMs);
    },
  };
}
