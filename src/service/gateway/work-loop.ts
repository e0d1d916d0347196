import { armTimer } from '../../base/timers/timers.ts';

/** The pause after the first pass that failed. */
const FIRST_PAUSE_MS = 100;
const MAX_PAUSE_MS = 5_000;

/**
 * Calls a pass again and again: after the delay it asks for, or at once when woken; never two at a time. A wake during
 * a pass is not lost, any number of them makes one more pass. A pass that throws is reported and repeated after a
 * pause that grows, so that an error never ends the loop.
 */
export class WorkLoop {
  readonly #pass: () => Promise<number>;
  readonly #onError: (error: unknown) => void;
  #state: 'stopped' | 'waiting' | 'passing' = 'stopped';
  #woken = false;
  #failures = 0;
  #cancelTimer = (): void => {};
  #running: Promise<void> = Promise.resolve();

  constructor(pass: () => Promise<number>, onError: (error: unknown) => void) {
    this.#pass = pass;
    this.#onError = onError;
  }

  start(): void {
    if (this.#state !== 'stopped') return;
    this.#state = 'waiting';
    this.#begin();
  }

  /** Cheap: most calls only set a flag. */
  wake(): void {
    this.#woken = true;
    if (this.#state === 'waiting') this.#begin();
  }

  /** Starts no further pass; resolves when the current one has ended. Idempotent. */
  async stop(): Promise<void> {
    this.#state = 'stopped';
    this.#cancelTimer();
    await this.#running;
  }

  #begin(): void {
    this.#cancelTimer();
    this.#state = 'passing';
    this.#woken = false;
    this.#running = this.#runPass();
  }

  async #runPass(): Promise<void> {
    let delayMs: number;
    try {
      // The next turn of the event loop: what is woken in one turn shares a pass.
      await new Promise((resolve) => setImmediate(resolve));
      delayMs = this.#state === 'passing' ? await this.#pass() : 0;
      this.#failures = 0;
    } catch (error) {
      this.#onError(error);
      delayMs = Math.min(FIRST_PAUSE_MS * 2 ** this.#failures, MAX_PAUSE_MS);
      this.#failures += 1;
      this.#woken = false;
    }
    if (this.#state !== 'passing') return;
    this.#state = 'waiting';
    this.#cancelTimer = armTimer(this.#woken ? 0 : delayMs, () => this.#begin());
  }
}
