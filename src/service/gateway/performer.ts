import { defined } from '../../base/json.ts';
import { endLeftTurn } from '../runners/runners.ts';
import { RUN_ENDED_BY_CRASH } from './after-crash.ts';
import { UnderWay } from './cut-off.ts';
import type { GatewayContext } from './gateway-context.ts';
import { RunAttempts } from './run-attempts.ts';
import { targetOf, withJoinedEvents } from './run-turn.ts';
import { WorkerRuns } from './worker-runs.ts';
import type { RunEnding } from './run-ending.ts';
import { Waiters } from './waiters.ts';
import { type AgentRun, SUPERSEDED } from '../../engine/storage/storage.ts';

/** A run whose process died this often is tried alone, so that another crash tells whether it is to blame. */
const CRASHES_UNTIL_ALONE = 2;
const UNBEGUN_EVERY_MS = 500;

interface ActiveRun {
  readonly runner: string;
  readonly done: Promise<void>;
  readonly cancelled: AbortController;
  /** Another event may end its conversation. */
  readonly isConversing: boolean;
}

/** Claims runs, as many in parallel as the settings allow, and brings each to its end or its next attempt. */
export class RunPerformer extends UnderWay<ActiveRun> {
  readonly #context: GatewayContext;
  readonly #attempts: RunAttempts;
  readonly waiters = new Waiters<RunEnding>();
  /** The runs that other machines ask for. */
  readonly workers: WorkerRuns;
  /** True while a run that may have crashed the process waits until it is alone: nothing else is claimed. */
  #isDraining = false;
  #nextUnbegunAt = 0;
  #nextCutOffAt = 0;

  constructor(context: GatewayContext) {
    super();
    this.#context = context;
    this.#attempts = new RunAttempts(context, { waiters: this.waiters, cutOff: this });
    this.workers = new WorkerRuns(context, this.#attempts);
  }

  /** Ends what a process that died left running, and puts its runs back into their queues. */
  async afterCrash(runs: readonly AgentRun[]): Promise<void> {
    await Promise.all(runs.map((run) => this.#endLeft(run)));
  }

  async #endLeft(run: AgentRun): Promise<void> {
    if (!(await endLeftTurn(run.id, run.process)))
      this.#context.log.error({ runId: run.id }, 'processes of an interrupted run could not be ended');
    await this.#attempts.afterCrash(run);
  }

  /** Ends the runs that will not begin, such as those that nobody has approved in time. */
  async endUnbegun(): Promise<void> {
    const { storage, now } = this.#context;
    if (performance.now() < this.#nextUnbegunAt) return;
    this.#nextUnbegunAt = performance.now() + UNBEGUN_EVERY_MS;
    for (const run of await storage.findUnbegun(now())) await this.#attempts.endUnbegun(run);
  }

  /** Ends the turns under way here whose conversation has ended. */
  async cutOffEnded(): Promise<void> {
    const ids = [...this.tasks].flatMap(([id, { isConversing }]) => (isConversing ? [id] : []));
    if (ids.length === 0 || performance.now() < this.#nextCutOffAt) return;
    this.#nextCutOffAt = performance.now() + UNBEGUN_EVERY_MS;
    this.cancel(await this.#context.storage.findCutOff(ids), SUPERSEDED.code);
  }

  /** Claims due runs, as many as there are free places; resolves to how many they are. */
  async claim(): Promise<number> {
    const configuration = this.#context.configuration();
    const { maxRuns } = configuration.settings.gateway;
    const free = maxRuns - this.tasks.size;
    if (free <= 0 || (this.#isDraining && this.tasks.size > 0)) return 0;
    const { limits, settings } = configuration;
    const { runner: defaultRunner, runners } = settings.gateway;
    // Runs without a runner of their own count as the default runner's.
    const maxPerRunner = new Map(
      this.#context.holds.limits(
        (name) => [...this.tasks.values()].filter(({ runner }) => runner === name).length,
      ),
    );
    for (const [name, { kind, maxRuns: ofRunner = Infinity }] of Object.entries(runners)) {
      // Workers ask for their runs.
      const most = kind === 'worker' ? 0 : ofRunner;
      const limit = Math.min(most, maxPerRunner.get(name) ?? Infinity);
      if (limit !== Infinity) maxPerRunner.set(name, limit);
    }
    const { signal } = this;
    const runs = await this.#context.storage.claimRuns({
      nowMs: this.#context.now(),
      limit: this.#isDraining ? 1 : free,
      ...defined({ limits }),
      defaultRunner,
      ...(maxPerRunner.size > 0 && { maxPerRunner }),
    });
    // The lease was lost meanwhile: nobody begins them, so they are taken over like any others.
    if (signal.aborted) return 0;
    this.#isDraining = false;
    await this.#beginAll(runs);
    return runs.length;
  }

  /** Begins runs. One that may have crashed the process begins only alone, else it is put back until the others end. */
  async #beginAll(runs: readonly AgentRun[]): Promise<void> {
    const suspects = runs.filter(isSuspect);
    const isAlone = this.tasks.size === 0 && runs.length === 1;
    if (suspects.length === 0 || isAlone) {
      this.#isDraining = suspects.length > 0;
      for (const run of runs) this.#begin(run);
      return;
    }
    for (const run of runs) if (!isSuspect(run)) this.#begin(run);
    this.#isDraining = true;
    for (const run of suspects) await this.#attempts.putBack(run, RUN_ENDED_BY_CRASH);
  }

  /** Waits for the active runs; those left after the grace are ended, recorded as interrupted and put back. */
  override async stop(graceMs: number): Promise<void> {
    await Promise.all([super.stop(graceMs), this.workers.stop()]);
    this.waiters.stop();
  }

  /** Ends the turns of these runs; returns how many of them were under way. */
  cancel(runIds: readonly string[], reason = 'cancelled'): number {
    const found = runIds.flatMap((id) => this.tasks.get(id) ?? []);
    for (const { cancelled } of found) cancelled.abort(reason);
    return found.length;
  }

  #begin(claimed: AgentRun): void {
    const run = withJoinedEvents(claimed);
    const cancelled = new AbortController();
    const performed = this.#attempts.perform(run, cancelled.signal);
    const done = this.follow(performed, this.#context, {
      id: run.id,
      what: 'a run',
      fields: { runId: run.id },
    });
    const { runner } = targetOf(run.action, this.#context.configuration().settings);
    const isConversing = run.action.conversation !== undefined;
    this.tasks.set(run.id, { runner, done, cancelled, isConversing });
  }
}

/** Whether a claimed run may be what ended the process: it was under way each time. */
function isSuspect({ attempts, lastError }: AgentRun): boolean {
  return attempts > CRASHES_UNTIL_ALONE && lastError?.code === RUN_ENDED_BY_CRASH.code;
}
