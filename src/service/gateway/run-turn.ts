import { hash } from 'node:crypto';
import { buildGatheredPrompt, neutraliseReply, withMark } from '../../base/boundary/boundary.ts';
import { defined } from '../../base/json.ts';
import type { AgentAction } from '../../base/action.ts';
import { toUuid } from '../../base/uuid.ts';
import type { GatewaySettings, RunnerSettings } from '../../engine/config/config.ts';
import {
  failedTurn,
  notStarted,
  type Runner,
  type RunnerOptions,
  type Turn,
  type TurnResult,
} from '../runners/runners.ts';
import type { AgentRun, Conversation, SessionTurn, Storage } from '../../engine/storage/storage.ts';
import { codeOf } from '../../base/telemetry/telemetry.ts';
import { deriveSignal, within } from '../../base/timers/timers.ts';
import type { GatewayConfiguration } from './gateway-base.ts';
import type { RunTarget } from './runner-holds.ts';

type RunSettings = GatewayConfiguration['settings'];

/** The run with the events that joined it in its prompt, in the order in which they came. */
export function withJoinedEvents(run: AgentRun): AgentRun {
  const { action, events = [] } = run;
  const { debounce, origin } = action;
  const newest = events.at(-1);
  if (newest === undefined || debounce === undefined) return run;
  if (newest.debounce?.keep === 'latest') {
    const { message, prompt } = newest;
    return { ...run, action: { ...action, message, prompt, origin: newest.origin } };
  }
  const messages = [action, ...events].map(({ message }) => message);
  const { nonce, instructions } = debounce;
  const prompt = buildGatheredPrompt({ messages, origin, nonce, ...defined({ instructions }) });
  return { ...run, action: { ...action, message: messages.join('\n\n'), prompt } };
}

/** The turn of a run, with the conversation of its session where the runner reads that. */
export async function makeRunTurn(
  run: AgentRun,
  { isForgetful = false }: Runner,
  {
    settings,
    storage,
    keysUrl: knownUrl,
  }: {
    readonly settings: RunSettings;
    readonly storage: Pick<Storage, 'findConversation' | 'findAgentAccess'>;
    /** Where its agent adds keys to its conversation; absent where it works on another machine. */
    readonly keysUrl?: Promise<string | undefined>;
  },
): Promise<Turn> {
  const { owner, oneShot, sessionKey, conversation: wish } = run.action;
  const conversation = { owner, key: sessionKey };
  const { turns, hasKeyOnlyId } =
    oneShot || isForgetful
      ? { turns: [], hasKeyOnlyId: false }
      : await storage.findConversation(conversation);
  const access = wish?.agentKeys === undefined ? null : await storage.findAgentAccess(run.id);
  const keysUrl = access === null ? undefined : await knownUrl;
  const turn = turnOf(run, settings);
  return {
    ...turn,
    ...(access && { mark: access.mark }),
    ...(access && wish?.mark === true && { prompt: withMark(turn.prompt, access.mark) }),
    ...(access && keysUrl !== undefined && { keysAt: { url: keysUrl, token: access.token } }),
    sessionId: sessionIdOf(conversation, { fromKeyOnly: hasKeyOnlyId }),
    history: boundHistory(turns, settings.gateway.sessions),
  };
}

/** The turn without its conversation. */
function turnOf(
  { id, attempts, action, earlier = [] }: AgentRun,
  settings: RunSettings,
): Omit<Turn, 'sessionId' | 'history'> {
  const { oneShot, sessionKey, name, prompt, message, channel, to, thinking } = action;
  const { traceparent } = action.origin;
  const { model } = targetOf(action, settings);
  const cwd = action.cwd === undefined ? undefined : settings.gateway.workFolders[action.cwd];
  return {
    runId: id,
    kind: 'hook',
    attempt: attempts,
    ...defined({ endedBeforeAt: earlier.at(-1)?.endedAt }),
    sessionKey,
    name,
    prompt,
    message,
    ...defined({ model, thinking, cwd, traceparent }),
    ...(action.deliver && { deliverTo: { channel, ...defined({ to }) } }),
    isOneShot: oneShot,
    timeoutSeconds: timeoutOf(action, settings),
  };
}

/** The longest that a turn of a run may take, in seconds. */
export function timeoutOf({ timeoutSeconds }: AgentAction, { agents: { defaults } }: RunSettings): number {
  return Math.min(timeoutSeconds ?? defaults.timeoutSeconds, defaults.maxTimeoutSeconds);
}

/** The runner and model of a run: its own, or the configured ones. */
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
    case 'worker':
      return undefined;
  }
}

/** A runner that does not answer even this long after its turn's deadline is given up. */
const RUNNER_OVERTIME_MS = 30_000;

/**
 * Takes one turn. A runner promises to keep its deadline and never to reject; one that breaks its word has started
 * the turn all the same, so the turn is over, and the runner is asked to stop.
 */
export async function takeTurn(runner: Runner, turn: Turn, options: RunnerOptions): Promise<TurnResult> {
  // With a signal of its own, listeners that a runner adds go with the turn.
  using derived = deriveSignal(options.signal);
  try {
    const running = runner.run(turn, { ...options, signal: derived.signal });
    const result = await within(running, turn.timeoutSeconds * 1000 + RUNNER_OVERTIME_MS);
    if (result !== undefined) return result;
    derived.abort();
    return failedTurn('timeout', 'the runner did not answer by its deadline', 'timeout');
  } catch (error) {
    return failedTurn('runner_failed', `the runner failed (${codeOf(error)})`);
  }
}

export function unknownRunner(name: string): TurnResult {
  return notStarted('not_configured', `runner ${name} is not configured: add gateway.runners.${name}`);
}

/** How many stored texts (prompts and replies), and about how many tokens. */
type SessionLimits = Pick<GatewaySettings['sessions'], 'maxTurns' | 'maxTokens'>;

/** Characters that make about one token of English; exact counts differ per model and are not needed to bound. */
const CHARS_PER_TOKEN = 4;

/**
 * The part of a conversation that goes along with a turn. The rule: whole exchanges (a prompt with its reply) are left
 * out, the oldest first, until at most `maxTurns` texts and about `maxTokens` tokens (characters / 4) are left. Replies
 * come back neutralised; prompts were when they were made.
 */
export function boundHistory(turns: readonly SessionTurn[], limits: SessionLimits): readonly SessionTurn[] {
  let kept = turns.length;
  let count = 0;
  let tokens = 0;
  for (let index = turns.length - 1; index >= 0; index -= 1) {
    const turn = turns[index];
    if (turn === undefined) break;
    count += 1;
    tokens += Math.ceil(turn.text.length / CHARS_PER_TOKEN);
    if (count > limits.maxTurns || tokens > limits.maxTokens) break;
    if (turn.role === 'user') kept = index;
  }
  return turns
    .slice(kept)
    .map((turn) => (turn.role === 'user' ? turn : { ...turn, text: neutraliseReply(turn.text) }));
}

/**
 * A UUID that is always the same for a conversation, for agents that name sessions by UUID. Keys without an owner, and
 * conversations from before there were owners, have the id of the key alone.
 */
export function sessionIdOf(
  { owner, key }: Conversation,
  { fromKeyOnly }: { readonly fromKeyOnly: boolean },
): string {
  const name = fromKeyOnly || owner === 'shared' ? key : `${owner}\n${key}`;
  const digits = hash('sha256', `sluice:session:${name}`);
  return toUuid(digits, digits);
}
