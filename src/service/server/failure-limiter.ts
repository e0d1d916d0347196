import type * as Limiting from 'rate-limiter-flexible';
import { networksOf } from './addresses.ts';

/** Counts failed authentications per sender. */
export interface FailureLimiter {
  /** Records one failure; resolves to the seconds to wait where the limit is passed, else undefined. */
  fail(address: string): Promise<number | undefined>;
}

const WINDOW_SECONDS = 60;
/** Networks counted one by one within a window; later ones share one count, so that memory stays bounded. */
const MAX_NETWORKS = 10_000;
/** A /48 holds 65,536 networks of a sender's size; all of them together get this many times the limit of one. */
const SITE_FACTOR = 10;

/**
 * `perMinute` failures are let through per minute for an IPv4 address or an IPv6 /64, and ten times as many for a
 * /48, which is what one sender can own at most; 0 turns the limit off.
 */
export function createFailureLimiter(perMinute: number, clock: () => number): FailureLimiter {
  if (perMinute === 0) return { fail: () => Promise.resolve(undefined) };
  let counters: ReturnType<typeof openCounters> | undefined;
  return {
    async fail(address) {
      counters ??= openCounters(perMinute, clock);
      const { own, site } = await counters;
      const networks = networksOf(address);
      const seconds = await own(networks.own);
      if (seconds !== undefined || networks.site === undefined) return seconds;
      return site(networks.site);
    },
  };
}

type Count = (name: string) => Promise<number | undefined>;

/** With the first failure, as the library brings a client for each of a dozen databases. */
async function openCounters(
  perMinute: number,
  clock: () => number,
): Promise<{ readonly own: Count; readonly site: Count }> {
  const { default: library } = await import('rate-limiter-flexible');
  return {
    own: countNetworks(library, perMinute, clock),
    site: countNetworks(library, perMinute * SITE_FACTOR, clock),
  };
}

/** Counts by name within fixed windows. */
function countNetworks(
  { RateLimiterMemory, RateLimiterRes }: Pick<typeof Limiting, 'RateLimiterMemory' | 'RateLimiterRes'>,
  points: number,
  clock: () => number,
): Count {
  const limiter = new RateLimiterMemory({ points, duration: WINDOW_SECONDS });
  const keyOf = boundedNames(clock);
  return async (name) => {
    try {
      await limiter.consume(keyOf(name));
      return undefined;
    } catch (refusal) {
      if (!(refusal instanceof RateLimiterRes)) throw refusal;
      return Math.max(1, Math.ceil(refusal.msBeforeNext / 1000));
    }
  };
}

/** The name under which a network is counted in the window of now. */
function boundedNames(clock: () => number): (name: string) => string {
  let counted = new Set<string>();
  let windowStart = clock();
  return (name) => {
    const now = clock();
    if (now - windowStart >= WINDOW_SECONDS * 1000) {
      counted = new Set();
      windowStart = now;
    }
    if (counted.size < MAX_NETWORKS) counted.add(name);
    return counted.has(name) ? name : 'others';
  };
}
