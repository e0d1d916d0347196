import { HookError } from '../../base/errors.ts';
import type { PathSettings } from '../../engine/mapping/mapping.ts';

interface Bucket {
  tokens: number;
  filledAt: number;
}

/**
 * Limits the proved requests of each path: a bucket that holds `burst` requests and fills with `perMinute`. Counts
 * outlive a reload. Bounded by the paths that set a rate.
 */
export class PathRates {
  readonly #buckets = new Map<string, Bucket>();

  /** @throws HookError `rate_limited` */
  take(path: string, rate: NonNullable<PathSettings['rate']>, nowMs: number): void {
    const bucket = this.#buckets.get(path) ?? { tokens: rate.burst, filledAt: nowMs };
    const perMs = rate.perMinute / 60_000;
    const gained = Math.max(0, nowMs - bucket.filledAt) * perMs;
    bucket.tokens = Math.min(rate.burst, bucket.tokens + gained);
    bucket.filledAt = nowMs;
    this.#buckets.set(path, bucket);
    if (bucket.tokens >= 1) {
      bucket.tokens -= 1;
      return;
    }
    throw new HookError('rate_limited', 'this path takes no more requests right now; send it again later', {
      retryAfterSeconds: Math.max(1, Math.ceil((1 - bucket.tokens) / perMs / 1000)),
    });
  }
}
