import type { DeliveryTarget, SafeText } from '../../base/action.ts';
import { defined } from '../../base/json.ts';
import type { ProcessMark, SessionTurn, TokenUsage } from '../../engine/storage/storage.ts';

/** One turn of a session, ready to be run. */
export interface Turn {
  /** The id of the run, or the turn id of a heartbeat, which stays the same when it is repeated. */
  readonly runId: string;
  /** A hook's agent turn, or a turn of the main session. */
  readonly kind: 'hook' | 'heartbeat';
  /** 1-based. */
  readonly attempt: number;
  /** When the run ended last before `queue retry` began it anew; absent where it had not ended. */
  readonly endedBeforeAt?: number;
  readonly sessionKey: string;
  /** A UUID that is always the same for a conversation, for agents that name sessions by UUID. */
  readonly sessionId: string;
  readonly name: string;
  readonly prompt: SafeText;
  /** The message before the boundary, raw: for runners that hand over to someone who draws the boundary again. */
  readonly message: string;
  readonly model?: string;
  readonly thinking?: string;
  readonly timeoutSeconds: number;
  /** The folder to work in, absolute, in place of the runner's; only what the configuration lists. */
  readonly cwd?: string;
  /** True where nobody chose the session key: the conversation ends with this turn, and nothing of it is kept. */
  readonly isOneShot?: boolean;
  /** Earlier turns of the session, oldest first; empty for a new one. */
  readonly history: readonly SessionTurn[];
  /** The trace of the request (W3C `traceparent`), for runners that pass it on. */
  readonly traceparent?: string;
  /** The line by which what its agent opens is known to be of its conversation; absent where it may add no keys. */
  readonly mark?: string;
  /** Where its agent adds keys to its conversation; absent where it may add none, or works on another machine. */
  readonly keysAt?: { readonly url: string; readonly token: string };
  /** Where the reply is to go, for a runner whose reply stays elsewhere; absent where it is not delivered. */
  readonly deliverTo?: { readonly channel: string; readonly to?: string };
}

/** What became of a turn. A runner never rejects. */
export type TurnResult =
  | {
      readonly kind: 'completed';
      /** `forwarded`: another gateway took the turn and keeps its reply. */
      readonly outcome: 'ok' | 'error' | 'timeout' | 'forwarded';
      readonly reply: string;
      /** Set where the outcome is not ok. */
      readonly error?: { readonly code: string; readonly message: string };
      readonly usage?: TokenUsage;
      /** What the summary says where there is no reply. */
      readonly remark?: string;
      /** Where `last` leads for a reply that is sent from here; absent where the runner does not know it. */
      readonly lastRoute?: DeliveryTarget;
      /** What the operator and the main session should know of the turn. */
      readonly note?: string;
    }
  /** Nothing ran (spawn error, connection refused, 429, 503), so the turn may be repeated. */
  | {
      readonly kind: 'not-started';
      readonly code: string;
      readonly message: string;
      readonly retryAfterMs?: number;
      /** True where repeating cannot help, e.g. `not_configured`. */
      readonly final: boolean;
      /**
       * Which other runs would fail now: every run of this runner (nothing listens, the command is missing), or those
       * that ask for the same model (429, 503). These wait. Absent where only this run is concerned.
       */
      readonly affects?: 'runner' | 'model';
    };

export type CompletedTurn = Extract<TurnResult, { readonly kind: 'completed' }>;

/** The result of a turn that was taken and went wrong. */
export function failedTurn(
  code: string,
  message: string,
  outcome: 'error' | 'timeout' = 'error',
): CompletedTurn {
  return { kind: 'completed', outcome, reply: '', error: { code, message } };
}

type UnstartedTurn = Extract<TurnResult, { readonly kind: 'not-started' }>;

/** The result of a turn of which nothing ran; it may be repeated, unless it is `final`. */
export function notStarted(
  code: string,
  message: string,
  {
    final = false,
    ...more
  }: Partial<Pick<UnstartedTurn, 'final' | 'affects'>> & { readonly retryAfterMs?: number | undefined } = {},
): UnstartedTurn {
  return { kind: 'not-started', code, message, final, ...defined(more) };
}

/** Something that can take a turn: a command, a model, another gateway, or the echo. */
export interface Runner {
  readonly kind: string;
  /** True where the runner reads neither `sessionId` nor `history`, so that a hook's turn gets none; default false. */
  readonly isForgetful?: boolean;
  /**
   * Runs one turn to its end, within `turn.timeoutSeconds`. An abort means the service stops: the turn is ended and
   * the result is ignored. `onProcess` is awaited right after a process was started.
   */
  run(turn: Turn, options: RunnerOptions): Promise<TurnResult>;
}

export interface RunnerOptions {
  readonly signal: AbortSignal;
  /** Rejects where the turn must not begin. */
  onProcess(process: ProcessMark): Promise<void>;
}
