import type { AgentAction } from '../action.ts';
import type { RunnerSettings } from '../config/config.ts';
import type { RunnerOptions, Turn, TurnResult } from '../runners/runners.ts';
import type { AgentRun, AttemptFailure } from '../storage/storage.ts';
import { codeOf } from '../telemetry/telemetry.ts';
import type { AlertSubject } from './alerts.ts';
import { makeCompletion } from './completion.ts';
import { pinTarget } from './delivery-target.ts';
import type { GatewayConfiguration } from './gateway-base.ts';
import type { GatewayContext } from './gateway-context.ts';
import { boundHistory } from './history.ts';
import { persist } from './persist.ts';
import { decideRepeat } from './retry.ts';
import { completedEnding, deadEnding, type RunError } from './run-ending.ts';
import { shownError } from './summary.ts';
import type { RunWaiters } from './run-waiters.ts';
import type { HoldReason, RunTarget } from './runner-holds.ts';
import { sessionIdOf } from './session-id.ts';
import { takeTurn } from './take-turn.ts';

const HOUR_MS = 3_600_000;
/** Nobody knows how far the run got. */
export const RUN_ENDED_BY_CRASH: RunError = {
  code: 'interrupted',
  message: 'the service ended while the run was active',
};
const MODEL_HELD: RunError = { code: 'held', message: 'its model cannot take runs at present' };

type NotStarted = Extract<TurnResult, { readonly kind: 'not-started' }>;
type Completed = Extract<TurnResult, { readonly kind: 'completed' }>;

/** How many runs came to which end since the service began. */
export interface RunCounters {
  ok: number;
  error: number;
  timeout: number;
  forwarded: number;
  dead: number;
  repeated: number;
}

export interface AttemptParts {
  readonly waiters: RunWaiters;
  readonly counters: RunCounters;
  /** Aborts when the service stops and the grace is over. */
  readonly signal: AbortSignal;
  /** Of a turn that begins now: aborts with the other one, and where the run may be another process's. */
  turnSignal(): AbortSignal;
}

/** One attempt at a claimed run, from its turn to what is written down of it. */
export class RunAttempts {
  readonly #context: GatewayContext;
  readonly #waiters: RunWaiters;
  readonly #counters: RunCounters;
  readonly #signal: AbortSignal;
  readonly #turnSignal: () => AbortSignal;

  constructor(context: GatewayContext, { waiters, counters, signal, turnSignal }: AttemptParts) {
    this.#context = context;
    this.#waiters = waiters;
    this.#counters = counters;
    this.#signal = signal;
    this.#turnSignal = turnSignal;
  }

  /** Resolves when the run has ended or waits for its next attempt. */
  async perform(run: AgentRun): Promise<void> {
    const configuration = this.#context.configuration();
    const target = targetOf(run.action, configuration.settings);
    const putBackUntil = this.#context.holds.putBackUntil(target);
    if (putBackUntil !== undefined) return this.putBack(run, MODEL_HELD, putBackUntil);
    const startedAt = performance.now();
    const signal = this.#turnSignal();
    const result = await this.#followTurn(run, target, { configuration, signal });
    const isOk = result.kind === 'completed' && result.outcome === 'ok';
    if (signal.aborted && !isOk) {
      // An orderly stop counts no attempt: it says nothing about the run. Without its lease, though, this process is
      // to the others as one that died, and what it began has to be seen.
      const isCounted = !this.#signal.aborted && result.kind === 'completed';
      if (isCounted) return this.crashed(run);
      const back = { retryAt: this.#context.now(), isHeld: true, hasBegun: result.kind === 'completed' };
      return this.#requeue(run, RUN_ENDED_BY_CRASH, back);
    }
    this.#tell(run, result, {
      runner: target.runner,
      tookMs: Math.round(performance.now() - startedAt),
    });
    if (result.kind === 'completed') await this.#complete(run, result, configuration);
    else await this.#repeat(run, result, target);
  }

  /** The process that performed the run died, and the run may be why. */
  async crashed(run: AgentRun): Promise<void> {
    const decision = decideRepeat(this.#context.retry.runs, run.attempts, { random: 0 });
    if (decision.kind === 'give-up') return this.#giveUp(run, RUN_ENDED_BY_CRASH);
    // At once: a delay would let later runs of the same key overtake.
    await this.#requeue(run, RUN_ENDED_BY_CRASH, { retryAt: this.#context.now(), hasBegun: true });
  }

  /** Puts a claimed run back to where it stood, as if it had never been claimed. */
  async putBack(run: AgentRun, error: RunError, retryAt = this.#context.now()): Promise<void> {
    await this.#requeue(run, error, { retryAt, isHeld: true });
  }

  async #followTurn(
    run: AgentRun,
    target: RunTarget,
    { configuration, signal }: { readonly configuration: GatewayConfiguration; readonly signal: AbortSignal },
  ): Promise<TurnResult> {
    const following = this.#context.holds.follow(target);
    try {
      const result = await this.#takeTurn(run, configuration, {
        signal,
        onProcess: async (mark) => {
          following.started();
          await this.#recordProcess(run, mark);
        },
      });
      if (result.kind === 'completed') following.started();
      return result;
    } finally {
      following.end();
    }
  }

  async #takeTurn(
    run: AgentRun,
    { settings, runners }: GatewayConfiguration,
    options: RunnerOptions,
  ): Promise<TurnResult> {
    const name = targetOf(run.action, settings).runner;
    const runner = runners.get(name);
    if (runner === undefined) {
      const message = `runner ${name} is not configured: add gateway.runners.${name}`;
      return { kind: 'not-started', code: 'not_configured', message, final: false };
    }
    const folder = run.action.cwd;
    if (folder !== undefined && settings.gateway.workFolders[folder] === undefined) {
      const message = `the folder ${folder} is not in gateway.workFolders`;
      return { kind: 'not-started', code: 'not_configured', message, final: false };
    }
    try {
      const turn = await this.#makeTurn(run, settings);
      if (options.signal.aborted) return { kind: 'not-started', ...RUN_ENDED_BY_CRASH, final: false };
      return await takeTurn(runner, turn, options);
    } catch (error) {
      const message = 'the earlier turns of the session could not be read';
      this.#context.log.error({ runId: run.id, code: codeOf(error) }, 'a run could not be prepared');
      return { kind: 'not-started', code: 'storage_unavailable', message, final: false };
    }
  }

  async #makeTurn(run: AgentRun, settings: GatewayConfiguration['settings']): Promise<Turn> {
    const { action } = run;
    const conversation = { owner: action.owner, key: action.sessionKey };
    const { turns, hasKeyOnlyId } = action.oneShot
      ? { turns: [], hasKeyOnlyId: false }
      : await this.#context.storage.findConversation(conversation);
    const { model } = targetOf(action, settings);
    const cwd = action.cwd === undefined ? undefined : settings.gateway.workFolders[action.cwd];
    return {
      runId: run.id,
      kind: 'hook',
      attempt: run.attempts,
      sessionKey: action.sessionKey,
      sessionId: sessionIdOf(conversation, { fromKeyOnly: hasKeyOnlyId }),
      name: action.name,
      prompt: action.prompt,
      message: action.message,
      ...(model === undefined ? {} : { model }),
      ...(action.thinking === undefined ? {} : { thinking: action.thinking }),
      ...(cwd === undefined ? {} : { cwd }),
      isOneShot: action.oneShot,
      timeoutSeconds: action.timeoutSeconds ?? settings.agents.defaults.timeoutSeconds,
      history: boundHistory(turns, settings.gateway.sessions),
      oneShot: action.oneShot,
      ...(action.origin.traceparent === undefined ? {} : { traceparent: action.origin.traceparent }),
      ...(action.deliver
        ? { deliverTo: { channel: action.channel, ...(action.to === undefined ? {} : { to: action.to }) } }
        : {}),
    };
  }

  /** A process that is not on record is still found by its environment, so a failure here stops nothing. */
  async #recordProcess(run: AgentRun, mark: Parameters<RunnerOptions['onProcess']>[0]): Promise<void> {
    try {
      await this.#context.storage.recordProcess(run.id, mark);
    } catch (error) {
      this.#context.log.warn(
        { runId: run.id, code: codeOf(error) },
        'the process of a run could not be stored',
      );
    }
  }

  /** What went wrong is a warning with its reason: its first line, as what follows may be an agent's own words. */
  #tell(
    run: AgentRun,
    result: TurnResult,
    { runner, tookMs }: { readonly runner: string; readonly tookMs: number },
  ): void {
    const { mappingId } = run.action.origin;
    const isTurn = result.kind === 'completed';
    const error = isTurn ? result.error : result;
    const what = isTurn ? result.outcome : result.kind;
    const shown = error === undefined ? undefined : shownError(error);
    const isWell = isTurn && (result.outcome === 'ok' || result.outcome === 'forwarded');
    this.#context.log[isWell ? 'info' : 'warn'](
      {
        runId: run.id,
        mappingId,
        runner,
        attempt: run.attempts,
        result: what,
        code: shown?.code,
        reason: shown?.message,
        tookMs,
      },
      isWell ? 'run performed' : isTurn ? 'run failed' : 'run not started',
    );
    this.#context.metrics?.observeRun({ runner, mappingId, result: what, ...(isTurn ? { tookMs } : {}) });
    const usage = isTurn ? result.usage : undefined;
    if (usage !== undefined) this.#context.metrics?.observeTokens({ runner, turn: 'hook', usage });
    for (const subject of subjectsOf(runner, mappingId)) {
      if (isWell) this.#context.alerts.worked(subject);
      else this.#context.alerts.failed(subject, `${shown?.code ?? what}: ${shown?.message ?? 'no reason'}`);
    }
  }

  async #complete(run: AgentRun, result: Completed, { settings }: GatewayConfiguration): Promise<void> {
    const nowMs = this.#context.now();
    const ending = completedEnding(run.id, result);
    const made = makeCompletion(run, { result, ending, nowMs }, settings);
    const completion =
      made.delivery === undefined
        ? made
        : { ...made, delivery: await pinTarget(made.delivery, settings, this.#context.storage) };
    await this.#persist(run, 'completion', () => this.#context.storage.completeRun(completion));
    this.#counters[result.outcome] += 1;
    this.#waiters.settle(ending);
  }

  async #repeat(run: AgentRun, result: NotStarted, target: RunTarget): Promise<void> {
    const { code, message, final, retryAfterMs, affects } = result;
    const { holdHours } = this.#context.configuration().settings.gateway;
    if (affects !== undefined && !final && holdHours > 0) {
      return this.#hold(run, target, { code, message, affects, retryAfterMs });
    }
    const decision = decideRepeat(this.#context.retry.runs, run.attempts, {
      final,
      random: this.#context.random(),
      retryAfterMs,
    });
    if (decision.kind === 'give-up') return this.#giveUp(run, { code, message });
    await this.#requeue(run, { code, message }, { retryAt: this.#context.now() + decision.delayMs });
  }

  /** The agent is away: the run waits at its place, for hours. */
  async #hold(run: AgentRun, target: RunTarget, reason: HoldReason): Promise<void> {
    const { holds, now } = this.#context;
    const hold = await holds.hold(target, reason);
    const { code, message } = reason;
    const { holdHours } = this.#context.configuration().settings.gateway;
    if (now() - Math.max(hold.since, run.acceptedAt) >= holdHours * HOUR_MS) {
      // The next in the queue has probably waited as long.
      holds.retryNow();
      return this.#giveUp(run, { code, message: `${message} (it was waited for, ${holdHours} hours)` });
    }
    await this.putBack(run, { code, message }, hold.model === undefined ? now() : hold.retryAt);
  }

  async #requeue(
    run: AgentRun,
    { code, message }: RunError,
    { retryAt, isHeld = false, hasBegun = false }: Pick<AttemptFailure, 'retryAt' | 'isHeld' | 'hasBegun'>,
  ): Promise<void> {
    const nowMs = this.#context.now();
    await this.#persist(run, 'next attempt', () =>
      this.#context.storage.requeueRun(run.id, { code, message, retryAt, isHeld, hasBegun, nowMs }),
    );
    if (!isHeld) this.#counters.repeated += 1;
  }

  async #giveUp(run: AgentRun, error: RunError): Promise<void> {
    const { ending, deadLetter } = deadEnding(run, error, this.#context.now());
    await this.#persist(run, 'end', () => this.#context.storage.deadLetterRun(run.id, deadLetter));
    this.#counters.dead += 1;
    const { mappingId } = run.action.origin;
    const { runner } = targetOf(run.action, this.#context.configuration().settings);
    this.#context.metrics?.observeRun({ runner, mappingId, result: 'dead' });
    const { code, message } = shownError(error);
    this.#context.log.error({ runId: run.id, mappingId, runner, code, reason: message }, 'run given up');
    this.#waiters.settle(ending);
  }

  async #persist(run: AgentRun, what: string, write: () => Promise<unknown>): Promise<void> {
    await persist(this.#context, { what: `${what} of run ${run.id}`, signal: this.#signal }, write);
  }
}

function subjectsOf(runner: string, mappingId: string | undefined): readonly AlertSubject[] {
  const subject = { kind: 'runner', name: runner } as const;
  return mappingId === undefined ? [subject] : [subject, { kind: 'mapping', name: mappingId }];
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

/** What a run is performed by: its own runner and model, or the configured ones. */
export function targetOf(
  { runner, model }: Pick<AgentAction, 'runner' | 'model'>,
  { gateway, agents }: GatewayConfiguration['settings'],
): RunTarget {
  const name = runner ?? gateway.runner;
  return { runner: name, model: model ?? defaultModelOf(gateway.runners[name], agents.defaults.model) };
}
