import type { AgentAction } from '../../base/action.ts';
import type { GatewaySettings, Settings } from '../../engine/config/config.ts';
import { HEARTBEAT_OK, type Turn, type TurnResult } from '../runners/runners.ts';
import { shownError } from './summary.ts';
import type { GatewayConfiguration } from './gateway-base.ts';
import type { RunTarget } from './runner-holds.ts';
import type { AgentRun, EventClaim, HeartbeatResult } from '../../engine/storage/storage.ts';

/** The main session's key; a hook's own keys can never be this one. */
export const MAIN_CONVERSATION = { owner: 'main', key: 'main' } as const;

interface TakenTurn {
  readonly turn: Turn;
  readonly result: Extract<TurnResult, { readonly kind: 'completed' }>;
  readonly startedAt: number;
  readonly nowMs: number;
}

/** What is stored of a turn of the main session that went well: a run of kind heartbeat, and the conversation. */
export function makeHeartbeatResult(
  taken: TakenTurn,
  { heartbeat, sessions, runner }: Pick<GatewaySettings, 'heartbeat' | 'sessions' | 'runner'>,
): HeartbeatResult {
  return {
    run: runOf(taken, heartbeat.runner),
    runner: heartbeat.runner ?? runner,
    history: historyOf(taken, sessions.maxTurns),
    nowMs: taken.nowMs,
  };
}

function historyOf(
  { turn, result: { reply }, startedAt, nowMs }: TakenTurn,
  maxTurns: number,
): NonNullable<HeartbeatResult['history']> {
  const turns = [
    { role: 'user', text: turn.prompt, at: startedAt },
    { role: 'assistant', text: reply.trim() === '' ? HEARTBEAT_OK : reply, at: nowMs },
  ] as const;
  return { conversation: MAIN_CONVERSATION, turns, maxTurns };
}

function runOf({ turn, result, startedAt, nowMs }: TakenTurn, runner: string | undefined): AgentRun {
  const { reply, usage } = result;
  return {
    id: turn.runId,
    kind: 'heartbeat',
    action: mainAction(turn, runner),
    state: 'completed',
    outcome: 'ok',
    reply,
    attempts: turn.attempt,
    ...(usage === undefined ? {} : { usage }),
    acceptedAt: startedAt,
    dueAt: startedAt,
    startedAt,
    endedAt: nowMs,
  };
}

/** A turn of the main session as the listing of runs shows it. */
function mainAction(turn: Turn, runner: string | undefined): AgentAction {
  return {
    kind: 'agent',
    id: turn.runId,
    prompt: turn.prompt,
    message: turn.message,
    name: turn.name,
    sessionKey: turn.sessionKey,
    owner: 'main',
    oneShot: false,
    wakeMode: 'next-heartbeat',
    deliver: true,
    channel: 'last',
    ...(turn.model === undefined ? {} : { model: turn.model }),
    timeoutSeconds: turn.timeoutSeconds,
    ...(runner === undefined ? {} : { runner }),
    origin: { requestId: turn.runId, path: 'heartbeat', trusted: false },
  };
}

/** The events a turn is taken for: a forward runner passes on what hooks said, not what became of runs. */
export function heardEvents(
  { events }: EventClaim,
  { heartbeat, runner, runners }: Settings['gateway'],
): EventClaim['events'] {
  const used = runners[heartbeat.runner ?? runner];
  const isQuiet = used?.kind === 'forward' && !used.forwardSummaries;
  return isQuiet ? events.filter(({ kind }) => kind !== 'summary') : events;
}

export function reasonOf(result: TurnResult): string | undefined {
  const error = result.kind === 'completed' ? result.error : result;
  return error === undefined ? undefined : shownError(error).message;
}

export function codeOfResult(result: TurnResult): string {
  return result.kind === 'completed' ? (result.error?.code ?? result.outcome) : result.code;
}

/** What performs a turn of the main session. */
export function targetOfTurn({ model }: Turn, { gateway }: GatewayConfiguration['settings']): RunTarget {
  return { runner: gateway.heartbeat.runner ?? gateway.runner, model };
}
