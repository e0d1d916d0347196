import type { AgentAction, RunAction } from '../../base/action.ts';
import type { LimitRules } from './limit-records.ts';
import type { SummaryEvent } from './event-records.ts';
import type { NewCallback, NewDelivery } from './outbox-records.ts';
import type { Conversation, SessionTurn } from './session-records.ts';

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
  readonly isHeld?: boolean;
  /** True where its turn may have begun: it counts against the limits of its mapping; default false. */
  readonly hasBegun?: boolean;
  /** Of a turn that ended and is taken again: how, which is kept with the run (`earlier`). */
  readonly ended?: { readonly outcome: RunOutcome; readonly reply: string };
  readonly usage?: TokenUsage;
  /** Who took the turn; what was used is counted for it. */
  readonly runner?: string;
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
export interface Decided {
  readonly approval: Approval;
  readonly isFirst: boolean;
  readonly runs: number;
}

export interface ApprovalAnswer {
  readonly decision: 'approved' | 'denied';
  readonly by: 'link' | 'command' | 'console';
  readonly nowMs: number;
}

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
  readonly usage?: TokenUsage;
  /** How it ended each time before it was begun anew, the oldest first: at most the last ten. */
  readonly earlier?: readonly EarlierEnding[];
  /** Absent where nobody is asked. */
  readonly approval?: Approval;
  readonly acceptedAt: number;
  readonly dueAt: number;
  readonly startedAt?: number;
  readonly endedAt?: number;
  /** Of a run that gathered events: how many it reads, its own among them. */
  readonly eventCount?: number;
  /** Its further events in the order in which they came; listings leave them out. */
  readonly events?: readonly AgentAction[];
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

export interface ClaimRunsOptions {
  readonly nowMs: number;
  readonly limit: number;
  /** Runs active at most per runner name. */
  readonly maxPerRunner?: ReadonlyMap<string, number>;
  /** How many of a mapping may begin within an hour, and go on. */
  readonly limits?: LimitRules;
  /** The name that runs without one count under. */
  readonly defaultRunner?: string;
}

export interface RunCompletion {
  readonly runId: string;
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
  /** Absent where none is posted. */
  readonly summary?: SummaryEvent;
  readonly delivery?: NewDelivery;
  readonly callback?: NewCallback;
  readonly nowMs: number;
}

/** The error of work that an operator dropped. */
export const DROPPED = { code: 'dropped', message: 'removed from the queue by the operator' } as const;

/** What dropping a run posts. */
export interface DropEnding {
  /** Absent where none is posted. */
  readonly summary?: SummaryEvent;
  readonly callback?: NewCallback;
}

export interface RunDeadLetter {
  readonly error: { readonly code: string; readonly message: string };
  /** Absent where none is posted. */
  readonly summary?: SummaryEvent;
  readonly callback?: NewCallback;
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
