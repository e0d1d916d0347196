import type { DeliveryTarget, WakeMode } from '../action.ts';
import type { Place } from '../document/document.ts';
import type { HookRequest, JsonValue } from '../request.ts';
import type { TransformRef } from '../sandbox/sandbox.ts';

/** What conditions and templates read. Reserved names win at the root; a bare name reads the payload. */
export interface Scope {
  readonly request: HookRequest;
  /** The element of a `forEach`; absent outside one. */
  readonly item?: JsonValue;
  /** 0-based position of `item`. */
  readonly index?: number;
}

/** A template compiled once. Rendering never throws on missing values; it lists them. */
export interface CompiledTemplate {
  readonly source: string;
  readonly at: Place;
  /** Openings of all blocks, in source order: each can be taken on its main and on its inverse side (coverage). */
  readonly blocks: readonly Place[];
  render(scope: Scope, trace?: RenderTrace): string;
}

/** What a rendering left empty, and which block branches it took (for coverage). */
export interface RenderTrace {
  readonly empty: { readonly expression: string; readonly at: Place }[];
  readonly branches: { readonly at: Place; readonly taken: 'main' | 'inverse' }[];
}

/** One leaf or connective of a condition as evaluated. */
export interface ConditionTrace {
  readonly at: Place;
  /** The operator with its operands as written, cut to 80 characters. */
  readonly expression: string;
  readonly result: 'true' | 'false' | 'unknown';
  /** The value found by the first `var` that decided; absent where there is none. Payload-derived. */
  readonly found?: JsonValue;
  readonly expected?: JsonValue;
  /** The variable that was missing where the result is unknown. */
  readonly missing?: string;
  /** True where the node is a leaf (no connective below it): coverage counts these. */
  readonly leaf: boolean;
}

/** A condition (`match.when`) compiled to closures. */
export interface CompiledCondition {
  readonly at: Place;
  /** Places of all leaves, in source order (for coverage). */
  readonly leaves: readonly Place[];
  /** True only where the condition holds; a condition that ends unknown does not match. */
  matches(scope: Scope): boolean;
  /** The same evaluation, recording every node it visited, in order. */
  trace(scope: Scope): { readonly matched: boolean; readonly nodes: readonly ConditionTrace[] };
}

/** How a path's body is received; needed before a mapping is chosen, the same for every mapping of the path. */
export interface PathSettings {
  readonly maxBodyBytes?: number;
}

/** `dedupe` of a mapping: key per action, or `body` for the hash of the raw body. */
export interface DedupeRule {
  readonly key: CompiledTemplate | 'body';
  readonly ttlSeconds: number;
}

/** A mapping, checked and compiled: immutable. */
export interface CompiledMapping {
  /** Unique; default `mapping-<n>`, n 1-based over all mappings. */
  readonly id: string;
  /** 0-based position in first-match order. */
  readonly order: number;
  readonly at: Place;
  readonly match: {
    /** Without outer slashes; absent: any name. */
    readonly path?: string;
    readonly pathAt?: Place;
    readonly source?: string;
    readonly sourceAt?: Place;
    readonly when?: CompiledCondition;
  };
  readonly action: 'wake' | 'agent' | 'skip';
  readonly name?: CompiledTemplate;
  readonly wakeMode: WakeMode;
  readonly sessionKey?: CompiledTemplate;
  /** Operator's words, literal. */
  readonly instructions?: string;
  /** `messageTemplate` of an agent mapping, `textTemplate` of a wake mapping. */
  readonly text?: CompiledTemplate;
  readonly deliver?: boolean;
  readonly channel?: CompiledTemplate;
  readonly to?: CompiledTemplate;
  readonly model?: CompiledTemplate;
  readonly thinking?: CompiledTemplate;
  readonly timeoutSeconds?: number;
  readonly allowUnsafeExternalContent: boolean;
  readonly transform?: TransformRef;
  /** A payload path, split into keys; `text` is the path as written. */
  readonly forEach?: { readonly keys: readonly string[]; readonly text: string; readonly at: Place };
  readonly runner?: string;
  readonly fallback?: DeliveryTarget;
  readonly callbackUrl?: string;
  readonly dedupe?: DedupeRule;
  readonly settings: PathSettings;
}

/** Why a mapping was or was not taken, in first-match order. */
export interface ConsideredMapping {
  readonly mapping: CompiledMapping;
  readonly matched: boolean;
  /** The first part that failed; absent where the mapping matched. */
  readonly failed?:
    | { readonly part: 'path'; readonly at?: Place; readonly expected: string; readonly found: string }
    | { readonly part: 'source'; readonly at?: Place; readonly expected: string; readonly found?: JsonValue }
    | { readonly part: 'when'; readonly at: Place; readonly node: ConditionTrace };
  /** All nodes of the condition that were visited. */
  readonly nodes?: readonly ConditionTrace[];
  /** Parts that held before the first failing one; the nearest miss has the most. */
  readonly held: number;
}

/**
 * The compiled mappings. Picking costs the same whatever their number: an index by path, source and equality
 * conjuncts of `when` yields candidates in first-match order.
 */
export interface RoutingTable {
  readonly mappings: readonly CompiledMapping[];
  /** Whether any enabled mapping could take this hook name, whatever the body. */
  canTake(path: string): boolean;
  settingsOf(path: string): PathSettings;
  /** The first mapping that matches. */
  route(scope: Scope): CompiledMapping | undefined;
  /** The same decision with every mapping's reason, for explain; linear in the number of mappings. */
  explain(scope: Scope): readonly ConsideredMapping[];
}
