/**
 * Ends work under way. A lapse ends what has begun, as another process may take it over; what begins later has a signal
 * of its own. An abort ends all of it for good.
 */
export class CutOff {
  readonly #all = new AbortController();
  #begun = new AbortController();

  /** For what begins now. */
  get signal(): AbortSignal {
    return this.#begun.signal;
  }

  /** Aborted once nothing begins any more. */
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
