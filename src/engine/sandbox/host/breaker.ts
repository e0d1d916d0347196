/**
 * The breaker of one module. Three strikes (crash, deadline, timeout, memory) within a minute open it; while it is
 * open, calls are turned away at once, so that one bad module cannot make every other wait for its deadlines. After
 * the pause a single call is let through alone: it closes the breaker, or opens it for twice as long.
 */
const STRIKES = 3;
const WINDOW_MS = 60_000;
const FIRST_PAUSE_MS = 5_000;
const LONGEST_PAUSE_MS = 60_000;

export type BreakerState = 'closed' | 'open' | 'half-open';

/** `pass`: run it; `trial`: run it alone and report how it went; `refused`: try again later. */
export type Admission =
  | { readonly kind: 'pass' }
  | { readonly kind: 'trial' }
  | { readonly kind: 'refused'; readonly retryAfterMs: number };

export class Breaker {
  #strikes: number[] = [];
  #pauseMs = FIRST_PAUSE_MS;
  #openUntil: number | undefined;
  #onTrial = false;

  state(now: number): BreakerState {
    if (this.#openUntil === undefined) return 'closed';
    return this.#onTrial || now >= this.#openUntil ? 'half-open' : 'open';
  }

  admit(now: number): Admission {
    if (this.#openUntil === undefined) return { kind: 'pass' };
    if (this.#onTrial) return { kind: 'refused', retryAfterMs: 1000 };
    if (now < this.#openUntil) return { kind: 'refused', retryAfterMs: this.#openUntil - now };
    this.#onTrial = true;
    return { kind: 'trial' };
  }

  /** Records a strike; true where the breaker opens by it. */
  strike(now: number, wasTrial: boolean): boolean {
    if (wasTrial) {
      this.#onTrial = false;
      this.#pauseMs = Math.min(this.#pauseMs * 2, LONGEST_PAUSE_MS);
      this.#openUntil = now + this.#pauseMs;
      return true;
    }
    this.#strikes = this.#strikes.filter((at) => now - at < WINDOW_MS);
    this.#strikes.push(now);
    if (this.#openUntil !== undefined || this.#strikes.length < STRIKES) return false;
    this.#openUntil = now + this.#pauseMs;
    return true;
  }

  /** Records a trial that ended well. */
  close(): void {
    this.#strikes = [];
    this.#pauseMs = FIRST_PAUSE_MS;
    this.#openUntil = undefined;
    this.#onTrial = false;
  }

  /** Takes back a trial that never ran. */
  abandonTrial(): void {
    this.#onTrial = false;
  }
}
