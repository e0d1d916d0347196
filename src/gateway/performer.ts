import {
  removeWorkspaces,
  endProcessTree,
  type RunnerOptions,
  type Turn,
  type TurnResult,
} from '../runners/runners.ts';
import { makeCompletion } from './completion.ts';
import { boundHistory } from './history.ts';
import { codeOf } from '../telemetry/telemetry.ts';
import { persist } from './persist.ts';
import type { GatewayConfiguration, GatewayContext } from './gateway-context.ts';
import { decideRepeat } from './retry.ts';
import { completedEnding, deadEnding, type RunError } from './run-ending.ts';
import { RunWaiters } from './run-waiters.ts';
import { takeTurn } from './take-turn.ts';
import { pinTarget } from './delivery-target.ts';
import { within } from '../timers/timers.ts';
import type { RunRecord } from '../storage/storage.ts';

/** Processes of an interrupted run get this long between SIGTERM and SIGKILL. */
const RECOVERY_GRACE_MS = 1_000;

type NotStarted = Extract<TurnResult, { readonly kind: 'not-started' }>;
type Completed = Extract<TurnResult, { readonly kind: 'completed' }>;

export interface RunCounters {
  ok: number;
  error: number;
  timeout: number;
  dead: number;
  repeated: number;
}

/** Claims runs, as many in parallel as the settings allow, and brings each to its end or its next attempt. */
export class Performer {
  readonly #context: GatewayContext;
  readonly #active = new Map<string, Promise<void>>();
  readonly #abort = new AbortController();
  readonly waiters = new RunWaiters();
  readonly counters: RunCounters = { ok: 0, error: 0, timeout: 0, dead: 0, repeated: 0 };

  constructor(context: GatewayContext) {
    this.#context = context;
  }

  get active(): number {
    return this.#active.size;
  }

  /** Ends what a process that died left running, and puts its runs back into their lines. */
  async recover(): Promise<number> {
    const runs = await this.#context.storage.findInterruptedRuns();
    await removeWorkspaces(runs.map((run) => run.id));
    await Promise.all(
      runs.map(async (run) => {
        const { pgid, startTicks } = run.process ?? {};
        const mark = pgid === undefined || startTicks === undefined ? {} : { pgid, startTicks };
        const ended = await endProcessTree({ runId: run.id, own: false, ...mark }, RECOVERY_GRACE_MS);
        if (!ended)
          this.#context.log.error({ runId: run.id }, 'processes of an interrupted run could not be ended');
        await this.#interrupt(run);
      }),
    );
    return runs.length;
  }

  /** Claims what is due and there is room for. */
  async claim(): Promise<void> {
    const { gateway } = this.#context.configuration().settings;
    const limit = gateway.maxRuns - this.#active.size;
    if (limit <= 0) return;
    const maxPerMapping = gateway.maxRunsPerMapping;
    const runs = await this.#context.storage.claimRuns({
      nowMs: this.#context.now(),
      limit,
      ...(maxPerMapping === undefined ? {} : { maxPerMapping }),
      ...runnerLimits(this.#context.configuration()),
    });
    for (const run of runs) this.#begin(run);
  }

  /** Waits for the active runs; those left after the grace are ended, recorded as interrupted and put back. */
  async stop(graceMs: number): Promise<void> {
    await within(this.#settled(), graceMs);
    this.#abort.abort();
    await this.#settled();
    this.waiters.stop();
  }

  /** Ends the grace of a stop that is under way. */
  abort(): void {
    this.#abort.abort();
  }

  async #settled(): Promise<void> {
    await Promise.all(this.#active.values());
  }

  #begin(run: RunRecord): void {
    const done = this.#perform(run)
      .catch((error: unknown) => {
        // Only storing failed, and the service stops: the run is active on disk and recovered at the next start.
        this.#context.log.error({ runId: run.id, code: codeOf(error) }, 'a run was left to the next start');
      })
      .finally(() => {
        this.#active.delete(run.id);
        this.#context.wake();
      });
    this.#active.set(run.id, done);
  }

  async #perform(run: RunRecord): Promise<void> {
    const configuration = this.#context.configuration();
    const startedAt = performance.now();
    const result = await this.#takeTurn(run, configuration);
    const tookMs = Math.round(performance.now() - startedAt);
    const isOk = result.kind === 'completed' && result.outcome === 'ok';
    if (this.#abort.signal.aborted && !isOk) return this.#interrupt(run);
    const { mappingId } = run.action.origin;
    const code = result.kind === 'completed' ? result.error?.code : result.code;
    this.#context.log.info(
      { runId: run.id, mappingId, attempt: run.attempts, result: describe(result), code, tookMs },
      'run performed',
    );
    if (result.kind === 'completed') await this.#complete(run, result, configuration);
    else await this.#repeat(run, result);
  }

  async #takeTurn(run: RunRecord, { settings, runners }: GatewayConfiguration): Promise<TurnResult> {
    const name = run.action.runner ?? settings.gateway.runner;
    const runner = runners.get(name);
    if (runner === undefined) {
      const message = `runner ${name} is not configured: add gateway.runners.${name}`;
      return { kind: 'not-started', code: 'not_configured', message, final: false };
    }
    try {
      const turn = await this.#makeTurn(run, settings);
      return await takeTurn(runner, turn, {
        signal: this.#abort.signal,
        onProcess: (mark) => this.#recordProcess(run, mark),
      });
    } catch (error) {
      const message = 'the earlier turns of the session could not be read';
      this.#context.log.error({ runId: run.id, code: codeOf(error) }, 'a run could not be prepared');
      return { kind: 'not-started', code: 'storage_unavailable', message, final: false };
    }
  }

  async #makeTurn(run: RunRecord, settings: GatewayConfiguration['settings']): Promise<Turn> {
    const { action } = run;
    const history = action.oneShot ? [] : await this.#context.storage.findHistory(action.sessionKey);
    const model = action.model ?? settings.agents.defaults.model;
    return {
      runId: run.id,
      kind: 'hook',
      attempt: run.attempts,
      sessionKey: action.sessionKey,
      name: action.name,
      prompt: action.prompt,
      message: action.message,
      ...(model === undefined ? {} : { model }),
      ...(action.thinking === undefined ? {} : { thinking: action.thinking }),
      timeoutSeconds: action.timeoutSeconds ?? settings.agents.defaults.timeoutSeconds,
      history: boundHistory(history, settings.gateway.sessions),
    };
  }

  /** A process that is not on record is still found by its environment, so a failure here stops nothing. */
  async #recordProcess(run: RunRecord, mark: Parameters<RunnerOptions['onProcess']>[0]): Promise<void> {
    try {
      await this.#context.storage.recordProcess(run.id, mark);
    } catch (error) {
      this.#context.log.warn({ runId: run.id, code: codeOf(error) }, 'a process could not be put on record');
    }
  }

  async #complete(run: RunRecord, result: Completed, { settings }: GatewayConfiguration): Promise<void> {
    const nowMs = this.#context.now();
    const ending = completedEnding(run.id, result);
    const made = makeCompletion(run, { result, ending, nowMs }, settings);
    const completion =
      made.delivery === undefined
        ? made
        : { ...made, delivery: await pinTarget(made.delivery, settings, this.#context.storage) };
    await this.#persist(run, 'completion', () => this.#context.storage.completeRun(completion));
    this.counters[result.outcome] += 1;
    this.waiters.settle(ending);
  }

  async #repeat(run: RunRecord, result: NotStarted): Promise<void> {
    const { code, message, final, retryAfterMs } = result;
    const decision = decideRepeat(this.#context.retry.runs, run.attempts, {
      final,
      random: this.#context.random(),
      retryAfterMs,
    });
    if (decision.kind === 'give-up') return this.#giveUp(run, { code, message });
    await this.#requeue(run, { code, message }, decision.delayMs);
  }

  /** Our process ended, or is about to: nobody knows how far the run got, so it may be repeated. */
  async #interrupt(run: RunRecord): Promise<void> {
    const error = { code: 'interrupted', message: 'the service ended while the run was active' };
    const decision = decideRepeat(this.#context.retry.runs, run.attempts, { random: 0 });
    if (decision.kind === 'give-up') return this.#giveUp(run, error);
    // At once: a delay would let later runs of the same key overtake.
    await this.#requeue(run, error, 0);
  }

  async #requeue(run: RunRecord, error: RunError, delayMs: number): Promise<void> {
    const nowMs = this.#context.now();
    await this.#persist(run, 'next attempt', () =>
      this.#context.storage.requeueRun(run.id, { ...error, retryAt: nowMs + delayMs, nowMs }),
    );
    this.counters.repeated += 1;
  }

  async #giveUp(run: RunRecord, error: RunError): Promise<void> {
    const { ending, deadLetter } = deadEnding(run, error, this.#context.now());
    await this.#persist(run, 'end', () => this.#context.storage.deadLetterRun(run.id, deadLetter));
    this.counters.dead += 1;
    this.waiters.settle(ending);
  }

  async #persist(run: RunRecord, what: string, write: () => Promise<unknown>): Promise<void> {
    await persist(this.#context, { what: `${what} of run ${run.id}`, signal: this.#abort.signal }, write);
  }
}

function describe(result: TurnResult): string {
  return result.kind === 'completed' ? result.outcome : result.kind;
}

/** Limits per runner name; runs without a name of their own count as the default runner's. */
function runnerLimits({ settings: { gateway } }: GatewayConfiguration): {
  readonly maxPerRunner?: ReadonlyMap<string, number>;
  readonly defaultRunner?: string;
} {
  const limits = new Map<string, number>();
  for (const [name, { maxRuns }] of Object.entries(gateway.runners)) {
    if (maxRuns !== undefined) limits.set(name, maxRuns);
  }
  return limits.size === 0 ? {} : { maxPerRunner: limits, defaultRunner: gateway.runner };
}
