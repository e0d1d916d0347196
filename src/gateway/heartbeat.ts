import { LAST_CHANNEL } from '../action.ts';
import { buildHeartbeatPrompt } from '../boundary/boundary.ts';
import type { EventClaim } from '../storage/storage.ts';
import {
  isAcknowledgement,
  removeWorkspaces,
  endProcessTree,
  type Turn,
  type TurnResult,
} from '../runners/runners.ts';
import { isActiveAt } from './active-hours.ts';
import {
  codeOfResult,
  targetOfTurn,
  heardEvents,
  MAIN_CONVERSATION,
  makeHeartbeatResult,
  reasonOf,
} from './heartbeat-result.ts';
import { boundHistory } from './history.ts';
import { codeOf } from '../telemetry/telemetry.ts';
import { persist } from './persist.ts';
import type { GatewayConfiguration } from './gateway-base.ts';
import type { GatewayContext } from './gateway-context.ts';
import { repeatDelay } from './retry.ts';
import { defaultModelOf } from './run-attempts.ts';
import type { HoldReason, RunTarget } from './runner-holds.ts';
import { sessionIdOf } from './session-id.ts';
import { takeTurn } from './take-turn.ts';
import { pinTarget } from './delivery-target.ts';
import { armTimer, within } from '../timers/timers.ts';

/** Requests within this time share one turn. */
const COALESCE_MS = 250;
const MAX_EVENTS = 50;
const MAX_EVENT_BYTES = 65_536;
const RECOVERY_GRACE_MS = 1_000;

export interface HeartbeatCounters {
  turns: number;
  failures: number;
}

/**
 * Turns of the main session, one at a time, in parallel with the hooks' runs: a turn claims what is pending, and consumes it
 * when it completes. A failed or interrupted turn frees it, and the next one has the same id: at least once.
 */
export class Heartbeat {
  readonly #context: GatewayContext;
  readonly #abort = new AbortController();
  /** Ends the turn under way, as in the performer. */
  #turns = new AbortController();
  #isTurnTaken = false;
  readonly counters: HeartbeatCounters = { turns: 0, failures: 0 };
  #state: 'stopped' | 'idle' | 'coalescing' | 'busy' = 'stopped';
  #isEnded = false;
  /** Asked for again while a turn was under way. */
  #askedAgain = false;
  #failuresInARow = 0;
  /** Monotonic; after a failure no turn begins earlier, whoever asks: five wakes would otherwise use up five failures. */
  #pausedUntil = 0;
  /** The turn that failed last: its repeat keeps the id. */
  #failedTurnId: string | undefined;
  #cancelCoalescing = (): void => {};
  #cancelPeriod = (): void => {};
  #turn: Promise<void> = Promise.resolve();

  constructor(context: GatewayContext) {
    this.#context = context;
  }

  get isBusy(): boolean {
    return this.#state === 'busy';
  }

  /** Whether a turn is under way, be it one that was told to end. */
  get isTurnTaken(): boolean {
    return this.#isTurnTaken;
  }

  /** Begins where this process leads, and ends where another one does. */
  async lead(isLeader: boolean): Promise<void> {
    if (this.#abort.signal.aborted || this.#isEnded || isLeader === (this.#state !== 'stopped')) return;
    if (!isLeader) return this.lapse();
    // One that was ended may take a moment to end.
    await this.#turn;
    await this.start();
  }

  /** Ends the turn under way and begins no other: another process may lead from now on. */
  lapse(): void {
    this.#state = 'stopped';
    this.#cancelPeriod();
    this.#cancelCoalescing();
    this.#turns.abort();
    if (!this.#abort.signal.aborted) this.#turns = new AbortController();
  }

  /** Begins the periodic checks; a turn that a process that died left behind is taken up at once. */
  async start(): Promise<void> {
    this.#state = 'idle';
    this.#arm();
    const left = await this.#context.storage.listEvents({ state: 'claimed', limit: 1 });
    if (left.length > 0) this.ask();
  }

  /** (Re)starts the period. */
  #arm(): void {
    this.#cancelPeriod();
    const { everySeconds } = this.#context.configuration().settings.gateway.heartbeat;
    if (everySeconds <= 0 || this.#state === 'stopped') return;
    this.#cancelPeriod = armTimer(everySeconds * 1000, () => {
      const { activeHours } = this.#context.configuration().settings.gateway.heartbeat;
      if (isActiveAt(activeHours, this.#context.now())) this.ask();
      this.#arm();
    });
  }

  /** Asks for a turn soon; whoever asks within the coalescing time shares it. */
  ask(): void {
    if (this.#state === 'busy') this.#askedAgain = true;
    if (this.#state !== 'idle') return;
    this.#state = 'coalescing';
    const delayMs = Math.max(COALESCE_MS, this.#pausedUntil - performance.now());
    this.#cancelCoalescing = armTimer(delayMs, () => this.#begin());
  }

  /** Takes up another configuration: the period begins again, and what failed may work now. */
  reconfigure(): void {
    this.resume();
    this.#arm();
  }

  /** Ends the pause after a failure: what failed may work now. */
  resume(): void {
    const wasPaused = this.#pausedUntil > performance.now();
    this.#pausedUntil = 0;
    if (this.#state === 'coalescing') {
      this.#cancelCoalescing();
      this.#state = 'idle';
      this.ask();
    } else if (wasPaused) this.ask();
  }

  /** Looks whether somebody asked through the store: a wake, a summary, a failed turn whose time has come. */
  async check(): Promise<void> {
    if (this.#state !== 'idle') return;
    if (await this.#context.storage.heartbeatRequested(this.#context.now())) this.ask();
  }

  /** Waits for the turn; one that is left after the grace is ended and taken up again at the next start. */
  async stop(graceMs: number): Promise<void> {
    const wasBusy = this.#state === 'busy';
    this.#isEnded = true;
    this.#state = 'stopped';
    this.#cancelPeriod();
    this.#cancelCoalescing();
    if (!wasBusy) return;
    await within(this.#turn, graceMs);
    this.abort();
    await this.#turn;
  }

  abort(): void {
    this.#turns.abort();
    this.#abort.abort();
  }

  #begin(): void {
    this.#state = 'busy';
    this.#isTurnTaken = true;
    this.#askedAgain = false;
    this.#turn = this.#takeTurn()
      .catch((error: unknown) => {
        this.#context.log.error({ code: codeOf(error) }, 'a heartbeat failed');
        return false;
      })
      .then((more) => {
        this.#isTurnTaken = false;
        if (this.#state !== 'busy') return;
        this.#state = 'idle';
        if (more || this.#askedAgain) this.ask();
        this.#context.wake();
      });
  }

  /** Takes a turn where anything is pending; resolves to whether more is likely to be. */
  async #takeTurn(): Promise<boolean> {
    const { storage, now, nonce } = this.#context;
    const { signal } = this.#turns;
    const asked = this.#failedTurnId ?? nonce();
    const claim = await storage.claimEvents({
      turnId: asked,
      nowMs: now(),
      maxEvents: MAX_EVENTS,
      maxBytes: MAX_EVENT_BYTES,
    });
    if (claim === undefined || signal.aborted) return false;
    if (claim.turnId !== asked) await this.#endSurvivors(claim.turnId);
    const configuration = this.#context.configuration();
    const startedAt = now();
    const events = heardEvents(claim, configuration.settings.gateway);
    if (events.length === 0) {
      // Summaries only, and nobody there is to hear them: they stay listed.
      await this.#persist(claim, () => storage.consumeEvents(claim.turnId, { nowMs: now() }));
      return claim.events.length === MAX_EVENTS;
    }
    const turn = await this.#makeTurn({ ...claim, events }, configuration);
    if (signal.aborted) return false;
    const result = await this.#run(turn, configuration, signal);
    const isOk = result.kind === 'completed' && result.outcome === 'ok';
    // Left claimed: the next start, or who leads then, takes it up under the same id.
    if (signal.aborted && !isOk) return false;
    this.#context.log[isOk ? 'info' : 'warn'](
      {
        turnId: claim.turnId,
        events: claim.events.length,
        result: isOk ? 'ok' : codeOfResult(result),
        reason: reasonOf(result),
      },
      isOk ? 'heartbeat performed' : 'heartbeat failed',
    );
    if (!isOk) {
      const { holdHours } = configuration.settings.gateway;
      if (result.kind === 'not-started' && result.affects !== undefined && holdHours > 0) {
        const { affects, code, message, retryAfterMs } = result;
        await this.#hold(claim, targetOfTurn(turn, configuration.settings), {
          affects,
          code,
          message,
          retryAfterMs,
        });
      } else await this.#free(claim, result);
      return false;
    }
    await this.#consume(claim, { turn, result, startedAt }, configuration);
    const bytes = claim.events.reduce((sum, event) => sum + Buffer.byteLength(event.text), 0);
    return claim.events.length === MAX_EVENTS || bytes > MAX_EVENT_BYTES / 2;
  }

  async #endSurvivors(turnId: string): Promise<void> {
    await removeWorkspaces([turnId]);
    if (await endProcessTree({ runId: turnId, own: false }, RECOVERY_GRACE_MS)) return;
    this.#context.log.error({ turnId }, 'processes of an interrupted heartbeat could not be ended');
  }

  async #makeTurn(claim: EventClaim, { settings }: GatewayConfiguration): Promise<Turn> {
    const { heartbeat, sessions } = settings.gateway;
    const runner = settings.gateway.runners[heartbeat.runner ?? settings.gateway.runner];
    const { instructions, model = defaultModelOf(runner, settings.agents.defaults.model) } = heartbeat;
    const { turns } = await this.#context.storage.findConversation(MAIN_CONVERSATION);
    return {
      runId: claim.turnId,
      kind: 'heartbeat',
      attempt: this.#failuresInARow + 1,
      sessionKey: MAIN_CONVERSATION.key,
      sessionId: sessionIdOf(MAIN_CONVERSATION, { fromKeyOnly: true }),
      name: 'Heartbeat',
      // The turn's own id: a repeat is the same text, which a gateway that takes it as a wake queues once.
      prompt: buildHeartbeatPrompt({ events: claim.events, instructions, nonce: claim.turnId }),
      message: claim.events.map((event) => event.text).join('\n'),
      ...(model === undefined ? {} : { model }),
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
    const name = target.runner;
    const runner = runners.get(name);
    if (runner === undefined) {
      const message = `runner ${name} is not configured: add gateway.runners.${name}`;
      return { kind: 'not-started', code: 'not_configured', message, final: false };
    }
    const following = this.#context.holds.follow(target);
    try {
      // A turn has no row of its own before it completes; its processes are found by their environment.
      const onProcess = async (): Promise<void> => following.started();
      const result = await takeTurn(runner, turn, { signal, onProcess });
      if (result.kind === 'completed') following.started();
      return result;
    } finally {
      following.end();
    }
  }

  async #consume(
    claim: EventClaim,
    done: { readonly turn: Turn; readonly result: TurnResult; readonly startedAt: number },
    { settings }: GatewayConfiguration,
  ): Promise<void> {
    if (done.result.kind !== 'completed') return;
    const nowMs = this.#context.now();
    const { reply } = done.result;
    const isSilent = reply.trim() === '' || isAcknowledgement(reply);
    const wanted = { channel: LAST_CHANNEL, text: reply, fromMain: true };
    const delivery = isSilent ? undefined : await pinTarget(wanted, settings, this.#context.storage);
    const made = makeHeartbeatResult({ ...done, result: done.result, nowMs }, settings.gateway);
    const result = delivery === undefined ? made : { ...made, delivery };
    await this.#persist(claim, () => this.#context.storage.consumeEvents(claim.turnId, result));
    this.counters.turns += 1;
    this.#context.metrics?.observeHeartbeat('ok');
    const { usage } = done.result;
    const { runner } = targetOfTurn(done.turn, settings);
    if (usage !== undefined) this.#context.metrics?.observeTokens({ runner, turn: 'heartbeat', usage });
    this.#failuresInARow = 0;
    this.#pausedUntil = 0;
    this.#failedTurnId = undefined;
  }

  /** Where the agent is away its events wait as its runs do: the attempt does not count. */
  async #hold(claim: EventClaim, target: RunTarget, reason: HoldReason): Promise<void> {
    const { code, message } = reason;
    this.#failedTurnId = claim.turnId;
    this.#context.metrics?.observeHeartbeat('held');
    const hold = await this.#context.holds.hold(target, reason);
    const nowMs = this.#context.now();
    this.#pausedUntil = performance.now() + Math.max(hold.retryAt - nowMs, 0);
    const failure = { code, message, retryAt: hold.retryAt, isHeld: true, nowMs };
    await this.#persist(claim, () => this.#context.storage.freeEvents(claim.turnId, failure));
  }

  async #free(claim: EventClaim, result: TurnResult): Promise<void> {
    this.#failuresInARow += 1;
    this.#failedTurnId = claim.turnId;
    this.counters.failures += 1;
    this.#context.metrics?.observeHeartbeat('failed');
    const error = result.kind === 'completed' ? result.error : result;
    const { code, message } = error ?? { code: 'unknown', message: 'the turn failed' };
    const policy = this.#context.retry.heartbeat;
    const retryAfterMs = result.kind === 'not-started' ? result.retryAfterMs : undefined;
    const delayMs = repeatDelay(policy, this.#failuresInARow, {
      retryAfterMs,
      random: this.#context.random(),
    });
    this.#pausedUntil = performance.now() + delayMs;
    const nowMs = this.#context.now();
    await this.#persist(claim, () =>
      this.#context.storage.freeEvents(claim.turnId, { code, message, retryAt: nowMs + delayMs, nowMs }),
    );
  }

  async #persist(claim: EventClaim, write: () => Promise<unknown>): Promise<void> {
    await persist(this.#context, { what: `heartbeat ${claim.turnId}`, signal: this.#abort.signal }, write);
  }
}
