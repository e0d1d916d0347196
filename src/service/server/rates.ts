/** How often things may happen: of one sender, on one path, or in a second. */
import { HookError } from '../../base/errors.ts';
import type { PathSettings } from '../../engine/mapping/mapping.ts';
import { networksOf } from './addresses.ts';

const PER_SECOND = 5;
/** The rate of all together, where each sender has its own five. */
const PER_SECOND_OF_ALL = 2 * PER_SECOND;

/** Lets a few things a second happen: to find why a proof failed costs some dozens of signatures, and a flood must not fill the log. */
export class FewPerSecond {
  readonly #perSecond: number;
  #second = 0;
  #taken = 0;
  readonly #takenBy = new Map<string, number>();

  constructor(perSecond: number = PER_SECOND) {
    this.#perSecond = perSecond;
  }

  /** Whether one more may happen; it counts `weight` times. The first of each kind in a second always may. */
  take(nowMs: number, weight = 1, kind?: string): boolean {
    this.#begin(nowMs);
    const isFirst = kind !== undefined && !this.#takenBy.has(kind);
    if (this.#taken >= this.#perSecond && !isFirst) return false;
    this.#taken += weight;
    if (isFirst) this.#takenBy.set(kind, 1);
    return true;
  }

  /** Whether one more may happen for a sender, so that a burst of one leaves something for the others. */
  takeFor(who: string, nowMs: number): boolean {
    this.#begin(nowMs);
    const before = this.#takenBy.get(who) ?? 0;
    if (before >= PER_SECOND || this.#taken >= PER_SECOND_OF_ALL) return false;
    this.#taken += 1;
    this.#takenBy.set(who, before + 1);
    return true;
  }

  #begin(nowMs: number): void {
    const second = Math.floor(nowMs / 1000);
    if (second === this.#second) return;
    this.#second = second;
    this.#taken = 0;
    this.#takenBy.clear();
  }
}

const REPORT_MS = 1_000;

/** Counts things by name and reports the counts after a second: a flood of them must not become a flood of lines. */
export class Tally<Name extends string> {
  readonly #none: Readonly<Record<Name, number>>;
  readonly #report: (counts: Readonly<Record<Name, number>>) => void;
  #counts: Record<Name, number> | undefined;

  constructor(
    none: Readonly<Record<Name, number>>,
    report: (counts: Readonly<Record<Name, number>>) => void,
  ) {
    this.#none = none;
    this.#report = report;
  }

  count(name: Name): void {
    if (this.#counts === undefined) {
      const counts = { ...this.#none };
      this.#counts = counts;
      setTimeout(() => {
        this.#counts = undefined;
        this.#report(counts);
      }, REPORT_MS).unref();
    }
    this.#counts[name] += 1;
  }
}

/**
 * Limits the proved requests of each path: a bucket of `burst` requests that fills with `perMinute`. Counts
 * outlive a reload. Bounded by the paths that set a rate.
 */
export class PathRates {
  readonly #buckets = new Map<string, { tokens: number; filledAt: number }>();

  /** @throws HookError `rate_limited` */
  take(path: string, rate: NonNullable<PathSettings['rate']>, nowMs: number): void {
    const { tokens, filledAt } = this.#buckets.get(path) ?? { tokens: rate.burst, filledAt: nowMs };
    const perMs = rate.perMinute / 60_000;
    const filled = Math.min(rate.burst, tokens + Math.max(0, nowMs - filledAt) * perMs);
    const isAllowed = filled >= 1;
    this.#buckets.set(path, { tokens: isAllowed ? filled - 1 : filled, filledAt: nowMs });
    if (isAllowed) return;
    throw new HookError('rate_limited', 'this path takes no more requests right now; send it again later', {
      retryAfterSeconds: Math.max(1, Math.ceil((1 - filled) / perMs / 1000)),
    });
  }
}

export interface FailureLimiter {
  /** Records one failure; returns the seconds to wait where the limit is passed, else undefined. */
  fail(address: string): number | undefined;
}

const WINDOW_MS = 60_000;
/** Most networks with a count of their own in a window; later ones share one count, so that memory stays bounded. */
const MAX_NETWORKS = 10_000;
/** A /48 has 65,536 networks of a sender's size; all of them together get this many times the limit of one. */
const SITE_FACTOR = 10;

/**
 * `perMinute` failures are let through per minute for an IPv4 address or an IPv6 /64, and ten times as many for a
 * /48, which is what one sender can own at most; 0 turns the limit off.
 */
export function createFailureLimiter(perMinute: number, clock: () => number): FailureLimiter {
  const ofOwn = countTo(perMinute, clock);
  const ofSite = countTo(perMinute * SITE_FACTOR, clock);
  return {
    fail(address) {
      if (perMinute === 0) return undefined;
      const { own, site } = networksOf(address);
      return ofOwn(own) ?? (site === undefined ? undefined : ofSite(site));
    },
  };
}

/** Counts by network in windows that are the same for all. */
function countTo(limit: number, clock: () => number): (network: string) => number | undefined {
  const counts = new Map<string, number>();
  let endsAt = -Infinity;
  return (network) => {
    const now = clock();
    if (now >= endsAt || now < endsAt - WINDOW_MS) {
      counts.clear();
      endsAt = now + WINDOW_MS;
    }
    const name = counts.has(network) || counts.size < MAX_NETWORKS ? network : 'others';
    const count = (counts.get(name) ?? 0) + 1;
    counts.set(name, count);
    return count <= limit ? undefined : Math.ceil((endsAt - now) / 1000);
  };
}
