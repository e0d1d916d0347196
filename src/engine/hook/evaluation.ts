import type { Action } from '../../base/action.ts';
import type { Finding } from '../../base/finding.ts';
import type { Place } from '../../base/document/document.ts';
import type { HookError } from '../../base/errors.ts';
import type {
  CompiledMapping,
  ConsideredMapping,
  RenderTrace,
  CompiledTemplate,
  Scope,
} from '../mapping/mapping.ts';
import type { TransformCall, TransformReply } from '../sandbox/sandbox.ts';

/** Which rule made nothing of a request. */
export type SkippedBy =
  'action' | 'transform' | 'forEach' | 'unmatched' | 'ownComment' | 'autoSubmitted' | 'ignoreSenders';

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

/** One rendered template. */
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
