import { defined } from '../../base/json.ts';
import type { AgentAction } from '../../base/action.ts';
import type { RunnerSettings } from '../../engine/config/config.ts';
import type { Runner, Turn } from '../runners/runners.ts';
import type { AgentRun, Storage } from '../../engine/storage/storage.ts';
import type { GatewayConfiguration } from './gateway-base.ts';
import { boundHistory } from './history.ts';
import type { RunTarget } from './runner-holds.ts';
import { sessionIdOf } from './session-id.ts';

type RunSettings = GatewayConfiguration['settings'];

/** The turn of a run; it goes on with the conversation of its session, where the runner reads that. */
export async function makeRunTurn(
  run: AgentRun,
  { isForgetful = false }: Runner,
  {
    settings,
    storage,
  }: { readonly settings: RunSettings; readonly storage: Pick<Storage, 'findConversation'> },
): Promise<Turn> {
  const { owner, oneShot, sessionKey } = run.action;
  const conversation = { owner, key: sessionKey };
  const { turns, hasKeyOnlyId } =
    oneShot || isForgetful
      ? { turns: [], hasKeyOnlyId: false }
      : await storage.findConversation(conversation);
  return {
    ...turnOf(run, settings),
    sessionId: sessionIdOf(conversation, { fromKeyOnly: hasKeyOnlyId }),
    history: boundHistory(turns, settings.gateway.sessions),
  };
}

/** What the run alone says of its turn. */
function turnOf(
  { id, attempts, action, earlier = [] }: AgentRun,
  settings: RunSettings,
): Omit<Turn, 'sessionId' | 'history'> {
  const { oneShot, sessionKey, name, prompt, message, timeoutSeconds } = action;
  const { defaults } = settings.agents;
  return {
    runId: id,
    kind: 'hook',
    attempt: attempts,
    ...defined({ endedBeforeAt: earlier.at(-1)?.endedAt }),
    sessionKey,
    name,
    prompt,
    message,
    ...turnOptions(action, settings),
    isOneShot: oneShot,
    timeoutSeconds: Math.min(timeoutSeconds ?? defaults.timeoutSeconds, defaults.maxTimeoutSeconds),
  };
}

/** What the action asks of its turn, or the settings ask for it. */
function turnOptions(
  action: AgentAction,
  settings: RunSettings,
): Pick<Turn, 'model' | 'thinking' | 'cwd' | 'traceparent' | 'deliverTo'> {
  const { channel, to, thinking } = action;
  const { traceparent } = action.origin;
  const { model } = targetOf(action, settings);
  const cwd = action.cwd === undefined ? undefined : settings.gateway.workFolders[action.cwd];
  return {
    ...defined({ model, thinking, cwd, traceparent }),
    ...(action.deliver ? { deliverTo: { channel, ...defined({ to }) } } : {}),
  };
}

/** What a run is performed by: its own runner and model, or the configured ones. */
export function targetOf(
  { runner, model }: Pick<AgentAction, 'runner' | 'model'>,
  { gateway, agents }: RunSettings,
): RunTarget {
  const name = runner ?? gateway.runner;
  return { runner: name, model: model ?? defaultModelOf(gateway.runners[name], agents.defaults.model) };
}

/** A runner's own model comes first; a coding agent has one of its own and gets no other runner's. */
export function defaultModelOf(
  runner: RunnerSettings | undefined,
  standard: string | undefined,
): string | undefined {
  if (runner === undefined) return standard;
  switch (runner.kind) {
    case 'agent':
      return runner.model;
    case 'command':
    case 'model':
      return runner.model ?? standard;
    case 'echo':
    case 'forward':
    case 'openclaw':
      return standard;
  }
}
