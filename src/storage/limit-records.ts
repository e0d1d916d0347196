/** `limits` and `maxRuns` of a mapping: how many of its runs may begin within an hour, and go on at the same time. */
export interface RunLimits {
  readonly runsPerHour?: number | undefined;
  /** Of any one conversation. */
  readonly runsPerHourAndSession?: number | undefined;
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

/** Runs that are not begun, because somebody said so. */
export interface QueuePause {
  /** A mapping's id, or `ALL_MAPPINGS`. */
  readonly mappingId: string;
  readonly since: number;
}

/** A mapping with runs that wait although agents are free. */
export interface LimitedMapping {
  /** Empty for the built-in routes. */
  readonly mappingId: string;
  readonly reason: 'paused' | 'runsPerHour' | 'runsPerHourAndSession';
  /** Runs that wait for this. */
  readonly waiting: number;
  /** When the next of them may begin; absent for a pause. */
  readonly until?: number;
}
