import { LAST_CHANNEL } from '../../base/action.ts';
import type { Settings } from '../../engine/config/config.ts';
import { defined } from '../../base/json.ts';
import type { NewDelivery, RunCompletion, AgentRun } from '../../engine/storage/storage.ts';
import { type CompletedTurn, isAcknowledgement } from '../runners/runners.ts';
import { targetOf } from './run-turn.ts';
import { summaryPart } from './summary.ts';
import { makePosts, type RunEnding } from './run-ending.ts';

/** Everything the end of a run brings about, for one transaction: outcome, history, summary, delivery, callback. */
export function makeCompletion(
  run: AgentRun,
  {
    result,
    ending,
    nowMs,
  }: { readonly result: CompletedTurn; readonly ending: RunEnding; readonly nowMs: number },
  settings: Pick<Settings, 'gateway' | 'agents' | 'channels'>,
): RunCompletion {
  const wanted = deliveryOf(run, result, settings.channels);
  const passedOn = wanted === undefined ? undefined : passedOnTo(run, result, settings);
  const delivery = passedOn === undefined ? wanted : undefined;
  return {
    runId: run.id,
    outcome: result.outcome,
    reply: result.reply,
    runner: targetOf(run.action, settings).runner,
    ...defined({ error: result.error, usage: result.usage, delivery }),
    ...makePosts(run.action, ending, nowMs),
    ...historyOf(run, result, { gateway: settings.gateway, nowMs }),
    ...summaryPart(
      run,
      passedOn !== undefined ? passedOnAs(run) : result.outcome === 'forwarded' ? 'ok' : result.outcome,
      {
        text: result.reply.trim() === '' && result.remark !== undefined ? result.remark : summaryBody(ending),
        note:
          passedOn === undefined
            ? [noteOf(delivery, settings) ?? [], result.note ?? []].flat().join('; ')
            : passedOnNote(run, passedOn),
      },
    ),
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

/**
 * The channel whose reply is left to the main session of an OpenClaw gateway, as it is not set up here: the summary has
 * the reply. Without a summary the reply goes where `last` leads here, and to another channel it fails.
 */
function passedOnTo(
  { action }: AgentRun,
  { lastRoute }: CompletedTurn,
  { channels, gateway }: Pick<Settings, 'channels' | 'gateway'>,
): string | undefined {
  const isOfGateway = gateway.runners[action.runner ?? gateway.runner]?.kind === 'openclaw';
  const named = isOfGateway && action.fallback === undefined ? action.channel : undefined;
  const channel = action.channel === LAST_CHANNEL ? lastRoute?.channel : named;
  const isSent = channel === undefined || Object.hasOwn(channels, channel);
  return isSent || action.summary === 'never' ? undefined : channel;
}

/** A summary of failures only also gets such a reply, as nobody else would see it. */
const passedOnAs = ({ action: { summary } }: AgentRun): 'ok' | 'delivery failed' =>
  summary === 'failures' ? 'delivery failed' : 'ok';

const passedOnNote = ({ action }: AgentRun, channel: string): string =>
  `not sent: ${action.channel === LAST_CHANNEL ? 'the last channel is' : 'its channel is'} ${channel}, which is not set up in Sluice; pass it on there`;

/** The delivery that a completed run asks for, where its reply is more than an acknowledgement. */
function deliveryOf(
  { action }: AgentRun,
  { outcome, reply, lastRoute }: CompletedTurn,
  channels: Settings['channels'],
): NewDelivery | undefined {
  if (!action.deliver || outcome !== 'ok' || reply.trim() === '' || isAcknowledgement(reply))
    return undefined;
  const isAsked = lastRoute !== undefined && Object.hasOwn(channels, lastRoute.channel);
  const { isAutomatic, traceparent } = action.origin;
  const last = isAsked && action.channel === LAST_CHANNEL ? lastRoute : undefined;
  return {
    channel: last?.channel ?? action.channel,
    ...defined({ to: action.to ?? last?.to, fallback: action.fallback, isAutomatic, traceparent }),
    ...(action.channel !== LAST_CHANNEL && defined({ thread: action.thread })),
    text: reply,
    fromMain: false,
  };
}

/** A conversation goes on with what was answered; a failed turn leaves nothing to go on with. */
function historyOf(
  { action, startedAt }: AgentRun,
  { outcome, reply }: CompletedTurn,
  { gateway, nowMs }: { readonly gateway: Settings['gateway']; readonly nowMs: number },
): Pick<RunCompletion, 'history'> {
  if (action.oneShot || outcome !== 'ok') return {};
  const turns = [
    { role: 'user', text: action.prompt, at: startedAt ?? nowMs },
    { role: 'assistant', text: reply, at: nowMs },
  ] as const;
  const conversation = { owner: action.owner, key: action.sessionKey };
  const isOnDisk = gateway.runners[action.runner ?? gateway.runner]?.kind === 'agent';
  const { maxTurns } = gateway.sessions;
  return { history: { conversation, turns, maxTurns, ...(isOnDisk && { isOnDisk }) } };
}

function summaryBody({ reply, error }: RunEnding): string {
  if (error === undefined) return reply;
  const problem = `${error.code}: ${error.message}`;
  return reply.trim() === '' ? problem : `${problem}\n${reply}`;
}
