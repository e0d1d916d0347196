import type { HooksSettings, Settings } from '../../engine/config/config.ts';
import type { Evaluation } from '../../engine/hook/hook.ts';
import type { FieldsRead, KeptKind, PathSettings } from '../../engine/mapping/mapping.ts';
import type { BodyFormat } from '../../base/payload/payload.ts';
import type { HookRequest } from '../../base/request.ts';
import type {
  AcceptedWork,
  AcceptResult,
  DecisionRecord,
  KeptLimits,
  NewDelivery,
  RunRecord,
  Storage,
} from '../../engine/storage/storage.ts';
import type { RequestAdvisor } from './advisor.ts';
import type { TokenSet } from './authenticate.ts';
import type { KnownTokens } from './mask-secrets.ts';
import type { WorkerQuestion } from '../runners/runners.ts';
import type { Health, Log, LogLevel, Metrics, Tracing } from '../../base/telemetry/telemetry.ts';

/** Everything the server works with; nothing is reached by any other way. */
export interface ServerDeps {
  readonly server: Settings['server'];
  /** The live generation; asked once per request, which keeps it to its end. */
  readonly generation: () => ServerGeneration;
  readonly storage: ServerStorage;
  readonly log: ServerLog;
  /** The troubles of the service; the server itself reports a store that does not answer. */
  readonly health: Health;
  /** Called after the commit and before the answer: wakes whoever performs the work. Must not throw. */
  readonly onAccepted: (result: AcceptResult, actions: AcceptedWork['actions']) => void;
  /** Whether an event was asked for, because its sender could not deliver it. Must not throw. */
  readonly recovered?: (path: string, event: string) => RecoveredEvent | undefined;
  /** Called with a proved notice that the mailbox has changed. Must not throw. */
  readonly onNotice?: () => void;
  /** Resolves to the run once it has ended, or undefined where it has not within `ms` or the signal fires first. */
  readonly waitForRun: (runId: string, ms: number, signal: AbortSignal) => Promise<RunRecord | undefined>;
  /** Answers a worker that has proved itself; what it throws is a `HookError`. */
  readonly answerWorker?: (asked: WorkerQuestion) => Promise<object>;
  /** A port of its own for workers; default the port of hooks. */
  readonly workersAt?: { readonly host: string; readonly port: number } | undefined;
  /** Sees every evaluated request with its answer: the dev terminal and the recorder. Must not throw. */
  readonly onDecision?: (seen: SeenRequest) => void;
  /** Called once per request, after its answer was decided. */
  readonly metrics?: Pick<Metrics, 'observeRequest'>;
  /** Absent where no SDK of OpenTelemetry is registered. */
  readonly tracing?: Tracing;
  /** Fetches the keys of an issuer for `oidc`; bounded in time and size. */
  readonly fetchJson?: (url: string) => Promise<unknown>;
  /** Milliseconds since the epoch; default `Date.now`. */
  readonly clock?: () => number;
  /** Default: from node:crypto. */
  readonly ids?: () => RequestIds;
  /** Time limits; defaults in `DEFAULT_LIMITS`. */
  readonly limits?: Partial<ServerLimits>;
}

/** An event that the sender could not deliver, and that was asked for. */
export interface RecoveredEvent {
  readonly mark: NonNullable<DecisionRecord['recovered']>;
  ended(): void;
}

/** A runner whose runs workers ask for. */
export interface WorkerDoor {
  readonly runner: string;
  readonly tokens: TokenSet;
  readonly maxReplyBytes: number;
}

/** Configuration, mappings and transforms as one request sees them. */
export interface ServerGeneration {
  readonly id: string;
  readonly hooks: HooksSettings;
  /** Runners whose runs workers ask for. */
  readonly workers?: readonly WorkerDoor[] | undefined;
  /** Whether agents may add keys to the conversations of their runs. */
  readonly hasAgentKeys?: boolean;
  /** True where the process takes no hooks, though the configuration does (`--role worker`). */
  readonly performsOnly?: true;
  /** The operator's secret, `gateway.token`: who sends it gets details of the service's health. */
  readonly gatewayToken?: string | undefined;
  /** All tokens, which are masked where a sender puts one in the wrong place. */
  readonly tokens: KnownTokens;
  canTake(path: string): boolean;
  /** Whether a body of another format than its path takes is read all the same: for recording what comes. */
  readonly takesAnyFormat?: boolean;
  /** Whether the name stands in the operator's files: only such a name of a stranger's request is kept. */
  knowsName(path: string): boolean;
  /** Whether a name is a hook name of the operator's, a part of one, or one in other letter case. */
  isOfName?(path: string): boolean;
  settingsOf(path: string): PathSettings;
  /** The run whose approval a hook name is the signed link of; undefined for every other name. */
  askedBy?(name: string): NonNullable<NewDelivery['asks']> | undefined;
  /** Stores the key that a sender brings; resolves to whether the operator waits for one. */
  takeKey?(path: string, key: string): Promise<boolean>;
  /** Where a request has the id of its event, on a path whose sender is asked for what it could not deliver. */
  recoveryOf?(path: string): { readonly event: readonly string[]; readonly maxAgeMs: number } | undefined;
  /** The first mapping of a hook name, with its place. */
  placeOf?(path: string): string | undefined;
  /** The path at which Pub/Sub says that a Gmail mailbox has changed; absent where it does not. */
  readonly noticePath?: string | undefined;
  /** Which requests are kept, and how many; absent where none is kept. */
  readonly keepRequests?: {
    /** What is kept of paths that do not say it themselves. */
    readonly which: KeptKind;
    readonly limits: KeptLimits;
    /** Fields of a hook name whose values stand in a shape. */
    fieldsOf(path: string): FieldsRead;
  };
  evaluate(
    request: HookRequest,
    how: {
      /** Hears of each call of a transform that ended. */
      readonly onCall?: ReturnType<Tracing['receive']>['called'] | undefined;
    },
  ): Evaluation | Promise<Evaluation>;
  /** Loads what is known of mistakes; not called for a request that was accepted as it came. */
  advisor?(): Promise<RequestAdvisor>;
}

/** The part of the storage port a request needs. */
export type ServerStorage = Pick<
  Storage,
  | 'accept'
  | 'addAgentKey'
  | 'isAgentToken'
  | 'findIdempotent'
  | 'findAsked'
  | 'findRun'
  | 'decideApproval'
  | 'backlog'
  | 'recordDecision'
  | 'recordStranger'
  | 'keepRequest'
>;

type ServerLog = Pick<Log, LogLevel | 'isEnabled'>;

export interface SeenRequest {
  readonly request: HookRequest;
  readonly evaluation: Evaluation;
  readonly status: number;
  /** Absent where nothing was stored. */
  readonly result?: AcceptResult;
  readonly generation: string;
  /** The format of a body that its path does not take; only while requests are recorded. */
  readonly otherFormat?: BodyFormat;
  readonly tookMs: number;
}

export interface RequestIds {
  /** UUID. */
  readonly id: string;
  /** Unsigned 32-bit. */
  readonly seed: number;
  /** 16 lower-case hex digits. */
  readonly nonce: string;
}

/** `refused`: ended before it was evaluated; `served`: health, readiness and run queries. */
export type RequestOutcome = 'accepted' | 'duplicate' | 'skipped' | 'rejected' | 'refused' | 'served';

export interface ServerLimits {
  /** Time from the first byte of a request to the end of its headers. */
  readonly headersTimeoutMs: number;
  /** Time from the first byte of a request to the end of its body. */
  readonly bodyTimeoutMs: number;
  /** How long, and how many bytes, the server still reads after an error answer. */
  readonly drainMs: number;
  readonly drainBytes: number;
  /** Most bytes of all bodies together whose senders are not proved. */
  readonly unprovedBytes: number;
  /** Most requests that wait by `Prefer: wait`; further ones are answered at once. */
  readonly maxWaiting: number;
  /** Longest `Prefer: wait`. */
  readonly maxWaitSeconds: number;
}

export const DEFAULT_LIMITS: ServerLimits = {
  headersTimeoutMs: 10_000,
  bodyTimeoutMs: 30_000,
  drainMs: 10_000,
  drainBytes: 64 * 1024 * 1024,
  // A single body may have as much (`maxBodyBytes`), so that each fits alone.
  unprovedBytes: 64 * 1024 * 1024,
  maxWaiting: 200,
  maxWaitSeconds: 300,
};
