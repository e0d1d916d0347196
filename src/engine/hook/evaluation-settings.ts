import type { AfterCrash, SummaryMode, WakeMode } from '../../base/action.ts';
import type { Behaviours } from '../config/config.ts';
import type { RoutingTable, WorkLimits } from '../mapping/mapping.ts';

/** Everything of the configuration that evaluation may depend on: plain data and pure functions, pinned per request. */
export interface EvaluationSettings {
  readonly table: RoutingTable;
  readonly agents: {
    /** Short names for models. */
    readonly aliases: Readonly<Record<string, string>>;
    /** Allow-list with aliases resolved; undefined: any model; empty: no override at all. */
    readonly models: readonly string[] | undefined;
  };
  /** Ids of all known channels, plugins included, configured or not; without `last`; `any` where not all are known. */
  readonly channels: ReadonlySet<string> | 'any';
  /** What is wrong with a recipient on a channel, or undefined. */
  recipientProblem?(channel: string, to: string): string | undefined;
  /** The run behind a comment that this service wrote, or undefined for somebody else's. */
  findOwnComment?(words: string): string | undefined;
  /** Coerce wrong types and enum values of `wake` and `agent` bodies with a warning, as OpenClaw does. */
  readonly lenient: boolean;
  /** What a run does where neither the request nor the mapping says it: `hooks.defaults`. */
  readonly defaults: {
    readonly wakeMode: WakeMode;
    readonly deliver: boolean;
    readonly summary: SummaryMode;
    readonly afterCrash?: AfterCrash;
  };
  /** What becomes of a request that no mapping takes: 404, or 204 and nothing. */
  readonly unmatched: 'reject' | 'skip';
  readonly sessionKeys: {
    /** Whether a request body may choose the session key. */
    readonly allowFromRequest: boolean;
    /** Used where nothing else says a key, instead of a random one. */
    readonly default?: string;
    /** Empty: any. */
    readonly allowedPrefixes: readonly string[];
    /** Prefixes of keys that have no owner: whoever may write such a key takes part in its conversation. */
    readonly shared: readonly string[];
  };
  /** What one request may cost. */
  readonly limits: WorkLimits;
  /** What the configuration means otherwise than one of ours. */
  readonly behaviours: Behaviours;
  /** Agents that `agentId` may name: runner by id, the agent of what names none, and who is allowed at all. */
  readonly hookAgents: {
    readonly runners: Readonly<Record<string, string>>;
    readonly default?: string;
    readonly allowed?: readonly string[];
    /** In an OpenClaw file: every agent that there is, the default one first. */
    readonly theirs?: readonly string[];
  };
  /** By hook name: what a run takes where neither sender nor mapping says it; models are allowed ones. */
  readonly runDefaults: Readonly<Record<string, { readonly model?: string; readonly thinking?: string }>>;
  /** Actions of one request at most. */
  readonly maxActions: number;
  /** Milliseconds all transforms of one request may take together. */
  readonly transformBudgetMs: number;
}

/** Actions of one request at most. */
export const MAX_ACTIONS = 200;
/** Milliseconds all transforms of one request may take together. */
export const TRANSFORM_BUDGET_MS = 5000;
