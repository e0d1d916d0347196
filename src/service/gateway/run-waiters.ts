import type { RunEnding } from './run-ending.ts';
import { armTimer } from '../../base/timers/timers.ts';

/** Waiters at most; one more is answered at once that the run has not ended, as after its time. */
const MAX_WAITERS = 1_000;

/** Requests that wait with their answer until a run ends; in memory, as the connections are too. */
export class RunWaiters {
  readonly #waiters = new Map<string, Set<(ending: RunEnding | undefined) => void>>();
  #count = 0;

  /** Resolves to the ending, or to undefined after the time, on abort, or where too many wait already. */
  wait(runId: string, waitMs: number, signal?: AbortSignal): Promise<RunEnding | undefined> {
    if (this.#count >= MAX_WAITERS || signal?.aborted === true) return Promise.resolve(undefined);
    this.#count += 1;
    return new Promise((resolve) => {
      const settle = (ending: RunEnding | undefined): void => {
        if (!waiters.delete(settle)) return;
        this.#count -= 1;
        if (waiters.size === 0) this.#waiters.delete(runId);
        cancel();
        signal?.removeEventListener('abort', giveUp);
        resolve(ending);
      };
      const giveUp = (): void => settle(undefined);
      const waiters = this.#waiters.get(runId) ?? new Set();
      this.#waiters.set(runId, waiters);
      waiters.add(settle);
      const cancel = armTimer(waitMs, giveUp);
      signal?.addEventListener('abort', giveUp, { once: true });
    });
  }

  get runIds(): readonly string[] {
    return [...this.#waiters.keys()];
  }

  settle(ending: RunEnding): void {
    for (const settle of this.#waiters.get(ending.runId) ?? []) settle(ending);
  }

  stop(): void {
    for (const waiters of this.#waiters.values()) for (const settle of waiters) settle(undefined);
  }
}
