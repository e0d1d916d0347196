/** What turns of a mapping by a runner cost in a day. */
export interface CostRecord {
  /** The day (UTC) on which they ended, as 2026-11-27. */
  readonly day: string;
  /** Empty for the built-in routes and the main session. */
  readonly mappingId: string;
  readonly runner: string;
  /** Turns whose agent says what they used. */
  readonly turns: number;
  /** Of how many of these the cost is not known: the agent ended before it said it. */
  readonly costUnknown: number;
  readonly inputTokens: number;
  readonly outputTokens: number;
  /** Of the turns whose cost is known; 0 where the agent tells no money. */
  readonly usd: number;
}

/** What a mapping did in the last 24 hours, as far back as decisions and ended runs are kept and looked at. */
export interface MappingActivity {
  readonly mappingId: string;
  /** Requests that it took, and of these how many were refused. */
  readonly hits: number;
  readonly refusals: number;
  readonly lastHitAt?: number;
  /** Runs that ended, and of these how many failed or were given up. */
  readonly runs: number;
  readonly failed: number;
  /** Now. */
  readonly active: number;
  /** By the minute, also of turns that are tried again. */
  readonly usd: number;
  readonly inputTokens: number;
  readonly outputTokens: number;
}

/** Of a mapping that did nothing. */
export const NO_ACTIVITY = {
  hits: 0,
  refusals: 0,
  runs: 0,
  failed: 0,
  active: 0,
  usd: 0,
  inputTokens: 0,
  outputTokens: 0,
};

/** A change that somebody made by the console or the command line. */
export interface AuditRecord {
  readonly at: number;
  readonly who: string;
  /** The address of a browser, or the name of the machine whose command line it was. */
  readonly source: string;
  /** What was done, e.g. `retry` or `pause`. */
  readonly what: string;
  /** Ids, a mapping, a runner, or what else it was done to. */
  readonly about: string;
  /** How many entries changed. */
  readonly changed: number;
}

/** Work that somebody has to look at. */
export interface WorkInNeed {
  /** Of a delivery or callback that was given up its run; else the run or system event. */
  readonly id: string;
  /** `failed`: the run ended badly; `dead`: given up; `unsent`: its reply or callback did not go out. */
  readonly end: 'failed' | 'dead' | 'unsent';
  /** The code of its error. */
  readonly why: string;
}

/** Since when what is known of mappings is all there was: absent where that is a day or more. */
export interface ActivitySince {
  /** Requests. */
  readonly hits?: number;
  /** Runs that ended. */
  readonly runs?: number;
}

/** A run that ended, of whose deliveries and callbacks one waits, is being sent, or was given up. */
export interface UnsentRun {
  readonly runId: string;
  readonly end: 'sending' | 'unsent';
}
