/** The workers of a pool: started ahead of need, let go when they are done for, never started in a hot loop. */
import { Worker, type WorkerListener } from './worker.ts';

export interface WorkerSetOptions {
  readonly workers: number;
  /** Workers kept ready to take a dead one's place. */
  readonly spare: number;
  readonly jit: boolean;
  readonly program: string;
}

const RECYCLE_BYTES = 300 * 1024 * 1024;
const FIRST_BACKOFF_MS = 50;
export const LONGEST_BACKOFF_MS = 5000;
const UNHEALTHY_AFTER = 5;

export class WorkerSet {
  readonly #options: WorkerSetOptions;
  readonly #listener: WorkerListener;
  readonly #workers = new Set<Worker>();
  /** Takes no new jobs; ends when it is idle. */
  readonly #draining = new Set<Worker>();
  #active: readonly Worker[] = [];
  #memoryMb = 8;
  #bootFailures = 0;
  #bootTimer: NodeJS.Timeout | undefined;
  #isStopping = false;
  #spawned = 0;
  readonly #killAll = (): void => {
    for (const worker of this.#workers) worker.kill('stopped');
  };

  constructor(options: WorkerSetOptions, listener: WorkerListener) {
    this.#options = options;
    this.#listener = listener;
    process.once('exit', this.#killAll);
  }

  /** Ready workers that may be given jobs, the spares behind them left out. */
  get active(): readonly Worker[] {
    return this.#active;
  }

  /** Ready workers that did something after a time, the spares among them. */
  aliveSince(time: number): readonly Worker[] {
    return [...this.#workers].filter(
      (worker) => worker.isReady && worker.livedAt > time && !this.#draining.has(worker),
    );
  }

  get isEmpty(): boolean {
    return this.#workers.size === 0;
  }

  get isHealthy(): boolean {
    return this.#bootFailures < UNHEALTHY_AFTER;
  }

  /** No worker takes calls, and none will soon. */
  get isBroken(): boolean {
    return !this.isHealthy && this.#active.length === 0;
  }

  get bootFailures(): number {
    return this.#bootFailures;
  }

  get spawned(): number {
    return this.#spawned;
  }

  [Symbol.iterator](): Iterator<Worker> {
    return this.#workers.values();
  }

  canHold(memoryMb: number): boolean {
    return this.#workers.size > 0 && memoryMb <= this.#memoryMb;
  }

  /** Starts workers, and lets those go that were started for smaller modules. */
  prepare(memoryMb: number): void {
    if (memoryMb > this.#memoryMb) {
      this.#memoryMb = memoryMb;
      for (const worker of this.#workers) if (worker.settings.memoryMb < memoryMb) this.#draining.add(worker);
      this.endIdleDrainers();
    }
    this.#refresh();
    this.ensure();
  }

  noteReady(): void {
    this.#bootFailures = 0;
    this.#refresh();
  }

  noteBootFailure(): void {
    this.#bootFailures += 1;
  }

  /** A worker that answers no more, though its process may take a while to go. */
  noteLost(worker: Worker): void {
    this.#draining.add(worker);
    this.#refresh();
  }

  noteDeath(worker: Worker): void {
    this.#workers.delete(worker);
    this.#draining.delete(worker);
  }

  /** Starts what is missing: at once, or after a pause where the last one did not come up. */
  ensure(): void {
    if (this.#isStopping || this.#bootTimer !== undefined) return;
    if (this.#bootFailures > 0) {
      this.#startLater();
      return;
    }
    const wanted = this.#options.workers + this.#options.spare;
    while (this.#workers.size - this.#draining.size < wanted) this.#spawn();
  }

  /** Lets a worker finish what it has, and starts another in its place. */
  drain(worker: Worker): void {
    this.#draining.add(worker);
    this.#refresh();
    this.ensure();
  }

  endIdleDrainers(): void {
    for (const worker of this.#draining) if (worker.jobs.length === 0) worker.kill('recycled');
  }

  /** Lets workers go that keep too much memory. */
  recycle(): void {
    for (const worker of this.#active) {
      if ((worker.look()?.rssBytes ?? 0) > RECYCLE_BYTES) this.#draining.add(worker);
    }
    if (this.#draining.size === 0) return;
    this.#refresh();
    this.endIdleDrainers();
    this.ensure();
  }

  /** Starts no more workers. */
  close(): void {
    this.#isStopping = true;
    clearTimeout(this.#bootTimer);
  }

  killAll(): void {
    this.#killAll();
  }

  /** To be called when all are gone. */
  dispose(): void {
    process.removeListener('exit', this.#killAll);
  }

  #refresh(): void {
    this.#active = this.aliveSince(0).slice(0, this.#options.workers);
  }

  #startLater(): void {
    if (this.#workers.size - this.#draining.size > this.#active.length) return;
    const wait = Math.min(FIRST_BACKOFF_MS * 2 ** (this.#bootFailures - 1), LONGEST_BACKOFF_MS);
    this.#bootTimer = setTimeout(() => {
      this.#bootTimer = undefined;
      this.#spawn();
    }, wait).unref();
  }

  #spawn(): void {
    this.#spawned += 1;
    const { program, jit } = this.#options;
    this.#workers.add(new Worker({ program, jit, memoryMb: this.#memoryMb }, this.#listener));
  }
}
