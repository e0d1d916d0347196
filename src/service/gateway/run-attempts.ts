import { type CompletedTurn, failedTurn, type RunnerOptions, type TurnResult } from '../runners/runners.ts';
import { defined } from '../../base/json.ts';
import {
  type AgentRun,
  type AttemptFailure,
  NO_CONVERSATION,
  type RunDeadLetter,
  SUPERSEDED,
} from '../../engine/storage/storage.ts';
import { codeOf, type Tracing } from '../../base/telemetry/telemetry.ts';
import {
  BEGUN_BY_HAND,
  ENDED_BEFORE,
  isBegunOnce,
  mayHaveBegun,
  RUN_ENDED_BY_CRASH,
  usedUntilCrash,
  withCost,
} from './after-crash.ts';
import type { CutOff } from './cut-off.ts';
import { makeCompletion } from './completion.ts';
import { pinTarget } from './delivery-target.ts';
import type { GatewayConfiguration } from './gateway-base.ts';
import type { GatewayContext } from './gateway-context.ts';
import { decideRepeat, isRetried, type RetryPolicy, persist } from './retry.ts';
import { completedEnding, deadEnding, type RunError, unbegunEnding } from './run-ending.ts';
import { shownError, subjectsOf, reportOf } from './summary.ts';
import type { RunWaiters } from './run-waiters.ts';
import type { HoldReason, RunTarget } from './runner-holds.ts';
import { makeRunTurn, notConfigured, takeTurn, targetOf, unknownRunner } from './run-turn.ts';

const HOUR_MS = 3_600_000;
/** A cancelled run has failed, and may be begun again. */
const CANCELLED: RunError = { code: 'cancelled', message: 'ended by the operator while it was under way' };
const NO_REASON: RunError = { code: 'error', message: 'the turn failed' };
const UNANSWERED: RunError = { code: 'not_approved', message: 'nobody approved the run in time' };
const DENIED: RunError = { code: 'denied', message: 'the run was denied' };
const MODEL_AWAY: RunError = { code: 'held', message: 'its model cannot take runs at present' };

const HISTORY_UNREADABLE: UnstartedTurn = {
  kind: 'not-started',
  code: 'storage_unavailable',
  message: 'the earlier turns of the session could not be read',
  final: false,
};

type TracedRun = ReturnType<Tracing['run']>;
type UnstartedTurn = Extract<TurnResult, { readonly kind: 'not-started' }>;

export interface AttemptParts {
  readonly waiters: RunWaiters;
  /** Ends turns after the grace of a stop, and where another process may have the run. */
  readonly cutOff: CutOff;
}

/** Makes one attempt at a claimed run, from its turn to what is stored. */
export class RunAttempts {
  readonly #context: GatewayContext;
  readonly #waiters: RunWaiters;
  readonly #cutOff: CutOff;

  constructor(context: GatewayContext, { waiters, cutOff }: AttemptParts) {
    this.#context = context;
    this.#waiters = waiters;
    this.#cutOff = cutOff;
  }

  /** Resolves when the run has ended or waits for its next attempt. */
  async perform(claimed: AgentRun, cancelled: AbortSignal): Promise<void> {
    if (claimed.approval !== undefined && claimed.approval.decision !== 'approved')
      return this.endUnbegun(claimed);
    const configuration = this.#context.configuration();
    const target = targetOf(claimed.action, configuration.settings);
    const putBackUntil = this.#context.holds.putBackUntil(target);
    if (putBackUntil !== undefined) return this.putBack(claimed, MODEL_AWAY, putBackUntil);
    const { id, attempts: attempt, action } = claimed;
    const traced = this.#context.tracing?.run({ id, attempt, ...action.origin, ...target });
    const run = traced === undefined ? claimed : { ...claimed, action: tracedAction(action, traced) };
    const startedAt = performance.now();
    const { signal } = this.#cutOff;
    const either = AbortSignal.any([signal, cancelled]);
    const ended = await this.#context.holds.followTurn(target, (began) =>
      this.#takeTurn(run, configuration, {
        signal: either,
        onProcess: async (mark) => {
          began();
          await this.#recordProcess(run, mark);
        },
      }),
    );
    const isOk = ended.kind === 'completed' && ended.outcome === 'ok';
    const isSuperseded = cancelled.reason === SUPERSEDED;
    const cut = isSuperseded ? SUPERSEDED : CANCELLED;
    const result =
      cancelled.aborted && !isOk
        ? { ...failedTurn(cut.code, withCost(cut, usageOf(ended)).message), ...usageOf(ended) }
        : ended;
    traced?.end(endOf(result));
    if (signal.aborted && !cancelled.aborted && !isOk) return this.#interrupted(run, result, target);
    // That a conversation has ended is no failure of anybody.
    if (isSuperseded && !isOk) this.#tellSuperseded(run);
    else
      await this.#tell(run, result, {
        runner: target.runner,
        tookMs: Math.round(performance.now() - startedAt),
      });
    if (result.kind === 'not-started') await this.#repeat(run, result, target);
    else if (!cancelled.aborted && hasRetryLeft(run, result)) await this.#retry(run, result, target);
    else await this.#complete(run, result, configuration);
  }

  /** Ends a run that will not begin: not approved in time, denied, superseded, or without a conversation. */
  async endUnbegun(run: AgentRun): Promise<void> {
    const { approval, lastError } = run;
    const { decision, by } = approval ?? {};
    const code = lastError?.code;
    const isAsked = approval !== undefined && decision !== 'approved';
    if (!isAsked || code === SUPERSEDED.code || code === NO_CONVERSATION)
      return this.#endWithout(
        run,
        code === NO_CONVERSATION && lastError !== undefined ? lastError : SUPERSEDED,
      );
    const denied = { ...DENIED, message: `${DENIED.message} (by ${by})` };
    await this.#giveUp(run, decision === undefined ? UNANSWERED : denied);
  }

  /** Its conversation has ended, or none came. */
  async #endWithout(run: AgentRun, error: RunError): Promise<void> {
    const { ending, deadLetter } = unbegunEnding(run, error, this.#context.now());
    const isDone = await this.#persist(run, 'end', () =>
      this.#context.storage.endUnbegun(run.id, deadLetter),
    );
    if (!isDone) return;
    if (error.code === SUPERSEDED.code) this.#tellSuperseded(run);
    this.#waiters.settle(ending);
  }

  #tellSuperseded({ id: runId, action }: AgentRun): void {
    const { mappingId } = action.origin;
    this.#context.log.info({ runId, mappingId, code: SUPERSEDED.code }, 'run ended with its conversation');
  }

  /**
   * An orderly stop counts no attempt: it says nothing about the run. Without its lease, though, this process is to the
   * others as one that died, and what it began has to be seen.
   */
  async #interrupted(run: AgentRun, result: TurnResult, { runner }: RunTarget): Promise<void> {
    const hasBegun = result.kind === 'completed';
    const used = { runner, ...usageOf(result) };
    if (hasBegun && (!this.#cutOff.ended.aborted || isBegunOnce(run, this.#context.configuration().settings)))
      return this.#crashed(run, used);
    const how = { retryAt: this.#context.now(), isDelayed: true, hasBegun, ...used };
    await this.#requeue(run, hasBegun ? withCost(RUN_ENDED_BY_CRASH, how) : ENDED_BEFORE, how);
  }

  /** Decides about a run whose process died, perhaps because of it. */
  async recover(run: AgentRun): Promise<void> {
    const { settings } = this.#context.configuration();
    if (isBegunOnce(run, settings) && !mayHaveBegun(run, settings)) return this.putBack(run, ENDED_BEFORE);
    await this.#crashed(run, usedUntilCrash(run, settings));
  }

  async #crashed(run: AgentRun, used: Pick<RunDeadLetter, 'usage' | 'runner'>): Promise<void> {
    const error = withCost(RUN_ENDED_BY_CRASH, used);
    const final = isBegunOnce(run, this.#context.configuration().settings);
    const decision = decideRepeat(this.#policyOf(run), run.attempts, { random: 0, final });
    // The repeat is due at once: with a delay later runs of the same key would overtake it.
    if (decision.kind === 'repeat')
      return this.#requeue(run, error, { retryAt: this.#context.now(), hasBegun: true, ...used });
    if (!(await this.#giveUp(run, error, used))) return;
    const subjects = subjectsOf(used.runner ?? '', run.action.origin.mappingId);
    this.#context.alerts.failed(subjects, `${error.code}: ${error.message}${BEGUN_BY_HAND}`, {
      isAtOnce: true,
    });
  }

  /** Puts a claimed run back to where it stood, as if it had never been claimed. */
  async putBack(run: AgentRun, error: RunError, retryAt = this.#context.now()): Promise<void> {
    await this.#requeue(run, error, { retryAt, isDelayed: true });
  }

  async #takeTurn(
    run: AgentRun,
    { settings, runners }: GatewayConfiguration,
    options: RunnerOptions,
  ): Promise<TurnResult> {
    const name = targetOf(run.action, settings).runner;
    const runner = runners.get(name);
    if (runner === undefined) return unknownRunner(name);
    const folder = run.action.cwd;
    if (folder !== undefined && settings.gateway.workFolders[folder] === undefined)
      return notConfigured(`the folder ${folder} is not in gateway.workFolders`);
    try {
      const turn = await makeRunTurn(run, runner, { settings, storage: this.#context.storage });
      if (options.signal.aborted) return { kind: 'not-started', ...ENDED_BEFORE, final: false };
      return await takeTurn(runner, turn, options);
    } catch (error) {
      this.#context.log.error({ runId: run.id, code: codeOf(error) }, 'a run could not be prepared');
      return HISTORY_UNREADABLE;
    }
  }

  /**
   * A process that is not on record is still found by its environment, so a failure here stops nothing, but for a run
   * that is begun once: without the record nobody would know that it had begun.
   */
  async #recordProcess(run: AgentRun, mark: Parameters<RunnerOptions['onProcess']>[0]): Promise<void> {
    try {
      await this.#context.storage.recordProcess(run.id, mark);
    } catch (error) {
      this.#context.log.warn(
        { runId: run.id, code: codeOf(error) },
        'the process of a run could not be stored',
      );
      if (isBegunOnce(run, this.#context.configuration().settings)) throw error;
    }
  }

  /** Logs how a turn ended. A failure is a warning with the first line of its reason: an agent may have written the rest. */
  async #tell(
    run: AgentRun,
    result: TurnResult,
    { runner, tookMs }: { readonly runner: string; readonly tookMs: number },
  ): Promise<void> {
    const { mappingId } = run.action.origin;
    const { alerts, configuration, log, metrics } = this.#context;
    const hasChannels = Object.keys(configuration().settings.channels).length > 0;
    const { what, isWell, said, code, reason } = reportOf(result, !run.action.deliver || hasChannels);
    const { id: runId } = run;
    const ended = result.kind === 'completed' ? result : undefined;
    const hint =
      ended === undefined || ended.outcome === 'ok'
        ? undefined
        : await this.#context.advise({
            ...run,
            outcome: ended.outcome,
            reply: ended.reply,
            ...defined({ lastError: ended.error }),
          });
    // The hint says why, where there is one; what a program wrote is not for the log.
    const pointer = isWell || hint !== undefined ? '' : '; sluice explain with its runId says why';
    // An attempt of a run that waits for its agent does not count.
    const attempt = this.#isHeld(result) ? undefined : run.attempts;
    log[isWell ? 'info' : 'warn'](
      { runId, mappingId, runner, attempt, result: what, code, reason, tookMs, hint },
      `${said}${pointer}`,
    );
    if (ended?.note !== undefined) log.warn({ runId, mappingId, runner }, ended.note);
    metrics?.observeRun({ runner, mappingId, result: what, ...defined({ tookMs: ended && tookMs }) });
    if (ended?.usage !== undefined)
      metrics?.observeTokens({ runner, turn: 'hook', mappingId, usage: ended.usage });
    const subjects = subjectsOf(runner, mappingId);
    if (isWell) for (const subject of subjects) alerts.worked(subject);
    else alerts.failed(subjects, `${code ?? what}: ${reason ?? 'no reason'}`);
  }

  async #complete(run: AgentRun, result: CompletedTurn, { settings }: GatewayConfiguration): Promise<void> {
    const nowMs = this.#context.now();
    const ending = completedEnding(run.id, result);
    const made = makeCompletion(run, { result, ending, nowMs }, settings);
    const completion =
      made.delivery === undefined
        ? made
        : { ...made, delivery: await pinTarget(made.delivery, settings, this.#context.storage) };
    await this.#persist(run, 'completion', () => this.#context.storage.completeRun(completion));
    this.#waiters.settle(ending);
  }

  /** The policy of a run, with at least as many attempts as `retry` of its mapping allows. */
  #policyOf({ action }: AgentRun): RetryPolicy {
    const { runs } = this.#context.retry;
    return { ...runs, maxAttempts: Math.max(runs.maxAttempts, action.retry?.attempts ?? 0) };
  }

  /** The run has failed, and its mapping says that it may act once more. */
  async #retry(run: AgentRun, result: CompletedTurn, { runner }: RunTarget): Promise<void> {
    const { outcome, reply, error = NO_REASON } = result;
    const { delaySeconds = 0 } = run.action.retry ?? {};
    const retryAt = this.#context.now() + delaySeconds * 1000;
    const how = { retryAt, hasBegun: true, ended: { outcome, reply }, runner, ...usageOf(result) };
    await this.#requeue(run, error, how);
    const { mappingId } = run.action.origin;
    this.#context.log.info({ runId: run.id, mappingId, delaySeconds }, 'the failed run is tried again');
  }

  async #repeat(run: AgentRun, result: UnstartedTurn, target: RunTarget): Promise<void> {
    const { code, message, final, retryAfterMs, affects } = result;
    if (affects !== undefined && this.#isHeld(result)) {
      return this.#hold(run, target, { code, message, affects, retryAfterMs });
    }
    const decision = decideRepeat(this.#policyOf(run), run.attempts, {
      final,
      random: this.#context.random(),
      retryAfterMs,
    });
    if (decision.kind === 'give-up') return void (await this.#giveUp(run, { code, message }));
    await this.#requeue(run, { code, message }, { retryAt: this.#context.now() + decision.delayMs });
  }

  #isHeld(result: TurnResult): boolean {
    const { holdHours } = this.#context.configuration().settings.gateway;
    return result.kind === 'not-started' && result.affects !== undefined && !result.final && holdHours > 0;
  }

  /** Lets the run wait at its place, for hours, as its agent is away. */
  async #hold(run: AgentRun, target: RunTarget, reason: HoldReason): Promise<void> {
    const { holds, now } = this.#context;
    const hold = await holds.hold(target, reason);
    const { code, message } = reason;
    const { holdHours } = this.#context.configuration().settings.gateway;
    if (now() - Math.max(hold.since, run.acceptedAt) >= holdHours * HOUR_MS) {
      // The next in the queue has probably waited as long.
      holds.retryNow();
      await this.#giveUp(run, { code, message: `${message} (it was waited for, ${holdHours} hours)` });
      return;
    }
    await this.putBack(run, { code, message }, hold.model === undefined ? now() : hold.retryAt);
  }

  async #requeue(
    run: AgentRun,
    { code, message }: RunError,
    how: Pick<AttemptFailure, 'retryAt' | 'isDelayed' | 'hasBegun' | 'ended' | 'usage' | 'runner'>,
  ): Promise<void> {
    const nowMs = this.#context.now();
    await this.#persist(run, 'next attempt', () =>
      this.#context.storage.requeueRun(run.id, { code, message, nowMs, ...how }),
    );
  }

  async #giveUp(
    run: AgentRun,
    error: RunError,
    used: Pick<RunDeadLetter, 'usage' | 'runner'> = {},
  ): Promise<boolean> {
    const { ending, deadLetter } = deadEnding(run, error, this.#context.now());
    const isDone = await this.#persist(run, 'end', () =>
      this.#context.storage.deadLetterRun(run.id, { ...deadLetter, ...used }),
    );
    // A run that had not begun was approved or given up meanwhile.
    if (!isDone && run.state !== 'active') return false;
    const { mappingId } = run.action.origin;
    const { runner } = targetOf(run.action, this.#context.configuration().settings);
    this.#context.metrics?.observeRun({ runner, mappingId, result: 'dead' });
    const { code, message } = shownError(error);
    const pointer = code === RUN_ENDED_BY_CRASH.code ? BEGUN_BY_HAND : '';
    this.#context.log.error(
      { runId: run.id, mappingId, runner, code, reason: message },
      `run given up${pointer}`,
    );
    this.#waiters.settle(ending);
    return isDone;
  }

  #persist<T>(run: AgentRun, what: string, write: () => Promise<T>): Promise<T> {
    return persist(this.#context, { what: `${what} of run ${run.id}`, signal: this.#cutOff.ended }, write);
  }
}

const usageOf = (result: TurnResult): Pick<CompletedTurn, 'usage'> =>
  result.kind === 'completed' && result.usage !== undefined ? { usage: result.usage } : {};

/** What follows from the run names its span, in place of that of its request. */
const tracedAction = (action: AgentRun['action'], { traceparent }: TracedRun): AgentRun['action'] => ({
  ...action,
  origin: { ...action.origin, ...defined({ traceparent }) },
});

function endOf(result: TurnResult): Parameters<TracedRun['end']>[0] {
  if (result.kind === 'not-started') return { result: result.kind, failure: result.code };
  const { outcome, error, usage } = result;
  const hasFailed = outcome === 'error' || outcome === 'timeout';
  return { result: outcome, failure: hasFailed ? (error?.code ?? outcome) : undefined, usage };
}

/** Whether a run that failed has an attempt left, as its mapping says. */
const hasRetryLeft = ({ action: { retry }, attempts }: AgentRun, result: CompletedTurn): boolean =>
  retry !== undefined && attempts < retry.attempts && isRetried(retry, result);
