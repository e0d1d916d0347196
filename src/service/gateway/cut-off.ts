import { codeOf, type Log } from '../../base/telemetry/telemetry.ts';
import { within } from '../../base/timers/timers.ts';

/**
 * Ends work under way. A lapse ends what has begun, as another process may take it over; what begins later has a signal
 * of its own. An abort ends all of it for good.
 */
export class CutOff {
  readonly #all = new AbortController();
  #begun = new AbortController();

  get signal(): AbortSignal {
    return this.#begun.signal;
  }

  get ended(): AbortSignal {
    return this.#all.signal;
  }

  abort(): void {
    this.#begun.abort();
    this.#all.abort();
  }

  lapse(): void {
    this.#begun.abort();
    if (!this.ended.aborted) this.#begun = new AbortController();
  }
}

/** What is under way, by its id in the store: at a stop it is waited for, and ended after the grace. */
export class UnderWay<Task extends { readonly done: Promise<void> }> extends CutOff {
  protected readonly tasks = new Map<string, Task>();

  get active(): number {
    return this.tasks.size;
  }

  get ids(): readonly string[] {
    return [...this.tasks.keys()];
  }

  /** Waits for what is under way; what is left after the grace is ended. */
  async stop(graceMs: number): Promise<void> {
    await within(this.#settled(), graceMs);
    this.abort();
    await this.#settled();
  }

  /** Follows work to its end. Where the end cannot be stored before the service stops, the next start finds the work unended. */
  protected async follow(
    work: Promise<void>,
    { log, wake }: { readonly log: Pick<Log, 'error'>; readonly wake: () => void },
    { id, what, fields }: { readonly id: string; readonly what: string; readonly fields: object },
  ): Promise<void> {
    try {
      await work;
    } catch (error) {
      log.error({ ...fields, code: codeOf(error) }, `${what} stays in the queue until the next start`);
    }
    this.tasks.delete(id);
    wake();
  }

  async #settled(): Promise<void> {
    await Promise.all([...this.tasks.values()].map(({ done }) => done));
  }
}
