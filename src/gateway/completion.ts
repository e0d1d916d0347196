import { LAST_CHANNEL } from '../action.ts';
import type { Settings } from '../config/config.ts';
import type { NewDelivery, RunCompletion, AgentRun } from '../storage/storage.ts';
import { isAcknowledgement, type TurnResult } from '../runners/runners.ts';
import { summaryPart } from './summary.ts';
import { makeCallback, type RunEnding } from './run-ending.ts';

type Completed = Extract<TurnResult, { readonly kind: 'completed' }>;

export interface CompletedTurn {
  readonly result: Completed;
  readonly ending: RunEnding;
  readonly nowMs: number;
}

/** Everything the end of a run brings about, for one transaction: outcome, history, summary, delivery, callback. */
export function makeCompletion(
  run: AgentRun,
  { result, ending, nowMs }: CompletedTurn,
  settings: Pick<Settings, 'gateway' | 'channels'>,
): RunCompletion {
  const delivery = deliveryOf(run, result);
  const callback = makeCallback(run.action, ending, nowMs);
  return {
    runId: run.id,
    outcome: result.outcome,
    reply: result.reply,
    ...(result.error === undefined ? {} : { error: result.error }),
    ...(result.usage === undefined ? {} : { usage: result.usage }),
    ...historyOf(run, result, { maxTurns: settings.gateway.sessions.maxTurns, nowMs }),
    ...summaryPart(run, result.outcome === 'forwarded' ? 'ok' : result.outcome, {
      text: result.reply.trim() === '' && result.remark !== undefined ? result.remark : summaryBody(ending),
      note: noteOf(delivery, settings),
    }),
    ...(delivery === undefined ? {} : { delivery }),
    ...(callback === undefined ? {} : { callback }),
    nowMs,
  };
}

/** What the main session is to know of the reply: it would otherwise pass on what has been sent. */
function noteOf(
  delivery: NewDelivery | undefined,
  { channels }: Pick<Settings, 'channels'>,
): string | undefined {
  if (delivery === undefined) return undefined;
  if (Object.keys(channels).length === 0) return 'not delivered: no channel is configured';
  const where = delivery.channel === LAST_CHANNEL ? 'the last channel' : delivery.channel;
  return `its reply is sent to ${where}: nothing is left to do`;
}

/** The delivery a completed run asks for: of a reply that is more than an acknowledgement. */
function deliveryOf({ action }: AgentRun, { outcome, reply }: Completed): NewDelivery | undefined {
  if (!action.deliver || outcome !== 'ok' || reply.trim() === '' || isAcknowledgement(reply))
    return undefined;
  return {
    channel: action.channel,
    ...(action.to === undefined ? {} : { to: action.to }),
    ...(action.fallback === undefined ? {} : { fallback: action.fallback }),
    text: reply,
    fromMain: false,
  };
}

/** A conversation goes on with what was answered; a failed turn leaves nothing to go on with. */
function historyOf(
  { action, startedAt }: AgentRun,
  { outcome, reply }: Completed,
  { maxTurns, nowMs }: { readonly maxTurns: number; readonly nowMs: number },
): Pick<RunCompletion, 'history'> {
  if (action.oneShot || outcome !== 'ok') return {};
  const turns = [
    { role: 'user', text: action.prompt, at: startedAt ?? nowMs },
    { role: 'assistant', text: reply, at: nowMs },
  ] as const;
  const conversation = { owner: action.owner, key: action.sessionKey };
  return { history: { conversation, turns, maxTurns } };
}

function summaryBody({ reply, error }: RunEnding): string {
  if (error === undefined) return reply;
  const problem = `${error.code}: ${error.message}`;
  return reply.trim() === '' ? problem : `${problem}\n${reply}`;
}
