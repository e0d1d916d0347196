/** A runner whose runs wait, because nothing can be started there: it is away, or asks for a pause. */
export interface RunnerHold {
  readonly runner: string;
  /** The model whose runs wait; absent where all runs of the runner do. */
  readonly model?: string;
  readonly since: number;
  /** Why, as the runner said it last. */
  readonly code: string;
  readonly message: string;
  /** When a run is tried again. */
  readonly retryAt: number;
  /** Tries in a row that failed. */
  readonly tries: number;
}

/** A hold with the queued runs of its runner, whatever their model. */
export interface HeldRunner extends RunnerHold {
  readonly waiting: number;
}
