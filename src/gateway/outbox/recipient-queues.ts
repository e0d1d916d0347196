import { pause } from '../../timers/timers.ts';

/**
 * Sends to one recipient one after the other, each recipient with a queue of its own. A queue can be held where its
 * platform asked for a pause: sending on would only use up the attempts of what waits there.
 */
export class RecipientQueues {
  readonly #last = new Map<string, Promise<void>>();
  /** Monotonic times; only of queues in use, and of those held. */
  readonly #heldUntil = new Map<string, number>();
  readonly #onWait: () => void;
  readonly #stop = new AbortController();
  #waiting = 0;

  /** `onWait` is called when a step begins to wait and so leaves its place to others. */
  constructor(onWait: () => void) {
    this.#onWait = onWait;
  }

  /** Steps that wait for their turn. */
  get waiting(): number {
    return this.#waiting;
  }

  /** Runs a step after all earlier ones of its queue and after its pause; a step that fails does not stop the queue. */
  async run(queue: string, step: () => Promise<void>): Promise<void> {
    const turn = this.#afterEarlier(queue, this.#last.get(queue), step);
    const settled = turn.catch(() => {});
    this.#last.set(queue, settled);
    try {
      await turn;
    } finally {
      if (this.#last.get(queue) === settled) this.#last.delete(queue);
    }
  }

  /** Lets no further step of the queue begin before the time has passed. */
  hold(queue: string, delayMs: number): void {
    const nowMs = performance.now();
    for (const [held, untilMs] of this.#heldUntil) if (untilMs <= nowMs) this.#heldUntil.delete(held);
    this.#heldUntil.set(queue, nowMs + delayMs);
  }

  /** Ends all pauses: what waited begins, and is to see for itself that it should not. */
  stop(): void {
    this.#stop.abort();
  }

  async #afterEarlier(
    queue: string,
    earlier: Promise<void> | undefined,
    step: () => Promise<void>,
  ): Promise<void> {
    if (earlier !== undefined) await this.#wait(earlier);
    const heldMs = (this.#heldUntil.get(queue) ?? 0) - performance.now();
    if (heldMs > 0) await this.#wait(pause(heldMs, this.#stop.signal));
    await step();
  }

  async #wait(condition: Promise<void>): Promise<void> {
    this.#waiting += 1;
    this.#onWait();
    await condition;
    this.#waiting -= 1;
  }
}
