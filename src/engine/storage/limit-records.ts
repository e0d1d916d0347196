/** `limits` and `maxRuns` of a mapping: how many of its runs may begin within an hour or for a sum, and go on at the same time. */

export interface RunLimits {
  readonly runsPerHour?: number | undefined;
  /** Of any one conversation. */
  readonly runsPerHourAndSession?: number | undefined;
  /** A run begins while its mapping has spent less in the current day (UTC). */
  readonly usdPerDay?: number | undefined;
  /** Active at most: of all runs of the mapping, or of those with the same key. */
  readonly maxRuns?: { readonly runs: number; readonly isKeyed: boolean } | undefined;
}

/** What holds for every mapping; runs of the built-in routes have none and are not limited. */
export interface LimitRules {
  /** Of mappings that are not named. */
  readonly default?: RunLimits;
  /** As a whole: nothing of the default is added. */
  readonly byMapping: ReadonlyMap<string, RunLimits>;
}

/** Stands for all mappings, and for the built-in routes. */
export const ALL_MAPPINGS = '*';

/** What stands for the runs of a runner where a mapping may be named; no mapping's id has a space. */
export const pauseOfRunner = (runner: string): string => `runner ${runner}`;

/** Runs that are not begun, because somebody said so. */
export interface QueuePause {
  /** A mapping's id, `ALL_MAPPINGS`, or what `pauseOfRunner` makes. */
  readonly mappingId: string;
  /** Of a runner that is paused. */
  readonly runner?: string;
  readonly since: number;
}

/** A mapping with runs that wait although agents are free. */
export interface LimitedMapping {
  /** Empty for the built-in routes. */
  readonly mappingId: string;
  readonly reason: 'paused' | 'runsPerHour' | 'runsPerHourAndSession' | 'usdPerDay';
  /** Runs that wait for this. */
  readonly waiting: number;
  /** When the next of them may begin; absent for a pause. */
  readonly until?: number;
}

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
