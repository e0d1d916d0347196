import type {
  CallbackAddress,
  Permission,
  ConversationOwner,
  DeliveryTarget,
  RetrySettings,
  SummaryMode,
  WakeMode,
  Reactions,
} from '../../base/action.ts';
import type { ConversationWish } from '../../base/conversation.ts';
import type { Place } from '../../base/document/document.ts';
import type { RequestFindingJson } from '../../base/finding.ts';
import type { BodyFormat } from '../../base/payload/payload.ts';
import type { HookRequest, JsonValue } from '../../base/request.ts';
import type { RecoverSettings } from './keys/recover-settings.ts';
import type { WorkBudget } from './work-budget.ts';
import type { TemplateRead } from './template/template-subject.ts';
import type { Behaviours } from '../config/config.ts';
import type { Sender } from '../senders/senders.ts';
import type { TransformRef } from '../sandbox/sandbox.ts';
import type { Challenge, ProofSettings } from '../verify/verify.ts';

/** What conditions and templates read. Reserved names win at the root; a bare name reads the payload. */
export interface Scope {
  readonly request: HookRequest;
  /** The element of a `forEach`; absent outside one. */
  readonly item?: JsonValue;
  /** 0-based position of `item`. */
  readonly index?: number;
  /** Where the work of the whole request is counted; absent where nobody asks. */
  readonly work?: WorkBudget;
}

/**
 * A template compiled once. Rendering never throws on missing values; it lists them. It throws `HookError`
 * `too_much_work` where a body makes it print more than 1 MB or loop without measure.
 */
export interface CompiledTemplate {
  readonly source: string;
  readonly at: Place;
  /** Openings of all blocks, in source order: each can be taken on its main and on its inverse side (coverage). */
  readonly blocks: readonly Place[];
  /** The text itself where the template has no expressions: it renders to this whatever the scope. */
  readonly literal?: string;
  /** First names of all paths it reads, e.g. `headers`, `repository`. */
  readonly reads: readonly string[];
  /** Each path from the root with its place; not what blocks read of an element. Absent in an OpenClaw file. */
  readonly readsAt?: readonly TemplateRead[];
  render(scope: Scope, trace?: RenderTrace): string;
  /** Renders once more, for people who ask: what each piece of the text came from. @throws as `render` does */
  pieces(scope: Scope): readonly TemplatePiece[];
}

/** A piece of a rendered text: the template's own words, or what an expression printed. */
export interface TemplatePiece {
  readonly text: string;
  /** As written, e.g. `truncate pull_request.body 200`; absent for the template's own words. */
  readonly expression?: string;
  readonly at?: Place;
  /** Where the value stands in the request, e.g. `payload.pull_request.body`; absent where that cannot be said. */
  readonly path?: string;
}

/** An expression that printed a list of objects, or an object, as JSON. */
export interface PrintedJson {
  readonly expression: string;
  readonly value: JsonValue;
}

/** What a rendering left empty, and which block branches it took (for coverage). */
export interface RenderTrace {
  /** Expressions that printed a list of objects, or an object, as JSON; recorded only where the list is given. */
  readonly printed?: PrintedJson[];
  readonly empty: {
    readonly expression: string;
    readonly at: Place;
    /** What names are read of in the blocks around it, the innermost first; none where they begin at the root. */
    readonly around?: readonly JsonValue[];
  }[];
  readonly branches: { readonly at: Place; readonly taken: 'main' | 'inverse' }[];
}

/** One leaf or connective of a condition as evaluated. */
export interface ConditionTrace {
  readonly at: Place;
  /** The operator with its operands as written, cut to 80 characters. */
  readonly expression: string;
  readonly rule: JsonValue;
  readonly result: 'true' | 'false' | 'unknown';
  /** The value found by the first `var` that decided; absent where there is none. Payload-derived. */
  readonly found?: JsonValue;
  readonly expected?: JsonValue;
  /** The variable that was missing where the result is unknown. */
  readonly missing?: string;
  /** The element of the list that decided `some` or `none`, counted from 0. Payload-derived. */
  readonly element?: { readonly index: number; readonly value: JsonValue };
  /** True where the node is a leaf (no connective below it): coverage counts these. */
  readonly leaf: boolean;
  /** Connectives above the node; 0 for the whole condition. */
  readonly depth: number;
}

/** An equality between a variable and a literal text that a condition needs in order to hold. */
export interface Equality {
  /** The variable as keys, e.g. `['headers', 'x-github-event']`. */
  readonly keys: readonly string[];
  readonly literal: string;
  /** False for `==`, which a value that is no text may satisfy as well. */
  readonly strict: boolean;
}

/** A condition (`match.when`) compiled to closures. */
export interface CompiledCondition {
  readonly at: Place;
  readonly rule: JsonValue;
  /** Places of all leaves, in source order (for coverage). */
  readonly leaves: readonly Place[];
  /** What must equal a literal text for the condition to hold. */
  readonly equalities: readonly Equality[];
  /**
   * True only where the condition holds; a condition that ends unknown does not match.
   * @throws HookError `too_much_work` where list operators multiply a body beyond two million steps
   */
  matches(scope: Scope): boolean;
  /**
   * The same evaluation, recording every node it visited, in order. `failed` is the first conjunct that is not true
   * (the whole condition where it is no `and`), `held` the number of conjuncts before it.
   */
  trace(scope: Scope): {
    readonly matched: boolean;
    readonly nodes: readonly ConditionTrace[];
    readonly failed?: ConditionTrace;
    readonly held: number;
    /** Conjuncts that do not hold, those behind the first included. */
    readonly failing: readonly ConditionTrace[];
  };
}

/** Which requests are kept: `storage.keepRequests.which`, and the key of a path. */
export const KEPT_KINDS = ['none', 'transforms', 'failed', 'shapes', 'all'] as const;
export type KeptKind = (typeof KEPT_KINDS)[number];

/** How a path's requests are received; needed before a mapping is chosen, the same for every mapping of the path. */
export interface PathSettings {
  /** Stands in place of the hook token. */
  readonly verify?: ProofSettings;
  /** The hook token is asked for beside `verify`. */
  readonly requireToken?: boolean;
  /** Addresses and CIDR ranges. */
  readonly allowFrom?: readonly string[];
  readonly bodyFormat?: BodyFormat;
  /** Paths in the payload, which are lists whatever stands there. */
  readonly lists?: readonly string[];
  readonly method?: 'POST' | 'GET';
  readonly challenge?: Challenge;
  readonly answer?: { readonly status: number; readonly body: string; readonly contentType: string };
  readonly rate?: { readonly perMinute: number; readonly burst: number };
  readonly maxBodyBytes?: number;
  /** What becomes of a request that none of its mappings takes: 404, or 204 and nothing; default `hooks.unmatched`. */
  readonly otherwise?: 'reject' | 'skip';
  /** Where a mapping of the path says it first: `mappings/a.yaml:3:5`. */
  readonly otherwiseAt?: string;
  /** Which requests of the path are kept, whatever the configuration says. */
  readonly keepRequests?: KeptKind;
  /** How what the sender could not deliver is asked for. */
  readonly recover?: RecoverSettings;
}

/** `dedupe` of a mapping: key per action, or `body` for the hash of the raw body. */
export interface DedupeSettings {
  readonly key: CompiledTemplate | 'body';
  readonly ttlSeconds: number;
}

/** `debounce` of a mapping. Seconds. */
export interface DebounceSettings {
  readonly key: CompiledTemplate;
  readonly seconds: number;
  readonly maxSeconds: number;
  readonly keep?: 'latest';
}

export interface ConversationSettings extends ConversationWish {
  readonly owner?: string;
  readonly keys: readonly CompiledTemplate[];
  readonly agentKeys: readonly CompiledTemplate[];
}

/** `maxRuns` of a mapping; without a key all its runs count. */
export interface MaxRunsSettings {
  readonly runs: number;
  readonly key?: CompiledTemplate;
}

export interface IgnoredSenders {
  /** Names as written, by how they are compared. */
  readonly names: ReadonlyMap<string, string>;
  /** Absent: where senders usually put the account. */
  readonly from?: CompiledTemplate;
  readonly at: Place;
}

export interface StartRule {
  /** Absent: accounts alone count. */
  readonly permission?: Permission;
  /** Names as written, by how they are compared. */
  readonly accounts: ReadonlyMap<string, string>;
  readonly takesBots: boolean;
  readonly asksOthers: boolean;
  /** Whether the sender is asked what an account may do: there is a token for that. */
  readonly isAsked: boolean;
  readonly token?: CallbackAddress;
  readonly sender?: Sender;
  readonly account?: CompiledTemplate;
  readonly role?: CompiledTemplate;
}

/** Keys of a mapping that are templates of one field each. A new one is added here and to the schema. */
export const TEMPLATE_KEYS = ['name', 'sessionKey', 'channel', 'to', 'model', 'thinking'] as const;
export type TemplateKey = (typeof TEMPLATE_KEYS)[number];

/** Templates that decide what becomes of a request, where it goes, and with which others it belongs. */
export const DECIDING =
  /^(?:sessionKey|channel|to|model|thinking)$|\.(?:key|from|account|role)$|^conversation\./;

/** What fills a field of an action that only its mapping decides. */
export interface Fill {
  readonly key: string;
  /** A notification has the field, too. */
  readonly isOfNotify: boolean;
  make(at: ActionFilling): unknown;
}

/** One event whose action is filled. */
export interface ActionFilling {
  readonly mapping: CompiledMapping;
  readonly request: HookRequest;
  /** The text of a template, trimmed and made once for each scope. */
  readonly text: (name: string, template: CompiledTemplate) => string;
  /** The same, short enough to be kept as a key; a blank one is none, of which the warning tells, where there is one. */
  readonly nameOf: (
    name: string,
    template: CompiledTemplate,
    blank?: Pick<RequestFindingJson, 'code' | 'message'>,
  ) => string | undefined;
  /** Who caused the event, where its sender says it. */
  readonly account: () => string | undefined;
}

/** A mapping, checked and compiled: immutable. */
export interface CompiledMapping extends Readonly<Partial<Record<TemplateKey, CompiledTemplate>>> {
  /** All its templates by their keys, as they are written: `messageTemplate`, `dedupe.key`. */
  readonly templates: ReadonlyMap<string, CompiledTemplate>;
  /** What its keys put into each run, in the order of the keys. */
  readonly fills: readonly Fill[];
  /** Unique; default `mapping-<n>`, n 1-based over all mappings. */
  readonly id: string;
  /** False where the id was made from the mapping's position: it changes when mappings are moved. */
  readonly hasOwnId: boolean;
  /** Who the conversations of its runs belong to. */
  readonly owner: ConversationOwner;
  /** 0-based position in first-match order. */
  readonly order: number;
  readonly at: Place;
  /** Place of the id, or of the mapping where it has none. */
  readonly idAt: Place;
  readonly match: {
    /** Without outer slashes; absent: any name. */
    readonly path?: string;
    readonly pathAt?: Place;
    readonly source?: string;
    readonly sourceAt?: Place;
    readonly when?: CompiledCondition;
  };
  /** Mappings after it are asked as well. */
  readonly continues?: true;
  readonly action: 'wake' | 'agent' | 'notify' | 'skip';
  /** What its file means otherwise than one of ours. */
  readonly behaviours: Behaviours;
  /** True for a mapping of an OpenClaw file that has errors: it still takes its requests, each is answered 503. */
  readonly isOut?: true;
  /** Agent of an OpenClaw mapping, a key of `hooks.agents.runners`. */
  readonly agentId?: string;
  readonly wakeMode?: WakeMode;
  readonly summary?: SummaryMode;
  /** Operator's words, literal. */
  readonly instructions?: string;
  /** `messageTemplate` of an agent mapping, `textTemplate` of a wake mapping. */
  readonly text?: CompiledTemplate;
  readonly deliver?: boolean;
  readonly timeoutSeconds?: number;
  readonly timeoutAt?: Place;
  readonly allowUnsafeExternalContent: boolean;
  readonly transform?: TransformRef;
  /** A payload path, split into keys; `text` is the path as written. */
  readonly forEach?: { readonly keys: readonly string[]; readonly text: string; readonly at: Place };
  readonly runner?: string;
  /** A name from `gateway.workFolders`. */
  readonly cwd?: string;
  readonly thread?: CompiledTemplate;
  /** `field` names the message in webhooks of the channel's platform. */
  readonly reaction?: Reactions & { readonly field: readonly string[] };
  readonly approve?: DeliveryTarget & { readonly withinSeconds: number };
  readonly fallback?: DeliveryTarget;
  readonly callbackUrl?: CallbackAddress;
  readonly dedupe?: DedupeSettings;
  readonly ignoreSenders?: IgnoredSenders;
  readonly startedBy?: StartRule;
  readonly sender?: Sender;
  /** Where accounts stand in its requests; only where one of its keys looks for them. */
  readonly accounts?: readonly string[];
  /** Runs that may begin within an hour, or for a sum a day, as the mapping itself says. */
  readonly limits?: {
    readonly runsPerHour?: number | undefined;
    readonly runsPerHourAndSession?: number | undefined;
    readonly usdPerDay?: number | undefined;
  };
  readonly usdPerDayAt?: Place;
  readonly debounce?: DebounceSettings;
  readonly trust?: readonly string[];
  readonly maxRuns?: MaxRunsSettings;
  readonly conversation?: ConversationSettings;
  readonly retry?: RetrySettings;
  readonly settings: PathSettings;
  readonly settingsAt?: { readonly [Key in keyof PathSettings]?: Place };
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
  /** Parts that do not hold: the nearest miss has the fewest. Absent where the hook name is another. */
  readonly failing?: number;
  /** Conjuncts of the condition that do not hold. */
  readonly parts?: readonly ConditionTrace[];
}

/** The compiled mappings. Picking asks few of them: those that need what the request has, in first-match order. */
export interface RoutingTable {
  readonly mappings: readonly CompiledMapping[];
  /** The hook names that mappings take, each once, in first-match order. */
  readonly paths: ReadonlySet<string>;
  /** Mappings that are turned off (`enabled: false`): they take nothing, and explain names them. */
  readonly disabled: readonly CompiledMapping[];
  /** Whether any enabled mapping could take this hook name, whatever the body. */
  canTake(path: string): boolean;
  settingsOf(path: string): PathSettings;
  /** The mappings that may match, in first-match order; all others cannot. */
  candidates(scope: Scope): readonly CompiledMapping[];
  /** Whether the path has a proof of its own: only mappings that name it are considered then. */
  isOwned(path: string): boolean;
  route(scope: Scope): CompiledMapping | undefined;
  /** All mappings that take a request: the first that matches, and those that it lets be asked. */
  takers(scope: Scope): readonly CompiledMapping[];
  /**
   * The same decision with the reason of every mapping up to the last one taken, for explain; linear in their number.
   * The nearest miss is the entry with the most `held`.
   */
  explain(scope: Scope): Iterable<ConsideredMapping>;
}
