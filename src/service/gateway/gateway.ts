import { randomUUID } from 'node:crypto';
import type { WorkerQuestion } from '../runners/runners.ts';
import type { AgentRun, Storage } from '../../engine/storage/storage.ts';
import {
  codeOf,
  createHealth,
  type GatewayMetrics,
  type HealthReporter,
  type Log,
  type Tracing,
} from '../../base/telemetry/telemetry.ts';
import { armTimer, within, WorkLoop } from '../../base/timers/timers.ts';
import { Alerts, type AlertSubject } from './alerts.ts';
import { createSchedulingClock, systemClock, type Clock, type SchedulingClock } from './clock.ts';
import { Heartbeat } from './heartbeat.ts';
import { Outbox } from './outbox/outbox.ts';
import type { GatewayBase, GatewayConfiguration, RetryPolicies } from './gateway-base.ts';
import type { GatewayContext } from './gateway-context.ts';
import { RunPerformer } from './performer.ts';
import { StartChecks } from './start-checks.ts';
import { LimitWatch } from './limit-watch.ts';
import { RunnerHolds } from './runner-holds.ts';
import { HEARTBEAT_RETRY, HOLD_RETRY, MAX_RETRY_AFTER_MS, OUTBOX_RETRY, RUN_RETRY } from './retry.ts';
import { storedEnding, type RunEnding } from './run-ending.ts';

export type { Clock } from './clock.ts';
export type { GatewayConfiguration, RetryPolicies } from './gateway-base.ts';
export type { RetryPolicy } from './retry.ts';
export { sendChunks, type DeliveryResult } from './outbox/delivery.ts';
export { dropEnding, type RunEnding } from './run-ending.ts';
export { defaultModelOf } from './run-turn.ts';
export { resolveTarget, type ResolvedTarget } from './delivery-target.ts';

/** The gateway looks for due work this often even where nobody says that there is some. */
const IDLE_MS = 1_000;
/** News of other processes within this time lead to one look: busy processes send them all the time. */
const OUTSIDE_MS = 50;
/** How long the last messages to the operator may take when the service stops. */
const ALERTS_GRACE_MS = 5_000;
/**
 * No due time lies further ahead than the longest honoured delay, but for a debounce; one that does was stored by a
 * clock set back since.
 */
const MAX_AHEAD_MS = MAX_RETRY_AFTER_MS + 60_000;

const RETRIES: RetryPolicies = {
  runs: RUN_RETRY,
  outbox: OUTBOX_RETRY,
  heartbeat: HEARTBEAT_RETRY,
  holds: HOLD_RETRY,
};

export interface GatewayOptions {
  readonly storage: Storage;
  readonly configuration: GatewayConfiguration;
  readonly log: Pick<Log, 'info' | 'warn' | 'error'>;
  readonly clock?: Clock;
  /** Fresh unguessable ids for turns and boundaries; default random UUIDs. */
  readonly nonce?: () => string;
  /** Numbers in [0, 1) for jitter; default Math.random. */
  readonly random?: () => number;
  readonly retry?: Partial<RetryPolicies>;
  /** Where runners that are away are reported; default: the log only. */
  readonly health?: HealthReporter;
  readonly metrics?: GatewayMetrics;
  /** Absent where no SDK of OpenTelemetry is registered. */
  readonly tracing?: Tracing;
  /** Where agents on this machine add keys to their conversations: known when the service listens. Default: nowhere. */
  readonly keysUrl?: Promise<string | undefined>;
  /** What to write where a run failed, for the log; default: nothing is known. */
  readonly advise?: (run: AgentRun) => Promise<string | undefined>;
  /** False where other processes perform and this one only waits for what becomes of runs; default true. */
  readonly performs?: boolean;
}

/**
 * Turns stored actions into effects: runs, then their deliveries and callbacks, and the main session's heartbeat. One
 * loop looks for what is due; everything it begins runs in parallel with it. All state is in the store, so that it may
 * be killed at any time.
 */
export class Gateway {
  readonly #storage: Storage;
  readonly #log: GatewayOptions['log'];
  readonly #clock: SchedulingClock;
  readonly #performer: RunPerformer;
  readonly #checks: StartChecks;
  readonly #outbox: Outbox;
  readonly #heartbeat: Heartbeat;
  readonly #parts: readonly Pick<RunPerformer, 'abort' | 'lapse' | 'stop'>[];
  readonly #holds: RunnerHolds;
  readonly #alerts: Alerts;
  readonly #limits: LimitWatch;
  readonly #loop: WorkLoop;
  readonly #performs: boolean;
  #configuration: GatewayConfiguration;
  #started: Promise<void> | undefined;
  #stopped: Promise<void> | undefined;
  #isLeader = false;
  /** True where the last look has begun runs. */
  #isBusy = false;
  /** Ends the wait for the next look at what others have changed. */
  #outside: (() => void) | undefined;
  /** When it last looked at what others have changed; monotonic. */
  #outsideAt = -Infinity;
  /** When it looks again for other processes that are gone; monotonic. */
  #nextLookAt = 0;
  /** When it looks again for ends that it did not bring about; monotonic. */
  #nextEndsAt = 0;

  constructor(options: GatewayOptions) {
    this.#storage = options.storage;
    this.#log = options.log;
    this.#performs = options.performs ?? true;
    this.#configuration = options.configuration;
    this.#clock = createSchedulingClock(options.clock ?? systemClock);
    this.#loop = new WorkLoop(
      () => this.#pass(),
      (error) => {
        this.#log.error({ code: codeOf(error) }, 'the gateway could not look for work; trying again');
      },
    );
    const base = this.#makeBase(options);
    this.#holds = new RunnerHolds(base, () => {
      this.#heartbeat.resume();
      this.#loop.wake();
    });
    this.#alerts = new Alerts(base);
    this.#limits = new LimitWatch(base);
    const context: GatewayContext = { ...base, holds: this.#holds, alerts: this.#alerts };
    this.#performer = new RunPerformer(context);
    this.#checks = new StartChecks(context, this.#performer.waiters);
    this.#outbox = new Outbox(context);
    this.#heartbeat = new Heartbeat(context);
    this.#parts = [this.#performer, this.#checks, this.#outbox, this.#heartbeat];
    this.#followLease();
  }

  #makeBase(options: GatewayOptions): GatewayBase {
    const { storage, log, metrics, tracing } = options;
    return {
      storage,
      log,
      health: options.health ?? createHealth({ log }),
      metrics,
      tracing,
      now: () => this.#clock.now(),
      random: options.random ?? Math.random,
      nonce: options.nonce ?? randomUUID,
      retry: { ...RETRIES, ...options.retry },
      configuration: () => this.#configuration,
      advise: options.advise ?? (() => Promise.resolve(undefined)),
      keysUrl: options.keysUrl ?? Promise.resolve(undefined),
      wake: () => this.#loop.wake(),
    };
  }

  /** Ends and puts back what a process that died left behind, then begins to work. Rejects where the store fails. */
  start(): Promise<void> {
    this.#started ??= this.#stopped === undefined ? this.#startAll() : Promise.resolve();
    return this.#started;
  }

  /** Tells the operator at once that something is in trouble, or without a reason that it is well again. */
  alertOn(subject: AlertSubject, reason: string | undefined): void {
    if (reason === undefined) this.#alerts.worked(subject);
    else this.#alerts.failed([subject], reason, { isAtOnce: true });
  }

  /**
   * Claims nothing more, waits for what is under way, and after `graceMs` ends it: runs are recorded as interrupted
   * and put back. Idempotent; calling again with 0 ends the grace.
   */
  stop(graceMs: number): Promise<void> {
    if (this.#stopped !== undefined && graceMs <= 0) {
      for (const part of this.#parts) part.abort();
    }
    this.#stopped ??= this.#stopAll(graceMs);
    return this.#stopped;
  }

  /** Says that there is new work. Cheap: any number of calls makes one more look. */
  notify(): void {
    this.#loop.wake();
  }

  /** Ends the turns of runs that are under way here, or that workers carry: each fails with `cancelled`. Resolves to how many these were. */
  async cancel(runIds: readonly string[]): Promise<number> {
    return this.#performer.cancel(runIds) + (await this.#storage.endCarriedRuns(runIds, 'cancelled'));
  }

  /** Answers a worker that has proved itself. */
  answerWorker(question: WorkerQuestion): Promise<object> {
    return this.#performer.workers.answer(question);
  }

  /** Says that another process changed the store: there may be work, or an agent is to be tried at once. */
  notifyOutside(): void {
    if (this.#outside !== undefined) return;
    const waitMs = this.#outsideAt + OUTSIDE_MS - performance.now();
    this.#outside = armTimer(Math.max(waitMs, 0), () => {
      this.#outside = undefined;
      this.#outsideAt = performance.now();
      void this.#holds
        .readRetries()
        .catch(() => this.#log.warn({}, 'the store could not be asked which agents to try again'))
        .then(() => this.#loop.wake());
    });
  }

  /** Takes up another configuration; work under way ends with the one it began with. */
  reconfigure(configuration: GatewayConfiguration): void {
    this.#configuration = configuration;
    this.#limits.lookSoon();
    this.#holds.retryNow();
    this.#heartbeat.reconfigure();
    this.#loop.wake();
  }

  /** Resolves to how a run ended, or to undefined where it has not ended within the time or the signal aborts. */
  async waitForRun(runId: string, waitMs: number, signal?: AbortSignal): Promise<RunEnding | undefined> {
    const found = new AbortController();
    const given = signal === undefined ? found.signal : AbortSignal.any([signal, found.signal]);
    const waiting = this.#performer.waiters.wait(runId, waitMs, given);
    // The run may have ended before anyone waited.
    const run = await this.#storage.findRun(runId);
    const ending = run === undefined ? undefined : storedEnding(run);
    if (ending === undefined) return waiting;
    found.abort();
    return ending;
  }

  /** False where the lease was lost, also while the store was asked. */
  get #mayBegin(): boolean {
    return this.#storage.lease?.isHeld !== false;
  }

  /** Without its lease this process must not perform: others may take over what it was doing. */
  #followLease(): void {
    const { lease } = this.#storage;
    lease?.onChange((isHeld) => {
      this.#nextLookAt = 0;
      if (isHeld) return this.#loop.wake();
      this.#log.warn({}, 'the lease could not be renewed: runs under way are ended and put back');
      this.#isLeader = false;
      for (const part of this.#parts) part.lapse();
    });
    lease?.onOtherLeft(() => {
      this.#nextLookAt = 0;
      this.#loop.wake();
    });
  }

  /** Takes over the work of processes that are gone, and leads where nobody else does. */
  async #takeOver(): Promise<void> {
    const { runs, isLeader } = await this.#storage.takeOver({
      runs: this.#performer.ids,
      outbox: this.#outbox.ids,
      isTurnTaken: this.#heartbeat.isTurnTaken,
    });
    await this.#performer.afterCrash(runs);
    if (runs.length > 0) this.#log.warn({ runs: runs.length }, 'interrupted runs were put back');
    if (this.#stopped !== undefined || !this.#mayBegin) return;
    this.#isLeader = isLeader;
    await this.#heartbeat.lead(isLeader);
  }

  async #settleWaiters(): Promise<void> {
    const { waiters } = this.#performer;
    const nowMs = performance.now();
    // Without others only the operator ends runs elsewhere, by dropping them.
    if (waiters.names.length === 0 || (this.#storage.lease === undefined && nowMs < this.#nextEndsAt)) return;
    this.#nextEndsAt = nowMs + IDLE_MS;
    for (const run of await this.#storage.findEndedRuns(waiters.names)) {
      const ending = storedEnding(run);
      if (ending !== undefined) waiters.settle(ending.runId, ending);
    }
  }

  /** Settles waiters and takes over work of processes that are gone; false where nothing may be begun. */
  async #share(): Promise<boolean> {
    await this.#settleWaiters();
    const { lease } = this.#storage;
    if (!this.#performs) return false;
    if (lease === undefined) return true;
    if (!lease.isHeld) return false;
    if (performance.now() < this.#nextLookAt) return true;
    this.#nextLookAt = performance.now() + lease.lookEveryMs;
    await this.#takeOver();
    await this.#holds.share();
    return lease.isHeld;
  }

  async #pass(): Promise<number> {
    const { workers } = this.#performer;
    const mayPerform = await this.#share();
    workers.give();
    if (!mayPerform) return IDLE_MS;
    await this.#performer.cutOffEnded();
    const idleMs = await this.#beginDue();
    await workers.look();
    // The limits come after what is due, which must not wait for them.
    await this.#limits.look();
    return idleMs;
  }

  /** Resolves to how long nothing else will be due. */
  async #beginDue(): Promise<number> {
    const lookedAt = this.#clock.now();
    // Where the last look has begun something, more is likely due: asking when would only delay it.
    const dueAt = this.#isBusy ? lookedAt : await this.#storage.nextDueAt();
    if (dueAt === undefined) return IDLE_MS;
    if (dueAt - lookedAt > MAX_AHEAD_MS) {
      // Everything is due later than anything may be, so the clock goes on from the time of what is stored.
      const retryAt = await this.#storage.nextRetryAt(lookedAt);
      if (retryAt === undefined || retryAt - lookedAt <= MAX_AHEAD_MS) return IDLE_MS;
      this.#clock.advanceTo(retryAt);
      return 0;
    }
    if (dueAt > lookedAt) return Math.min(dueAt - lookedAt, IDLE_MS);
    if (!this.#mayBegin) return IDLE_MS;
    // A distant store answers questions that are sent at once together.
    const [begun] = await Promise.all([
      this.#performer.claim(),
      this.#outbox.claim(this.#isLeader),
      this.#heartbeat.check(),
      this.#isLeader && this.#performer.endUnbegun(),
      this.#isLeader && this.#checks.check(),
    ]);
    this.#isBusy = begun > 0;
    const nextAt = await this.#storage.nextDueAt();
    // What was due already waits for a place, and whoever frees one wakes the loop.
    if (nextAt === undefined || nextAt <= lookedAt) return IDLE_MS;
    return Math.min(Math.max(nextAt - this.#clock.now(), 0), IDLE_MS);
  }

  async #startAll(): Promise<void> {
    if (this.#performs) {
      await this.#holds.load();
      await this.#takeOver();
    }
    // The gateway may have been stopped while it took over what was left.
    if (this.#stopped === undefined) this.#loop.start();
  }

  async #stopAll(graceMs: number): Promise<void> {
    // A start that failed has already rejected for its caller.
    await this.#started?.catch(() => {});
    this.#outside?.();
    await this.#loop.stop();
    await Promise.all(this.#parts.map((part) => part.stop(graceMs)));
    await within(this.#alerts.settled(), ALERTS_GRACE_MS);
  }
}
