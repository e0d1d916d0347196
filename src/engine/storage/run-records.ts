import type {
  ActionOrigin,
  AgentAction,
  CallbackAddress,
  DeliveryTarget,
  Reaction,
  RunAction,
} from '../../base/action.ts';
import type { Conversation, SessionTurn } from './conversation-records.ts';

/** A summary line for the main session. */
export interface SummaryEvent {
  readonly text: string;
  readonly origin: ActionOrigin;
  readonly requestHeartbeat: boolean;
}

export type EventState = 'pending' | 'claimed' | 'consumed' | 'dead';

export interface EventRecord {
  readonly id: string;
  readonly kind: 'wake' | 'summary';
  readonly text: string;
  readonly origin: ActionOrigin;
  readonly mode: 'now' | 'next-heartbeat';
  readonly state: EventState;
  readonly attempts: number;
  readonly turnId?: string;
  /** Set for the summary of a run. */
  readonly runId?: string;
  readonly lastError?: { readonly code: string; readonly message: string };
  readonly createdAt: number;
  /** When it was consumed, or parked as dead. */
  readonly consumedAt?: number;
}

export interface ClaimEventsOptions {
  readonly turnId: string;
  readonly nowMs: number;
  readonly maxEvents: number;
  readonly maxBytes: number;
}

export interface EventClaim {
  readonly turnId: string;
  readonly events: readonly EventRecord[];
}

export interface ClaimOutboxOptions {
  readonly nowMs: number;
  readonly limit: number;
  /** Only entries of this kind; default all. */
  readonly kind?: 'callback';
}

/** Whom a delivery is for; those to one recipient are sent in their order, and so are the reactions there. */
export const recipientOf = ({ channel, to = '', reaction }: Omit<NewDelivery, 'text' | 'fromMain'>): string =>
  `${channel}\n${to}${reaction === undefined ? '' : '\nreactions'}`;

export interface NewDelivery extends DeliveryTarget {
  readonly text: string;
  /** Where it stands on its channel; another one, such as the fallback, does not know it. */
  readonly thread?: string;
  readonly fallback?: DeliveryTarget;
  /** The main session's own deliveries move `last`; a hook's never do. */
  readonly fromMain: boolean;
  /** Set where the delivery asks whether a run begins; the link is added when it is sent, so that no store has it. */
  readonly asks?: { readonly runId: string; readonly expiresAt: number; readonly nonce: string };
  /** True where the mail behind it must not be answered by a machine (RFC 3834); channel `email` does not send it. */
  readonly isAutomatic?: true | undefined;
  /** True where nothing in the text is formatting: it is sent without any, and shows as it is. */
  readonly plain?: true;
  readonly traceparent?: string | undefined;
  /** The main session says it of something that failed: where the only channel is the customers', it is not sent. */
  readonly isOfFailure?: true | undefined;
  /** In place of a text. */
  readonly reaction?: Reaction;
}

export interface NewCallback {
  /** Sent to what it leads to then, where it is a reference. */
  readonly url: CallbackAddress;
  readonly body: string;
  /** The trace of the request, sent as a header. */
  readonly traceparent?: string;
}

/** Where a callback goes, as it may be shown: no path, which may be a secret. */
export function callbackPlace({ url }: NewCallback): string {
  if (typeof url !== 'string') return `{file: ${url.file}}`;
  return URL.canParse(url) ? new URL(url).origin : url;
}

export type OutboxState = 'queued' | 'active' | 'completed' | 'dead' | 'skipped';

export interface OutboxRecord {
  readonly id: string;
  readonly kind: 'delivery' | 'reaction' | 'callback';
  readonly runId: string;
  /** The mapping of the run; empty for a delivery of the main session. */
  readonly mappingId: string;
  readonly state: OutboxState;
  readonly attempts: number;
  readonly delivery?: NewDelivery;
  readonly callback?: NewCallback;
  readonly chunksSent: number;
  /** Where it went, once a part of it was sent. */
  readonly target?: DeliveryTarget;
  readonly lastError?: { readonly code: string; readonly message: string };
  /** Whom it is for, as far as that is known (`recipientOf`); callbacks have no order. */
  readonly recipient?: string;
  /** True where an earlier one to the same recipient comes first. */
  readonly isBehind?: true;
  readonly createdAt: number;
  readonly dueAt: number;
  readonly endedAt?: number;
}

/** How far a delivery has come. */
export interface OutboxProgress {
  readonly chunksSent: number;
  /** Where these went, `last` resolved: the rest goes there too. */
  readonly target: DeliveryTarget;
}

export interface OutboxResult {
  readonly state: 'completed' | 'skipped';
  /** Why it was skipped, or a remark such as `plain_text`; stored as lastError. */
  readonly note?: { readonly code: string; readonly message: string };
  /** Where it went, `last` resolved. */
  readonly target?: DeliveryTarget;
  /** Set for the main session's own deliveries. */
  readonly lastTarget?: DeliveryTarget;
  readonly nowMs: number;
}

export interface OutboxDeadLetter {
  readonly error: { readonly code: string; readonly message: string };
  /** Absent where none is posted. */
  readonly summary?: SummaryEvent;
  readonly fallback?: NewDelivery;
  readonly nowMs: number;
}

export type RunState = 'queued' | 'active' | 'completed' | 'dead';
/** `forwarded`: another gateway took the turn and keeps its reply. */
export type RunOutcome = 'ok' | 'error' | 'timeout' | 'forwarded';

export interface ProcessMark {
  readonly pgid: number;
  /** Start time of the group leader as the kernel counts it (clock ticks since boot), against reused pids. */
  readonly startTicks: string;
}

export interface AttemptFailure {
  /** Stable lower_snake code, e.g. `spawn_failed`, `connection_refused`, `interrupted`. */
  readonly code: string;
  readonly message: string;
  /** When the next attempt is due. */
  readonly retryAt: number;
  /** True where the attempt does not count: the agent is away, or the service stops in good order. */
  readonly isDelayed?: boolean;
  /** True where its turn may have begun: it counts against the limits of its mapping; default false. */
  readonly hasBegun?: boolean;
  /** How the turn ended that is taken again; kept with the run (`earlier`). */
  readonly ended?: { readonly outcome: RunOutcome; readonly reply: string };
  readonly usage?: TokenUsage;
  /** Who took the turn; what was used is counted for it. */
  readonly runner?: string;
  /** The attempt of a worker that ends with it; its lease may be over. Absent where this process took the turn. */
  readonly attempt?: string | undefined;
  readonly nowMs: number;
}

/** Until when somebody may say whether a run begins, and what was said first. */
export interface Approval {
  readonly expiresAt: number;
  /** Random: what the link has beside the proof, so that senders, who know the hook token, cannot make it. */
  readonly nonce: string;
  readonly decision?: 'approved' | 'denied';
  readonly by?: ApprovalAnswer['by'];
  readonly at?: number;
}

/** What holds, and of how many runs this answer was the first. */
export interface ApprovalResult {
  readonly approval: Approval;
  readonly isFirst: boolean;
  readonly runs: number;
}

export interface ApprovalAnswer {
  readonly decision: 'approved' | 'denied';
  readonly by: 'link' | 'command' | 'console';
  readonly nowMs: number;
}

/** What is found out about work that waits for it (`startedBy`): what its sender says of the account that caused it. */
export type StartDecision =
  | { readonly kind: 'allowed' }
  /** Each of the runs ends so, or somebody is asked about the account. */
  | {
      readonly kind: 'refused';
      readonly account: string;
      readonly error: { readonly code: string; readonly message: string };
      readonly callbacks: readonly (NewCallback | undefined)[];
    }
  | { readonly kind: 'later'; readonly retryAt: number; readonly message: string };

/** What became of it; `full`: refused, as people were asked as often as they may be. */
export type StartResult = 'begun' | 'asked' | 'refused' | 'full' | 'later' | 'decided';

export interface RunRecord<Kind extends RunAction = RunAction> {
  readonly id: string;
  readonly kind: 'hook' | 'heartbeat';
  /** A notification is stored as a run that has ended: what is left of it is its delivery. */
  readonly action: Kind;
  readonly state: RunState;
  readonly outcome?: RunOutcome;
  readonly reply?: string;
  readonly attempts: number;
  /** The first line of the message is the service's; what may follow is the end of a command's stderr. */
  readonly lastError?: { readonly code: string; readonly message: string };
  readonly process?: ProcessMark;
  /** The attempt that a worker began last; absent where none did, or another one began after it. */
  readonly carried?: CarriedAttempt;
  readonly usage?: TokenUsage;
  /** How it ended each time before it was begun anew, the oldest first: at most the last ten. */
  readonly earlier?: readonly EarlierEnding[];
  /** Absent where nobody is asked. */
  readonly approval?: Approval;
  readonly acceptedAt: number;
  readonly dueAt: number;
  readonly startedAt?: number;
  readonly endedAt?: number;
  /** For a run that gathered events: how many it reads, its own among them. */
  readonly eventCount?: number;
  /** Further events in the order in which they came; listings leave them out. */
  readonly events?: readonly AgentAction[];
}

/** An attempt that a worker makes at a run. */
export interface CarriedAttempt {
  /** As it calls itself. */
  readonly worker: string;
  /** Random: who knows it may renew and end the attempt. */
  readonly attempt: string;
  /** Absent where the worker was not heard of in time; 0 where it has handed over how the attempt ended. */
  readonly until?: number;
  /** Why it is to end the attempt. */
  readonly end?: string;
  /** What its agent may do, as the worker says it. */
  readonly access?: string | undefined;
}

/** Somebody who takes runs of a runner, and when it was heard of last. */
export interface WorkerRecord {
  readonly runner: string;
  readonly name: string;
  readonly seenAt: number;
}

export interface ListedWorker extends WorkerRecord {
  /** Runs that it carries now. */
  readonly runs: number;
}

/** An end of a run that was begun anew after it. */
export interface EarlierEnding {
  readonly endedAt: number;
  readonly attempts: number;
  /** Absent where it was given up. */
  readonly outcome?: RunOutcome;
  readonly error?: { readonly code: string; readonly message: string };
  readonly reply?: string;
}

export interface TokenUsage {
  readonly inputTokens?: number;
  readonly outputTokens?: number;
  /** Money in US dollars; absent where the agent tells none. */
  readonly costUsd?: number;
  /** The agent says what its turns cost, and did not say it of this one. */
  readonly isCostUnknown?: true;
}

/** A run that an agent takes a turn for. */
export type AgentRun = RunRecord<AgentAction>;

/** `limits` and `maxRuns` of a mapping: how many of its runs may begin within an hour or for a sum, and go on at the same time. */
export interface RunLimits {
  readonly runsPerHour?: number | undefined;
  /** The limit of each conversation. */
  readonly runsPerHourAndSession?: number | undefined;
  /** A run begins while its mapping has spent less in the current day (UTC). */
  readonly usdPerDay?: number | undefined;
  /** Active at most: of all runs of the mapping, or of those with the same key. */
  readonly maxRuns?: { readonly runs: number; readonly isKeyed: boolean } | undefined;
}

/** What holds for every mapping; runs of the built-in routes have none and are not limited. */
export interface LimitRules {
  /** The limits of mappings that are not named. */
  readonly default?: RunLimits;
  /** As a whole: nothing of the default is added. */
  readonly byMapping: ReadonlyMap<string, RunLimits>;
}

export interface ClaimRunsOptions {
  readonly nowMs: number;
  readonly limit: number;
  /** Runs active at most per runner name. */
  readonly maxPerRunner?: ReadonlyMap<string, number>;
  /** How many of a mapping may begin within an hour, and go on. */
  readonly limits?: LimitRules;
  /** The name that runs without one count under. */
  readonly defaultRunner?: string;
  /** Claims for a worker, and so runs of its runner only; an attempt that is under way already is returned as it is. */
  readonly worker?: Omit<CarriedAttempt, 'end' | 'until'> & {
    readonly runner: string;
    readonly until: number;
  };
}

/** What the end of a run brings about; nothing of what is absent. */
export interface RunPosts {
  readonly summary?: SummaryEvent;
  readonly delivery?: NewDelivery;
  readonly reaction?: NewDelivery;
  readonly callback?: NewCallback;
  readonly ends?: Conversation;
}

export interface RunCompletion extends RunPosts {
  readonly runId: string;
  /** The attempt of a worker that ends with it; its lease may be over. Absent where this process took the turn. */
  readonly attempt?: string | undefined;
  readonly outcome: RunOutcome;
  readonly reply: string;
  readonly error?: { readonly code: string; readonly message: string };
  readonly usage?: TokenUsage;
  /** Who took the turn; what was used is counted for it. */
  readonly runner?: string;
  /** Turns to append to the session's history; absent for one-shot sessions. */
  readonly history?: {
    readonly conversation: Conversation;
    readonly turns: readonly SessionTurn[];
    readonly maxTurns: number;
    /** Whether the agent keeps the conversation on the disk of this service: default false. */
    readonly isOnDisk?: boolean;
  };
  readonly nowMs: number;
}

export const DROPPED = { code: 'dropped', message: 'removed from the queue by the operator' } as const;

export interface RunDeadLetter extends RunPosts {
  /** The attempt of a worker that ends with it; its lease may be over. Absent where this process took the turn. */
  readonly attempt?: string | undefined;
  readonly error: { readonly code: string; readonly message: string };
  /** What its last turn used, where it had begun, and who took it. */
  readonly usage?: TokenUsage;
  readonly runner?: string;
  readonly nowMs: number;
}

/** A heartbeat turn that completed: stored as a run of kind `heartbeat`, with the main session's own delivery. */
export interface HeartbeatResult {
  /** Absent where the events are consumed without a turn. */
  readonly run?: AgentRun;
  /** Who took the turn. */
  readonly runner?: string;
  /** Turns to append to the main session's history. */
  readonly history?: RunCompletion['history'];
  readonly delivery?: NewDelivery;
  readonly nowMs: number;
}
