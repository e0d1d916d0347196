import type { DeliveryTarget } from '../action.ts';
import type { Settings } from '../config/config.ts';
import type { OutboxRecord, RunRecord, Storage, SummaryEvent } from '../storage/storage.ts';
import type { Log } from '../telemetry/telemetry.ts';
import { cutText, summaryText, type SummaryOutcome } from '../boundary/boundary.ts';
import type { ChannelLookup } from './channel.ts';
import type { RetryPolicy } from './retry.ts';
import type { Runner } from './runner.ts';
import { pause } from './timer.ts';

/** What a reload replaces as a whole; work under way ends with what it began with. */
export interface GatewayConfiguration {
  readonly settings: Pick<Settings, 'gateway' | 'agents' | 'channels'>;
  /** By name, as in `gateway.runners`. */
  readonly runners: ReadonlyMap<string, Runner>;
  readonly channels: ChannelLookup;
}

/** The policies of `retry.ts`, or others for tests. */
export interface RetryPolicies {
  readonly runs: RetryPolicy;
  readonly outbox: RetryPolicy;
  readonly heartbeat: RetryPolicy;
}

/** What the parts of the gateway share. */
export interface GatewayParts {
  readonly storage: Storage;
  readonly log: Pick<Log, 'info' | 'warn' | 'error'>;
  /** The scheduling clock: milliseconds since the epoch that never go back. */
  readonly now: () => number;
  /** A number in [0, 1). */
  readonly random: () => number;
  /** A fresh unguessable id. */
  readonly nonce: () => string;
  readonly retry: RetryPolicies;
  readonly configuration: () => GatewayConfiguration;
  /** Something may be due: look again soon. */
  readonly wake: () => void;
}

const MAX_SUMMARY_CHARS = 2_000;

/** The summary a run leaves in the main session. A note stands after the text and is never cut off. */
export function makeSummary(
  run: RunRecord,
  outcome: SummaryOutcome,
  { text, note }: { readonly text: string; readonly note?: string | undefined },
): SummaryEvent {
  const body = text.trim() === '' ? 'no reply' : text.trim();
  const suffix = note === undefined ? '' : ` (${note})`;
  return {
    text: summaryText(run.action.name, outcome, cutText(body, MAX_SUMMARY_CHARS - suffix.length) + suffix),
    origin: run.action.origin,
    requestHeartbeat: run.action.wakeMode === 'now',
  };
}

/** The line a delivery or callback leaves when it is given up. */
export function makeFailureSummary(
  entry: OutboxRecord,
  run: RunRecord | undefined,
  {
    error,
    fallback,
  }: {
    readonly error: { readonly code: string; readonly message: string };
    readonly fallback: DeliveryTarget | undefined;
  },
): SummaryEvent {
  const text = `${error.code}: ${error.message}`;
  const note = fallback === undefined ? undefined : `sent on to ${fallback.channel}`;
  const outcome = entry.kind === 'callback' ? 'callback failed' : 'delivery failed';
  if (run !== undefined) return makeSummary(run, outcome, { text, note });
  // The run has been pruned: who sent it is no longer known.
  return {
    text: `Hook (${outcome}): ${text}`,
    origin: { requestId: entry.runId, path: 'unknown', trusted: false },
    requestHeartbeat: false,
  };
}

/**
 * An error as it may leave the run's record, for summaries, callbacks and waiting senders: its first line. What follows
 * are the command's own words (the end of stderr), which may hold anything.
 */
export function shownError({ code, message }: { readonly code: string; readonly message: string }): {
  readonly code: string;
  readonly message: string;
} {
  return { code, message: message.split('\n', 1)[0] ?? '' };
}

/** A stable code for an error nobody expected; its message may quote anything and stays out of the log. */
export function codeOf(error: unknown): string {
  if (!(error instanceof Error)) return 'unknown';
  return 'code' in error ? String(error.code) : error.name;
}

/** Between two tries. */
const PERSIST_PAUSE_MS = 250;
const MAX_PERSIST_PAUSE_MS = 5_000;

/**
 * Writes down what has already happened, however often the store refuses: a result that is not on disk would be
 * brought about a second time. Reads that decide about it are tried again likewise. Gives up only when the service stops; recovery then finds the work as it was.
 */
export async function persist<T>(
  parts: Pick<GatewayParts, 'log'>,
  { what, signal }: { readonly what: string; readonly signal: AbortSignal },
  write: () => Promise<T>,
): Promise<T> {
  for (let pauseMs = PERSIST_PAUSE_MS; ; pauseMs = Math.min(pauseMs * 2, MAX_PERSIST_PAUSE_MS)) {
    try {
      return await write();
    } catch (error) {
      parts.log.error({ what, code: codeOf(error) }, 'the store refused; trying again');
      if (signal.aborted) throw error;
      await pause(pauseMs, signal);
    }
  }
}
