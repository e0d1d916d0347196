/**
 * Schedules calls over worker processes and survives them. The rules, each from a measured attack:
 *
 * - A worker answers in order, so its first job is the one that runs. When it runs longer than its limit and a grace,
 *   or the worker's memory passes the cap, the worker is killed and that job alone is to blame; the jobs behind it
 *   never began and are sent again at once.
 * - A death without a known cause blames nobody yet: the first job is tried once more, alone on an idle worker that is
 *   known to have lived after it. If that kills the worker too, the job is the culprit and is not tried again. A second
 *   try has the time that the first has left, so that no call outlives its limit and the grace.
 * - A module has to prove itself with quick answers before its calls are queued behind each other, or run on all
 *   workers at once: until then one worker is always left to the others.
 * - A module that keeps striking is turned away by its breaker (`breaker.ts`).
 */
import { setInterval as every } from 'node:timers/promises';
import type { TransformFigures } from '../../../base/telemetry/telemetry.ts';
import type { WorkerAnswer, ModuleTask } from '../frames.ts';
import { STATUS } from '../names.ts';
import { JobQueue, type ModuleJob, type JobOutcome, type PooledModule } from './job-queue.ts';
import { noteAnswer, Placement } from './placement.ts';
import { LONGEST_BACKOFF_MS, WorkerSet, type WorkerSetOptions } from './worker-set.ts';
import { STARVED_SHARE, type DeathCause, type Worker, type WorkerListener } from './worker.ts';

export interface PoolOptions extends WorkerSetOptions {
  readonly onEvent: (event: PoolEvent) => void;
}

/** What operators should know; never anything of a payload. */
export type PoolEvent =
  | {
      readonly kind: 'worker-died';
      readonly cause: NonNullable<DeathCause> | 'unexplained';
      readonly module?: string;
    }
  | { readonly kind: 'call-replayed'; readonly module: string }
  | { readonly kind: 'breaker-opened'; readonly module: string }
  | { readonly kind: 'breaker-closed'; readonly module: string }
  | { readonly kind: 'workers-do-not-start'; readonly failures: number };

const NO_ARGUMENT = { json: '', bytes: 0 };
const STOPPING = 'the sandbox is stopping';
const NO_PROCESSOR = 'the machine is too busy: twice the call hardly got the processor in its time';
const NO_TIME_LEFT = 'its worker process was lost, and no time was left for a second try';
const NO_WORKER = 'no worker process starts';
const NO_WORKER_IN_TIME = 'no worker was free in time';
const TOO_MANY = 'too many calls are waiting';
const BREAKER_OPEN = 'it failed hard three times within a minute and is paused';
const TICK_MS = 25;
/** A tick this late means that this process stood still, and answers may wait unread. */
const STALL_MS = 150;
const STOP_LOOK_MS = 5;
const RECYCLE_CHECK_MS = 1000;
/** A call whose time was up with less of the processor than this was not to blame. */
const BLAMED_SHARE = 0.5;

export class Pool implements WorkerListener {
  readonly #options: PoolOptions;
  readonly #workers: WorkerSet;
  #timer: NodeJS.Timeout | undefined;
  #lastTick = 0;
  readonly #queue = new JobQueue();
  #nextId = 1;
  #lastRecycleCheck = 0;
  #stopping: Promise<void> | undefined;

  constructor(options: PoolOptions) {
    this.#options = options;
    this.#workers = new WorkerSet(options, this);
  }

  get isHealthy(): boolean {
    return this.#workers.isHealthy;
  }

  get stats(): TransformFigures['pools'][number] {
    let running = 0;
    for (const worker of this.#workers) running += worker.jobs.length;
    return {
      ready: [...this.#workers].filter((worker) => worker.isReady).length,
      waiting: this.#queue.size,
      running,
      spawned: this.#workers.spawned,
    };
  }

  /** Starts workers for modules of this memory. */
  prepare(memoryMb: number): void {
    this.#workers.prepare(memoryMb);
  }

  /** Has a worker do something; `json` is the argument of a call. Never rejects. */
  submit(
    module: PooledModule,
    timeoutMs: number,
    asked: ModuleTask,
    { json, bytes }: Pick<ModuleJob, 'json' | 'bytes'> = NO_ARGUMENT,
  ): Promise<JobOutcome> {
    const now = performance.now();
    if (this.#stopping !== undefined) return Promise.resolve(deferred(STOPPING, 1000));
    if (this.#workers.isBroken) return Promise.resolve(deferred(NO_WORKER, LONGEST_BACKOFF_MS));
    const admission = module.breaker.admit(now);
    if (admission.kind === 'refused') {
      return Promise.resolve(deferred(BREAKER_OPEN, admission.retryAfterMs));
    }
    const isTrial = admission.kind === 'trial';
    if (!this.#queue.hasRoomFor(module, bytes)) {
      if (isTrial) module.breaker.abandonTrial();
      return Promise.resolve(deferred(TOO_MANY, 1000));
    }
    return new Promise((end) => {
      const job = { id: this.#takeId(), module, asked, json, bytes, timeoutMs, queuedAt: now, sentAt: 0 };
      this.#queue.add({ ...job, isTrial, isAlone: isTrial, end });
      if (!this.#workers.canHold(module.body.memoryMb)) this.prepare(module.body.memoryMb);
      this.#startWatching();
      this.#dispatch();
    });
  }

  /** Lets workers forget a module once the calls they have are answered. */
  drop(module: PooledModule): void {
    for (const worker of this.#workers) worker.drop(module);
  }

  /** Turns away what waits, lets what runs end within its limits, then ends all workers. */
  stop(): Promise<void> {
    this.#stopping ??= this.#stop();
    return this.#stopping;
  }

  async #stop(): Promise<void> {
    for (const job of this.#queue.removeAll()) this.#defer(job, STOPPING, 1000);
    this.#workers.close();
    await until(() => this.stats.running === 0);
    this.#workers.killAll();
    await until(() => this.#workers.isEmpty);
    this.#stopWatching();
    this.#workers.dispose();
  }

  // ---- what workers report ----

  ready(_worker: Worker): void {
    this.#workers.noteReady();
    this.#dispatch();
    this.#workers.ensure();
  }

  answered(worker: Worker, job: ModuleJob, answer: WorkerAnswer, ranMs: number): void {
    const share = answer.status === STATUS.timeout ? answer.cpuMicros / (job.timeoutMs * 1000) : undefined;
    const struck = answer.status === STATUS.memory || (share !== undefined && share > BLAMED_SHARE);
    if (share !== undefined && share < STARVED_SHARE) {
      this.#tryAgain(job);
      this.#dispatch();
      return;
    }
    noteAnswer(job.module, ranMs, struck);
    // The call's memory is not given back at once, and must not be blamed on the next one.
    if (answer.status === STATUS.memory) this.#workers.drain(worker);
    if (struck) this.#strike(job);
    else if (job.isTrial) {
      job.module.breaker.close();
      this.#options.onEvent({ kind: 'breaker-closed', module: job.module.name });
    }
    job.end({ kind: 'answered', answer, tookMs: performance.now() - job.queuedAt });
    if (worker.jobs.length === 0) this.#workers.endIdleDrainers();
    this.#dispatch();
  }

  lost(worker: Worker, cause: DeathCause): void {
    this.#workers.noteLost(worker);
    if (worker.wasReady) this.#settleDeath(worker, cause);
    else if (cause !== 'stopped') this.#bootFailed();
    if (cause === 'stopped') return;
    this.#workers.ensure();
    this.#dispatch();
  }

  died(worker: Worker): void {
    this.#workers.noteDeath(worker);
  }

  // ---- deaths ----

  #settleDeath(worker: Worker, cause: DeathCause): void {
    const label = cause ?? 'unexplained';
    const ranMs = performance.now() - (worker.headSince ?? 0);
    const [head, ...behind] = worker.jobs.splice(0);
    if (head !== undefined) head.endsAt ??= performance.now() - ranMs + head.timeoutMs;
    if (cause !== 'recycled' && cause !== 'stopped') {
      const module = head === undefined ? {} : { module: head.module.name };
      this.#options.onEvent({ kind: 'worker-died', cause: label, ...module });
    }
    this.#putBack(behind);
    if (head === undefined) return;
    switch (cause) {
      case 'deadline':
        this.#condemn(head, 'timeout');
        return;
      case 'memory':
        this.#condemn(head, 'memory');
        return;
      case 'starved':
        this.#tryAgain(head);
        return;
      case 'recycled':
      case 'suspended':
      case 'boot':
      case 'stopped':
        this.#putBack([head]);
        return;
      case 'protocol':
      case undefined:
        // Past its limit it was to blame in any case, and its sender has waited long enough.
        if (head.isAlone || ranMs > head.timeoutMs) this.#condemn(head, 'crashed');
        else if (this.#stopping !== undefined) this.#defer(head, STOPPING, 1000);
        else this.#retryAlone(head);
    }
  }

  /** Lets jobs that never began wait again, in order. */
  #putBack(jobs: readonly ModuleJob[]): void {
    if (this.#stopping === undefined) this.#queue.addFirst(jobs);
    else for (const job of jobs) this.#defer(job, STOPPING, 1000);
  }

  #condemn(job: ModuleJob, failure: 'timeout' | 'memory' | 'crashed'): void {
    job.module.quickAnswers = 0;
    this.#strike(job);
    job.end({ kind: 'killed', failure, tookMs: performance.now() - job.queuedAt });
  }

  /** A call that hardly got the processor proved nothing: it is run once more with all of its time. */
  #tryAgain(job: ModuleJob): void {
    if (job.wasStarved === true || this.#stopping !== undefined) return this.#defer(job, NO_PROCESSOR, 1000);
    job.wasStarved = true;
    delete job.endsAt;
    this.#queue.addFirst([job]);
  }

  #retryAlone(job: ModuleJob): void {
    job.module.quickAnswers = 0;
    job.isAlone = true;
    job.diedAt = performance.now();
    this.#options.onEvent({ kind: 'call-replayed', module: job.module.name });
    this.#queue.add(job);
  }

  #strike(job: ModuleJob): void {
    const now = performance.now();
    if (!job.module.breaker.strike(now, job.isTrial)) return;
    this.#options.onEvent({ kind: 'breaker-opened', module: job.module.name });
    for (const waiting of this.#queue.remove(({ module }) => module === job.module)) {
      const admission = job.module.breaker.admit(now);
      this.#defer(waiting, BREAKER_OPEN, admission.kind === 'refused' ? admission.retryAfterMs : 1000);
    }
  }

  #bootFailed(): void {
    this.#workers.noteBootFailure();
    this.#options.onEvent({ kind: 'workers-do-not-start', failures: this.#workers.bootFailures });
    if (!this.#workers.isBroken) return;
    for (const job of this.#queue.removeAll()) this.#defer(job, NO_WORKER, LONGEST_BACKOFF_MS);
  }

  // ---- queue ----

  #takeId(): number {
    const id = this.#nextId;
    this.#nextId = id === 0xffff_ffff ? 1 : id + 1;
    return id;
  }

  #defer(job: ModuleJob, reason: string, retryAfterMs: number): void {
    if (job.isTrial) job.module.breaker.abandonTrial();
    job.end(deferred(reason, retryAfterMs));
  }

  #dispatch(): void {
    const reserved = this.#dispatchAlone();
    const placement = new Placement(this.#workers.active, { count: this.#options.workers, reserved });
    this.#queue.offer((job) => {
      const worker = placement.pick(job);
      return worker !== undefined && this.#send(worker, job);
    });
  }

  /** Sends a job off, a second try with the time the first has left; true, as it waits no more in any case. */
  #send(worker: Worker, job: ModuleJob): true {
    if (job.endsAt !== undefined) {
      job.timeoutMs = Math.floor(job.endsAt - performance.now());
      if (job.timeoutMs < 1) {
        this.#defer(job, NO_TIME_LEFT, 1000);
        return true;
      }
    }
    worker.send(job);
    return true;
  }

  /** Sends what must run alone to idle workers; returns the worker that is kept free for the next of them. */
  #dispatchAlone(): Worker | undefined {
    for (let job = this.#queue.firstAlone; job !== undefined; job = this.#queue.firstAlone) {
      const known = job.diedAt === undefined ? this.#workers.active : this.#workers.aliveSince(job.diedAt);
      const idle = known.find((worker) => worker.jobs.length === 0);
      if (idle === undefined) return known.toSorted((a, b) => a.jobs.length - b.jobs.length)[0];
      this.#queue.shiftAlone();
      this.#send(idle, job);
    }
    return undefined;
  }

  // ---- watching ----

  #startWatching(): void {
    if (this.#timer !== undefined) return;
    this.#lastTick = performance.now();
    this.#timer = setInterval(() => this.#tick(), TICK_MS);
  }

  #stopWatching(): void {
    clearInterval(this.#timer);
    this.#timer = undefined;
  }

  #tick(): void {
    const now = performance.now();
    const stalled = now - this.#lastTick > STALL_MS;
    this.#lastTick = now;
    if (!stalled) this.#look(now);
  }

  /** Looks after everything that has begun or waits, and no more where there is no such thing. */
  #look(now: number): void {
    let busy = this.#queue.size;
    for (const worker of this.#workers) {
      busy += worker.jobs.length;
      worker.watch(now);
    }
    for (const job of this.#queue.removeLate(now)) this.#defer(job, NO_WORKER_IN_TIME, 1000);
    for (const job of this.#queue.removeOutOfTime(now)) this.#defer(job, NO_TIME_LEFT, 1000);
    if (busy === 0 || now - this.#lastRecycleCheck > RECYCLE_CHECK_MS) {
      this.#lastRecycleCheck = now;
      this.#workers.recycle();
    }
    if (busy === 0) this.#stopWatching();
  }
}

const deferred = (reason: string, retryAfterMs: number): JobOutcome => ({
  kind: 'deferred',
  reason,
  retryAfterMs,
});

/** Looks again and again: workers alone keep no process alive, and this one has to see them end. */
async function until(holds: () => boolean): Promise<void> {
  if (holds()) return;
  for await (const _ of every(STOP_LOOK_MS)) if (holds()) return;
}
