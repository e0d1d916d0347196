import { codeOf, type Log } from '../../base/telemetry/telemetry.ts';
import { pause } from '../../base/timers/timers.ts';
import type { AgentRun, RunOutcome } from '../../engine/storage/storage.ts';

/**
 * The one place that decides whether work of the gateway is tried again.
 *
 * A run that started is not repeated for its own failure: an agent may have acted before it failed, and a second
 * attempt would act twice. Three things repeat it: proof that nothing ran, the end of this process, which leaves nobody
 * who knows (`retry.afterCrash`), and `retry` of its mapping, whose author says that its agent may act twice. Where nothing
 * ran because the agent is away, the attempt does not even count (`runner-holds.ts`), nor does one that an orderly stop
 * ended. Deliveries repeat on proof of non-delivery only; callbacks may always repeat, because their receivers tell
 * repeats by `webhook-id`.
 */
export interface RetryPolicy {
  readonly maxAttempts: number;
  /** Delay after the first attempt. */
  readonly baseMs: number;
  readonly factor: number;
  readonly maxMs: number;
}

/** Runs: about 2 s and 8 s between three attempts. */
export const RUN_RETRY: RetryPolicy = { maxAttempts: 3, baseMs: 2_000, factor: 4, maxMs: 60_000 };
/** Deliveries and callbacks: about 2 s, 10 s, 50 s and 4 minutes between five attempts. */
export const OUTBOX_RETRY: RetryPolicy = { maxAttempts: 5, baseMs: 2_000, factor: 5, maxMs: 600_000 };
/** Heartbeat turns: the events count their own failures and are parked after five, which takes about 15 minutes. */
export const HEARTBEAT_RETRY: RetryPolicy = { maxAttempts: 5, baseMs: 15_000, factor: 4, maxMs: 600_000 };

/** Tries of a runner that is away, for as long as `gateway.holdHours`: after about 2 s, 4 s, then up to a minute. */
export const HOLD_RETRY: RetryPolicy = { maxAttempts: Infinity, baseMs: 2_000, factor: 2, maxMs: 60_000 };

/** A `Retry-After` is honoured up to an hour, so that a wrong one cannot park work for days. */
export const MAX_RETRY_AFTER_MS = 3_600_000;

interface DelayOptions {
  readonly retryAfterMs?: number | undefined;
  readonly random: number;
}

/**
 * The delay after a failed attempt, in milliseconds; undefined where none follows, as with `final`. `attempt` is 1-based
 * and counts the one that failed.
 */
export function delayOfRepeat(
  policy: RetryPolicy,
  attempt: number,
  { final = false, ...options }: DelayOptions & { readonly final?: boolean },
): number | undefined {
  return final || attempt >= policy.maxAttempts ? undefined : repeatDelay(policy, attempt, options);
}

/** Exponential delay with jitter (between half of the step and all of it), or a longer one that was asked for. */
export function repeatDelay(
  policy: RetryPolicy,
  attempt: number,
  { retryAfterMs = 0, random }: DelayOptions,
): number {
  const stepMs = Math.min(policy.baseMs * policy.factor ** (Math.max(attempt, 1) - 1), policy.maxMs);
  const askedMs = Math.min(Math.max(retryAfterMs, 0), MAX_RETRY_AFTER_MS);
  return Math.max(Math.round(stepMs * (0.5 + random / 2)), askedMs);
}

/** Whether a run has failed in a way that its mapping wants to be tried again, and has an attempt left for that. */
export function isRetried(
  { action, attempts, state }: AgentRun,
  { outcome, error }: { readonly outcome: RunOutcome; readonly error?: { readonly code: string } },
): boolean {
  const { on = [], attempts: most = 0 } = action.retry ?? {};
  if (attempts >= most || state === 'dead') return false;
  if (outcome === 'timeout') return on.includes('timeout');
  const isExit = /^(?:exit|signal)_/.test(error?.code ?? '');
  return outcome === 'error' && on.includes(isExit ? 'exit' : 'error');
}

const PERSIST_PAUSE_MS = 250;
const MAX_PERSIST_PAUSE_MS = 5_000;

/**
 * Writes down what has already happened, however often the store refuses: a result that is not on disk would be brought
 * about a second time. Reads that decide about it are tried again likewise. Gives up only when the service stops; the
 * next start then finds the work as it was.
 */
export async function persist<T>(
  { log }: { readonly log: Pick<Log, 'error'> },
  { what, signal }: { readonly what: string; readonly signal: AbortSignal },
  write: () => Promise<T>,
): Promise<T> {
  for (let pauseMs = PERSIST_PAUSE_MS; ; pauseMs = Math.min(pauseMs * 2, MAX_PERSIST_PAUSE_MS)) {
    try {
      return await write();
    } catch (error) {
      log.error({ what, code: codeOf(error) }, 'the store refused; trying again');
      if (signal.aborted) throw error;
      await pause(pauseMs, signal);
    }
  }
}
