import { armTimer } from '../../base/timers/timers.ts';

/** Waiters at most; one more is answered at once that the run has not ended, as after its time. */
const MAX_WAITERS = 1_000;

/** Requests that wait with their answer for something by its name; in memory, as the connections are too. */
export class Waiters<Answer> {
  readonly #waiters = new Map<string, Set<(answer: Answer | undefined) => void>>();
  #count = 0;
  #isStopped = false;

  /** Resolves to the answer, or to undefined after the time, on abort, at a stop, or where too many wait already. */
  wait(name: string, waitMs: number, signal?: AbortSignal): Promise<Answer | undefined> {
    const isFull = this.#count >= MAX_WAITERS || this.#isStopped;
    if (isFull || waitMs <= 0 || signal?.aborted === true) return Promise.resolve(undefined);
    this.#count += 1;
    return new Promise((resolve) => {
      const settle = (answer: Answer | undefined): void => {
        if (!waiters.delete(settle)) return;
        this.#count -= 1;
        if (waiters.size === 0) this.#waiters.delete(name);
        cancel();
        signal?.removeEventListener('abort', giveUp);
        resolve(answer);
      };
      const giveUp = (): void => settle(undefined);
      const waiters = this.#waiters.get(name) ?? new Set();
      this.#waiters.set(name, waiters);
      waiters.add(settle);
      const cancel = armTimer(waitMs, giveUp);
      signal?.addEventListener('abort', giveUp, { once: true });
    });
  }

  get names(): readonly string[] {
    return [...this.#waiters.keys()];
  }

  /** Answers all who wait for it, or with `most` those who wait longest. */
  settle(name: string, answer: Answer, most = Infinity): void {
    for (const settle of [...(this.#waiters.get(name) ?? [])].slice(0, most)) settle(answer);
  }

  stop(): void {
    this.#isStopped = true;
    for (const waiters of this.#waiters.values()) for (const settle of waiters) settle(undefined);
  }
}
