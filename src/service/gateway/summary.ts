import { DEFAULT_HOOK_NAME, type DeliveryTarget } from '../../base/action.ts';
import { cutText, summaryText, type SummaryOutcome } from '../../base/boundary/boundary.ts';
import type { TurnResult } from '../runners/runners.ts';
import type { AlertSubject } from './alerts.ts';
import type { OutboxRecord, RunRecord, SummaryEvent } from '../../engine/storage/storage.ts';

const MAX_SUMMARY_CHARS = 2_000;

/**
 * The summary a run leaves in the main session, as a part of what is stored; empty where the run posts none, as its
 * mapping or `hooks.defaults` says. A note stands after the text and is never cut off.
 */
export function summaryPart(
  { action }: RunRecord,
  outcome: SummaryOutcome,
  { text, note }: { readonly text: string; readonly note?: string | undefined },
): { readonly summary?: SummaryEvent } {
  const isWanted = action.summary !== 'never' && (action.summary !== 'failures' || outcome !== 'ok');
  if (!isWanted) return {};
  const { origin, wakeMode } = action;
  // A run without a name of its own is called by its mapping: "Hook Hook" would say nothing.
  const name = action.name === DEFAULT_HOOK_NAME ? (origin.mappingId ?? action.name) : action.name;
  const body = text.trim() === '' ? 'no reply' : text.trim();
  const suffix = note === undefined || note === '' ? '' : ` (${note})`;
  const summary: SummaryEvent = {
    text: summaryText(name, outcome, cutText(body, MAX_SUMMARY_CHARS - suffix.length) + suffix),
    origin: outcome === 'ok' ? origin : { ...origin, isFailure: true },
    requestHeartbeat: wakeMode === 'now',
  };
  return { summary };
}

interface DeliveryEnd {
  readonly error: { readonly code: string; readonly message: string };
  readonly fallback: DeliveryTarget | undefined;
}

/** The line a delivery or callback leaves when it is given up. */
export function makeFailureSummary(
  entry: OutboxRecord,
  run: RunRecord | undefined,
  { error, fallback }: DeliveryEnd,
): { readonly summary?: SummaryEvent } {
  const text = `${error.code}: ${error.message}`;
  const note = fallback === undefined ? undefined : `sent on to ${fallback.channel}`;
  const outcome = entry.kind === 'callback' ? 'callback failed' : 'delivery failed';
  if (run !== undefined) return summaryPart(run, outcome, { text, note });
  // The run has been pruned, so its sender is no longer known.
  return {
    summary: {
      text: `Hook (${outcome}): ${text}`,
      origin: { requestId: entry.runId, path: 'unknown', trusted: false, isFailure: true },
      requestHeartbeat: false,
    },
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

/** Why nobody sees the reply. */
function noteOn(reply: string, canReply: boolean): string {
  if (reply.trim() === '') return '; its reply is empty';
  return canReply ? '' : '; its reply is stored, as no channel is configured';
}

/** What the log and the alerts say of a turn. */
export function reportOf(
  result: TurnResult,
  canReply: boolean,
): {
  readonly what: string;
  readonly isWell: boolean;
  readonly said: string;
  readonly code: string | undefined;
  readonly reason: string | undefined;
} {
  const error = result.kind === 'completed' ? result.error : result;
  const shown = error === undefined ? undefined : shownError(error);
  const why = { code: shown?.code, reason: shown?.message };
  if (result.kind === 'not-started')
    return { what: result.kind, isWell: false, said: 'run not started', ...why };
  const isWell = result.outcome === 'ok' || result.outcome === 'forwarded';
  const performed = `run performed${result.outcome === 'ok' ? noteOn(result.reply, canReply) : ''}`;
  return { what: result.outcome, isWell, said: isWell ? performed : 'run failed', ...why };
}

export function subjectsOf(runner: string, mappingId: string | undefined): readonly AlertSubject[] {
  const subject = { kind: 'runner', name: runner } as const;
  return mappingId === undefined ? [subject] : [subject, { kind: 'mapping', name: mappingId }];
}
