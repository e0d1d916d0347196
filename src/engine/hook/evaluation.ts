import type { Action, AfterCrash, NotAllowed, SummaryMode, WakeMode } from '../../base/action.ts';
import type { Finding } from '../../base/finding.ts';
import type { Place } from '../../base/document/document.ts';
import type { HookError } from '../../base/errors.ts';
import type {
  CompiledMapping,
  ConsideredMapping,
  RenderTrace,
  CompiledTemplate,
  Scope,
  PrintedJson,
  RoutingTable,
  WorkLimits,
} from '../mapping/mapping.ts';
import type { TransformCall, TransformReply } from '../sandbox/sandbox.ts';
import type { Behaviours } from '../config/config.ts';

/** Which rule made nothing of a request. */
export type SkippedBy =
  | 'action'
  | 'transform'
  | 'forEach'
  | 'unmatched'
  | 'ownComment'
  | 'autoSubmitted'
  | 'ignoreSenders'
  | 'not_allowed';

/** What a request becomes. */
export type Outcome =
  | { readonly kind: 'accepted'; readonly actions: readonly Action[] }
  /**
   * 204 on purpose: an `action: skip` mapping, a transform (every transform of the batch) that returned null, or a mail
   * that nobody wrote.
   */
  | { readonly kind: 'skipped'; readonly by: 'action' | 'transform' | 'forEach' | 'autoSubmitted' }
  /** 204: no mapping takes it; `setBy` is what has it so: `hooks.unmatched`, or the `otherwise` of its path with its place. Absent where only recorded. */
  | { readonly kind: 'skipped'; readonly by: 'unmatched'; readonly setBy?: string }
  /** 204: it tells of a comment that this service wrote for a run. */
  | { readonly kind: 'skipped'; readonly by: 'ownComment'; readonly runId: string }
  /** 204: it comes from an account that the mapping names; `sender` is the name as the mapping has it. */
  | { readonly kind: 'skipped'; readonly by: 'ignoreSenders'; readonly sender: string }
  /** 204: `startedBy` of the mapping does not allow the account to start it. */
  | ({ readonly kind: 'skipped'; readonly by: 'not_allowed' } & NotAllowed)
  | { readonly kind: 'rejected'; readonly error: HookError };

/** One call of a transform as it went; its texts are payload-derived. */
export interface TransformTrace {
  readonly call: TransformCall;
  readonly reply: TransformReply;
  readonly at: Place;
  /** Position in a forEach batch. */
  readonly index?: number;
  /** What was wrong with the result of a call that ran; names the key. Payload-derived. */
  readonly problem?: string;
  /** The key that was wrong, where it is one of a mapping: a word of ours, and no part of the payload. */
  readonly mappingKey?: string;
}

export interface RenderedTemplate {
  /** The mapping's key, e.g. `messageTemplate`, `to`. */
  readonly field: string;
  readonly at: Place;
  readonly empty: RenderTrace['empty'];
  readonly branches: RenderTrace['branches'];
  /** At most 20,000 characters of the whole; absent where not everything is recorded, and where the rendering failed. */
  readonly text?: string;
  readonly index?: number;
  /** What was rendered with what; present where everything is recorded, for who asks what the text is made of. */
  readonly source?: { readonly template: CompiledTemplate; readonly scope: Scope };
}

/**
 * Why. With `detail: 'full'` every mapping is considered and every node recorded; with `'brief'` (the server) only
 * what the decision log needs: the mapping taken, or, where none matched, the considered ones.
 */
export interface Trace {
  readonly considered: readonly ConsideredMapping[];
  readonly templates: readonly RenderedTemplate[];
  readonly transforms: readonly TransformTrace[];
}

/** One request evaluated: deterministic, no clock, network, disk or environment was touched. */
export interface Evaluation {
  readonly outcome: Outcome;
  /** The first mapping taken, or the one that refused it; absent for built-in routes and where none matched. */
  readonly mapping?: CompiledMapping;
  /** Mappings that were taken after it, in their order, as it says `continue`; absent where there are none. */
  readonly further?: readonly CompiledMapping[];
  readonly warnings: readonly Finding[];
  readonly trace: Trace;
}

/** Asks that others get a turn before the evaluation goes on: so much was done, counted in steps. */
export interface Pause {
  readonly kind: 'pause';
}

/** A part of an evaluation: it yields each transform call and is resumed with its reply, and pauses, with nothing. */
export type EvaluationPart<T> = Generator<TransformCall | Pause, T, TransformReply | undefined>;

/**
 * Evaluation as a generator, so that it stays pure: where transforms run and how long a pause is decides who drives
 * it. Without a transform and with little work the first `next()` is already the result.
 */
export type EvaluationSteps = EvaluationPart<Evaluation>;

/** What a warning on a request says beside its sentence, by code. Names of fields are the sender's; no value is here. */
export interface HookFacts {
  seconds_as_milliseconds: object;
  rounded_number: object;
  promise_as_text: object;
  /** Whether it is a list or a table of values. */
  object_as_text: { readonly isCollection: boolean };
  invalid_date: object;
  nan_as_text: object;
  /** Whether the transform got an element of a batch, or a body that is a list. */
  undefined_as_text: { readonly isElement: boolean; readonly isList: boolean };
  class_instance: object;
  /** The text with JSON in it, as JavaScript writes its path. */
  json_text: { readonly field: string; readonly isBase64: boolean };
  /** The key as it is written. */
  same_dedupe_key: { readonly key: string };
  /** The id that was made. */
  generated_mapping_id: { readonly id: string };
  /** What helpers and blocks of a template got; the values are the sender's. */
  printed_json: { readonly printed: readonly PrintedJson[] };
}

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
    readonly openclawAgents?: readonly string[];
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
