import {
  type CompletedTurn,
  failedTurn,
  notStarted,
  type RunnerOptions,
  type TurnResult,
} from '../runners/runners.ts';
import { defined } from '../../base/json.ts';
import {
  type AgentRun,
  type AttemptFailure,
  NO_CONVERSATION,
  SUPERSEDED,
} from '../../engine/storage/storage.ts';
import { codeOf } from '../../base/telemetry/telemetry.ts';
import {
  BEGUN_BY_HAND,
  crashOf,
  ENDED_BEFORE,
  RUN_ENDED_BY_CRASH,
  type Used,
  withCost,
} from './after-crash.ts';
import type { CutOff } from './cut-off.ts';
import { makeCompletion } from './completion.ts';
import { pinTarget } from './delivery-target.ts';
import type { GatewayConfiguration } from './gateway-base.ts';
import type { GatewayContext } from './gateway-context.ts';
import { delayOfRepeat, isRetried, type RetryPolicy, persist } from './retry.ts';
import { completedEnding, deadEnding, type RunEnding, type RunError, unbegunEnding } from './run-ending.ts';
import { shownError, subjectsOf, reportOf } from './summary.ts';
import type { Waiters } from './waiters.ts';
import type { HoldReason, RunTarget } from './runner-holds.ts';
import { attemptOf, endedFor, tracedAction, tracedEnd, usageOf } from './turn-end.ts';
import { makeRunTurn, takeTurn, targetOf, unknownRunner } from './run-turn.ts';

const HOUR_MS = 3_600_000;
const NO_REASON: RunError = { code: 'error', message: 'the turn failed' };
const UNANSWERED: RunError = { code: 'not_approved', message: 'nobody approved the run in time' };
const DENIED: RunError = { code: 'denied', message: 'the run was denied' };
const MODEL_AWAY: RunError = { code: 'held', message: 'its model cannot take runs at present' };

interface AttemptParts {
  readonly waiters: Waiters<RunEnding>;
  /** Ends turns after the grace of a stop, and where another process may have the run. */
  readonly cutOff: CutOff;
}

interface TurnEnd {
  readonly tookMs?: number | undefined;
  /** Why the turn was to end: `cancelled`, `timeout` or `superseded`; absent where it ended by itself. */
  readonly end?: string | undefined;
}

/** Makes one attempt at a claimed run, from its turn to what is stored. */
export class RunAttempts {
  readonly #context: GatewayContext;
  readonly #waiters: Waiters<RunEnding>;
  readonly #cutOff: CutOff;

  constructor(context: GatewayContext, { waiters, cutOff }: AttemptParts) {
    this.#context = context;
    this.#waiters = waiters;
    this.#cutOff = cutOff;
  }

  /** Resolves when the run has ended or waits for its next attempt. */
  async perform(claimed: AgentRun, cancelled: AbortSignal): Promise<void> {
    const configuration = this.#context.configuration();
    const target = targetOf(claimed.action, configuration.settings);
    if (await this.isPutOff(claimed, target)) return;
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
    const end = cancelled.aborted ? (cancelled.reason as string) : undefined;
    traced?.end(tracedEnd(endedFor(end, ended)));
    if (signal.aborted && end === undefined && !isOk) return this.#interrupted(run, ended, target);
    await this.settle(run, ended, { tookMs: Math.round(performance.now() - startedAt), end });
  }

  /** Gives a claimed run up that nobody approved, or puts it back where its model is on hold. */
  async isPutOff(run: AgentRun, target: RunTarget): Promise<boolean> {
    const isRefused = run.approval !== undefined && run.approval.decision !== 'approved';
    if (isRefused) await this.endUnbegun(run);
    const putBackUntil = isRefused ? undefined : this.#context.holds.putBackUntil(target);
    if (putBackUntil !== undefined) await this.putBack(run, MODEL_AWAY, putBackUntil);
    return isRefused || putBackUntil !== undefined;
  }

  /** The worker that had the run began it, and does not know how it ended. */
  async lost(run: AgentRun): Promise<void> {
    await this.#crashed(run, this.#crashOf(run).used);
  }

  /** Brings about what follows from a turn that ended; `end` is why it was to end, and counts where it did not end well. */
  async settle(run: AgentRun, ended: TurnResult, { tookMs, end }: TurnEnd): Promise<void> {
    const configuration = this.#context.configuration();
    const target = targetOf(run.action, configuration.settings);
    const result = endedFor(end, ended);
    // The end of a conversation is nobody's failure.
    if (end === SUPERSEDED.code && result !== ended) this.#tellSuperseded(run);
    else await this.#tell(run, result, { runner: target.runner, tookMs });
    if (result.kind === 'not-started') await this.#repeat(run, result, target);
    else if (end === undefined && isRetried(run, result)) await this.#retry(run, result, target);
    else await this.#complete(run, result, configuration);
  }

  /** Ends a run that will not begin: not approved in time, denied, superseded, or without a conversation. */
  async endUnbegun(run: AgentRun): Promise<void> {
    const { approval, lastError } = run;
    const { decision, by } = approval ?? {};
    // Whether the conversation has ended, or none came.
    const without = [SUPERSEDED.code, NO_CONVERSATION].some((code) => code === lastError?.code);
    if (approval !== undefined && decision !== 'approved' && !without) {
      const denied = { ...DENIED, message: `${DENIED.message} (by ${by})` };
      return void (await this.#giveUp(run, decision === undefined ? UNANSWERED : denied));
    }
    const error = lastError?.code === NO_CONVERSATION ? lastError : SUPERSEDED;
    const { ending, deadLetter } = unbegunEnding(run, error, this.#context.now());
    const isDone = await this.#persist(run, 'end', () =>
      this.#context.storage.endUnbegun(run.id, deadLetter),
    );
    if (!isDone) return;
    if (error.code === SUPERSEDED.code) this.#tellSuperseded(run);
    this.#waiters.settle(ending.runId, ending);
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
    if (hasBegun && (!this.#cutOff.ended.aborted || this.#crashOf(run).isOnce))
      return this.#crashed(run, used);
    const how = { retryAt: this.#context.now(), isDelayed: true, hasBegun, ...used };
    await this.#requeue(run, hasBegun ? withCost(RUN_ENDED_BY_CRASH, how) : ENDED_BEFORE, how);
  }

  /** Decides about a run whose process died, perhaps because of it, or whose worker is not heard of any more. */
  async afterCrash(left: AgentRun): Promise<void> {
    // The run is ended by this process now, and not by its worker, which may still try later.
    const { carried, ...run } = left;
    const crash = this.#crashOf(left);
    const { isOnce, mayHaveBegun, used } = crash;
    if (carried?.end !== undefined)
      return this.settle(run, { ...failedTurn('', ''), ...used }, { end: carried.end });
    if (isOnce && !mayHaveBegun) return this.putBack(run, ENDED_BEFORE);
    await this.#crashed(run, used, crash);
  }

  #crashOf(run: AgentRun): ReturnType<typeof crashOf> {
    return crashOf(run, this.#context.configuration().settings);
  }

  async #crashed(run: AgentRun, used: Used, { why, isOnce } = this.#crashOf(run)): Promise<void> {
    const error = withCost(why, used);
    const { maxAttempts } = this.#policyOf(run);
    // The repeat is due at once: with a delay later runs of the same key would overtake it.
    if (!isOnce && run.attempts < maxAttempts)
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
      return notStarted('not_configured', `the folder ${folder} is not in gateway.workFolders`);
    try {
      const { storage, keysUrl } = this.#context;
      const turn = await makeRunTurn(run, runner, { settings, storage, keysUrl });
      if (options.signal.aborted) return notStarted(ENDED_BEFORE.code, ENDED_BEFORE.message);
      return await takeTurn(runner, turn, options);
    } catch (error) {
      this.#context.log.error({ runId: run.id, code: codeOf(error) }, 'a run could not be prepared');
      return notStarted('storage_unavailable', 'the earlier turns of the session could not be read');
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
      if (this.#crashOf(run).isOnce) throw error;
    }
  }

  /** Logs how a turn ended. A failure is a warning with the first line of its reason: an agent may have written the rest. */
  async #tell(
    run: AgentRun,
    result: TurnResult,
    { runner, tookMs }: { readonly runner: string; readonly tookMs: number | undefined },
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
    const isDone = await this.#persist(run, 'completion', () =>
      this.#context.storage.completeRun({ ...completion, ...attemptOf(run) }),
    );
    if (!isDone && run.carried !== undefined) return;
    this.#waiters.settle(ending.runId, ending);
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

  async #repeat(
    run: AgentRun,
    result: Extract<TurnResult, { kind: 'not-started' }>,
    target: RunTarget,
  ): Promise<void> {
    const { code, message, final, retryAfterMs, affects } = result;
    if (affects !== undefined && this.#isHeld(result)) {
      return this.#hold(run, target, { code, message, affects, retryAfterMs });
    }
    const random = this.#context.random();
    const delayMs = delayOfRepeat(this.#policyOf(run), run.attempts, { final, random, retryAfterMs });
    if (delayMs === undefined) return void (await this.#giveUp(run, { code, message }));
    await this.#requeue(run, { code, message }, { retryAt: this.#context.now() + delayMs });
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
      this.#context.storage.requeueRun(run.id, { code, message, nowMs, ...how, ...attemptOf(run) }),
    );
  }

  async #giveUp(run: AgentRun, error: RunError, used: Used = {}): Promise<boolean> {
    const { ending, deadLetter } = deadEnding(run, error, this.#context.now());
    const isDone = await this.#persist(run, 'end', () =>
      this.#context.storage.deadLetterRun(run.id, { ...deadLetter, ...used, ...attemptOf(run) }),
    );
    // A run that had not begun was approved or given up meanwhile, or another worker has begun it.
    if (!isDone && (run.state !== 'active' || run.carried !== undefined)) return false;
    const { mappingId } = run.action.origin;
    const { runner } = targetOf(run.action, this.#context.configuration().settings);
    this.#context.metrics?.observeRun({ runner, mappingId, result: 'dead' });
    const { code, message } = shownError(error);
    const pointer = code === RUN_ENDED_BY_CRASH.code ? BEGUN_BY_HAND : '';
    this.#context.log.error(
      { runId: run.id, mappingId, runner, code, reason: message },
      `run given up${pointer}`,
    );
    this.#waiters.settle(ending.runId, ending);
    return isDone;
  }

  #persist<T>(run: AgentRun, what: string, write: () => Promise<T>): Promise<T> {
    return persist(this.#context, { what: `${what} of run ${run.id}`, signal: this.#cutOff.ended }, write);
  }
}
