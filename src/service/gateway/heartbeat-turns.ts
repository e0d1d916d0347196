import { LAST_CHANNEL } from '../../base/action.ts';
import { defined } from '../../base/json.ts';
import { buildHeartbeatPrompt } from '../../base/boundary/boundary.ts';
import type { GatewaySettings } from '../../engine/config/config.ts';
import {
  type CompletedTurn,
  endLeftTurn,
  HEARTBEAT_OK,
  isAcknowledgement,
  type Turn,
  type TurnResult,
} from '../runners/runners.ts';
import type { EventClaim, HeartbeatResult, NewDelivery } from '../../engine/storage/storage.ts';
import { pinTarget } from './delivery-target.ts';
import type { GatewayConfiguration } from './gateway-base.ts';
import type { GatewayContext } from './gateway-context.ts';
import { repeatDelay, persist } from './retry.ts';
import { boundHistory, defaultModelOf, sessionIdOf, takeTurn, unknownRunner } from './run-turn.ts';
import { shownError } from './summary.ts';
import type { RunTarget } from './runner-holds.ts';

/** The main session's key; a hook's own keys can never be this one. */
const MAIN_CONVERSATION = { owner: 'main', key: 'main' } as const;
/** How soon it looks again whether a paused runner was resumed. */
const LOOK_AGAIN_MS = 1_000;
const MAX_EVENTS = 50;
const MAX_EVENT_BYTES = 65_536;

/** The note on a turn of the main session that failed as a run of the same runner did. */
const FAILED_AS_RUN =
  'heartbeat put off: its runner fails as it did for the run before; its events wait, and are read when it works';

interface EndedTurn {
  readonly turn: Turn;
  readonly result: CompletedTurn;
  readonly startedAt: number;
}

/**
 * Turns of the main session: a turn claims what is pending, and consumes it when it completes. A failed or interrupted
 * turn frees it, and the next turn claims it under the same id. So each event is read at least once.
 */
export class HeartbeatTurns {
  readonly #context: GatewayContext;
  /** Aborts when the service stops and the grace is over. */
  readonly #stopping: AbortSignal;
  #failuresInARow = 0;
  /** No turn begins earlier after a failure (monotonic), whoever asks: five wakes would use up five failures. */
  #pausedUntil = 0;
  /** The turn that failed last: its repeat keeps the id. */
  #failedTurnId: string | undefined;

  constructor(context: GatewayContext, stopping: AbortSignal) {
    this.#context = context;
    this.#stopping = stopping;
  }

  get pauseMs(): number {
    return Math.max(0, this.#pausedUntil - performance.now());
  }

  /** Ends the pause after a failure; returns whether there was one. */
  endPause(): boolean {
    const wasPaused = this.pauseMs > 0;
    this.#pausedUntil = 0;
    return wasPaused;
  }

  /** Takes a turn where anything is pending; resolves to whether more is likely to be. */
  async take(signal: AbortSignal): Promise<boolean> {
    if (await this.#isRunnerPaused()) return false;
    const claim = await this.#claim(signal);
    if (claim === undefined) return false;
    const configuration = this.#context.configuration();
    const startedAt = this.#context.now();
    const events = heardEvents(claim, configuration.settings.gateway);
    if (events.length === 0) return this.#leaveUnheard(claim);
    const turn = await this.#makeTurn({ ...claim, events }, configuration);
    if (signal.aborted) return false;
    const result = await this.#run(turn, configuration, signal);
    const isOk = result.kind === 'completed' && result.outcome === 'ok';
    // The events stay claimed: the next start, or who leads then, takes them up under the same id.
    if (signal.aborted && !isOk) return false;
    this.#log(claim, result, targetOfTurn(turn, configuration.settings));
    if (isOk) await this.#consume(claim, { turn, result, startedAt }, configuration);
    else await this.#putBack(claim, { turn, result }, configuration);
    return isOk && hasMore(claim);
  }

  /** Whether the runner is paused: the events then wait as its runs do, and are looked at again soon. */
  async #isRunnerPaused(): Promise<boolean> {
    const { gateway } = this.#context.configuration().settings;
    const name = gateway.heartbeat.runner ?? gateway.runner;
    const isPaused = (await this.#context.storage.listPauses()).some(({ runner }) => runner === name);
    if (isPaused) this.#pausedUntil = performance.now() + LOOK_AGAIN_MS;
    return isPaused;
  }

  /** Claims what is pending, also what an interrupted turn left claimed. */
  async #claim(signal: AbortSignal): Promise<EventClaim | undefined> {
    const { storage, now, nonce, log } = this.#context;
    const asked = this.#failedTurnId ?? nonce();
    const claim = await storage.claimEvents({
      turnId: asked,
      nowMs: now(),
      maxEvents: MAX_EVENTS,
      maxBytes: MAX_EVENT_BYTES,
    });
    if (claim === undefined || signal.aborted) return undefined;
    const { turnId } = claim;
    if (turnId === asked) return claim;
    if (!(await endLeftTurn(turnId)))
      log.error({ turnId }, 'processes of an interrupted heartbeat could not be ended');
    return claim;
  }

  /** Consumes a claim of summaries without a turn where no agent would read them: they stay listed. */
  async #leaveUnheard(claim: EventClaim): Promise<boolean> {
    const { storage, now } = this.#context;
    await this.#persist(claim, () => storage.consumeEvents(claim.turnId, { nowMs: now() }));
    return claim.events.length === MAX_EVENTS;
  }

  async #makeTurn(claim: EventClaim, { settings }: GatewayConfiguration): Promise<Turn> {
    const { heartbeat, sessions } = settings.gateway;
    const runner = settings.gateway.runners[heartbeat.runner ?? settings.gateway.runner];
    const { instructions, model = defaultModelOf(runner, settings.agents.defaults.model) } = heartbeat;
    const find = () => this.#context.storage.findConversation(MAIN_CONVERSATION);
    const { turns } = await this.#persist(claim, find);
    return {
      runId: claim.turnId,
      kind: 'heartbeat',
      attempt: this.#failuresInARow + 1,
      sessionKey: MAIN_CONVERSATION.key,
      sessionId: sessionIdOf(MAIN_CONVERSATION, { fromKeyOnly: true }),
      name: 'Heartbeat',
      // With the turn's id as nonce a repeat has the same text, which a gateway that takes it as a wake queues once.
      prompt: buildHeartbeatPrompt({ events: claim.events, instructions, nonce: claim.turnId }),
      message: claim.events.map((event) => event.text).join('\n'),
      ...defined({ model }),
      timeoutSeconds: settings.agents.defaults.timeoutSeconds,
      history: boundHistory(turns, sessions),
    };
  }

  async #run(
    turn: Turn,
    { settings, runners }: GatewayConfiguration,
    signal: AbortSignal,
  ): Promise<TurnResult> {
    const target = targetOfTurn(turn, settings);
    const runner = runners.get(target.runner);
    if (runner === undefined) return unknownRunner(target.runner);
    return this.#context.holds.followTurn(target, (started) =>
      // A turn has no row of its own before it completes; its processes are found by their environment.
      takeTurn(runner, turn, { signal, onProcess: async () => started() }),
    );
  }

  #log({ turnId, events }: EventClaim, result: TurnResult, { runner }: RunTarget): void {
    const isOk = result.kind === 'completed' && result.outcome === 'ok';
    const error = result.kind === 'completed' ? result.error : result;
    const code = result.kind === 'completed' ? (error?.code ?? result.outcome) : result.code;
    const reason = error && shownError(error).message;
    const fields = { turnId, events: events.length, result: code };
    // The run has reported it already: one cause is one warning.
    if (!isOk && this.#context.alerts.hasFailed({ kind: 'runner', name: runner }, `${code}: ${reason}`))
      return this.#context.log.info({ ...fields, runner }, FAILED_AS_RUN);
    this.#context.log[isOk ? 'info' : 'warn'](
      { ...fields, reason },
      isOk
        ? 'heartbeat performed: the main session read its events, such as the summaries of runs'
        : 'heartbeat failed; sluice events lists its events',
    );
  }

  async #consume(claim: EventClaim, ended: EndedTurn, { settings }: GatewayConfiguration): Promise<void> {
    const { turn, result } = ended;
    const { storage, now, metrics } = this.#context;
    const nowMs = now();
    const isSilent = result.reply.trim() === '' || isAcknowledgement(result.reply);
    const reply = isSilent ? undefined : replyOf(claim, result.reply, settings.gateway);
    const delivery = reply === undefined ? undefined : await pinTarget(reply, settings, storage);
    const made = { ...makeHeartbeatResult(ended, settings.gateway, nowMs), ...defined({ delivery }) };
    await this.#persist(claim, () => storage.consumeEvents(claim.turnId, made));
    const { runner } = targetOfTurn(turn, settings);
    metrics?.observeHeartbeat('ok');
    if (result.usage !== undefined)
      metrics?.observeTokens({ runner, turn: 'heartbeat', usage: result.usage });
    this.#failuresInARow = 0;
    this.#pausedUntil = 0;
    this.#failedTurnId = undefined;
  }

  /**
   * Puts back the events of a turn that failed. They wait for an agent that is away, as its runs do, and the attempt does
   * not count; or for the next attempt, after a pause that grows with each failure in a row.
   */
  async #putBack(
    claim: EventClaim,
    { turn, result }: { readonly turn: Turn; readonly result: TurnResult },
    { settings }: GatewayConfiguration,
  ): Promise<void> {
    const { storage, holds, metrics, retry, random, now } = this.#context;
    this.#failedTurnId = claim.turnId;
    const error = result.kind === 'completed' ? result.error : result;
    const { code, message } = error ?? { code: 'unknown', message: 'the turn failed' };
    const { affects, retryAfterMs } = result.kind === 'not-started' ? result : {};
    const isHeld = affects !== undefined && settings.gateway.holdHours > 0;
    metrics?.observeHeartbeat(isHeld ? 'held' : 'failed');
    if (!isHeld) this.#failuresInARow += 1;
    const retryAt = isHeld
      ? (await holds.hold(targetOfTurn(turn, settings), { affects, code, message, retryAfterMs })).retryAt
      : now() + repeatDelay(retry.heartbeat, this.#failuresInARow, { retryAfterMs, random: random() });
    const nowMs = now();
    this.#pausedUntil = performance.now() + Math.max(retryAt - nowMs, 0);
    const failure = { code, message, retryAt, isDelayed: isHeld, nowMs };
    await this.#persist(claim, () => storage.freeEvents(claim.turnId, failure));
  }

  #persist<T>({ turnId }: EventClaim, write: () => Promise<T>): Promise<T> {
    return persist(this.#context, { what: `heartbeat ${turnId}`, signal: this.#stopping }, write);
  }
}

function hasMore({ events }: EventClaim): boolean {
  const bytes = events.reduce((sum, event) => sum + Buffer.byteLength(event.text), 0);
  return events.length === MAX_EVENTS || bytes > MAX_EVENT_BYTES / 2;
}

/** Where a reply of the main session goes: to `last`, or, where a setting says so, to the operator after a failure. */
function replyOf({ events }: EventClaim, text: string, { alerts }: GatewaySettings): NewDelivery {
  const isAutomatic = events.every(({ origin }) => origin.isAutomatic) || undefined;
  const isOfFailure = events.some(({ origin }) => origin.isFailure) || undefined;
  return isOfFailure && alerts?.replies === true
    ? { channel: alerts.channel, to: alerts.to, text, fromMain: false, isAutomatic }
    : { channel: LAST_CHANNEL, text, fromMain: true, isAutomatic, isOfFailure };
}

/** What a turn of the main session that went well stores: a run of kind heartbeat, and the conversation. */
function makeHeartbeatResult(
  { turn, result, startedAt }: EndedTurn,
  { heartbeat, sessions, runner }: GatewaySettings,
  nowMs: number,
): HeartbeatResult {
  const { runId: id, prompt, message, name, sessionKey, model, timeoutSeconds, attempt } = turn;
  const { reply, usage } = result;
  const turns = [
    { role: 'user', text: prompt, at: startedAt },
    { role: 'assistant', text: reply.trim() === '' ? HEARTBEAT_OK : reply, at: nowMs },
  ] as const;
  return {
    run: {
      id,
      kind: 'heartbeat',
      action: {
        kind: 'agent',
        id,
        prompt,
        message,
        name,
        sessionKey,
        owner: 'main',
        oneShot: false,
        wakeMode: 'next-heartbeat',
        deliver: true,
        channel: 'last',
        ...defined({ model, timeoutSeconds, runner: heartbeat.runner }),
        origin: { requestId: id, path: 'heartbeat', trusted: false },
      },
      state: 'completed',
      outcome: 'ok',
      reply,
      attempts: attempt,
      ...defined({ usage }),
      acceptedAt: startedAt,
      dueAt: startedAt,
      startedAt,
      endedAt: nowMs,
    },
    runner: heartbeat.runner ?? runner,
    history: { conversation: MAIN_CONVERSATION, turns, maxTurns: sessions.maxTurns },
    nowMs,
  };
}

/** The events that a turn is for: a forward runner passes on those of hooks, not summaries of runs. */
function heardEvents(
  { events }: EventClaim,
  { heartbeat, runner, runners }: GatewaySettings,
): EventClaim['events'] {
  const used = runners[heartbeat.runner ?? runner];
  const isQuiet = used?.kind === 'forward' && !used.forwardSummaries;
  return isQuiet ? events.filter(({ kind }) => kind !== 'summary') : events;
}

function targetOfTurn({ model }: Turn, { gateway }: GatewayConfiguration['settings']): RunTarget {
  return { runner: gateway.heartbeat.runner ?? gateway.runner, model };
}
