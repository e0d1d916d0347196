/** Which worker may take a job: the rule that keeps one module from holding up the others. */
import type { ModuleJob, PooledModule } from './job-queue.ts';

/** Calls that a worker has at most, where it is not expected to be through with them soon. */
const DEPTH = 4;
/** Calls that are expected to take no longer together may queue up to `QUICK_DEPTH`: then one write carries many. */
const SOON_MS = 5;
const QUICK_DEPTH = 32;
const QUICK_MS = 50;
const PROVEN_AFTER = 16;
/** Share of the latest answer in what a module is expected to take. */
const LATEST = 1 / 8;

/** A module has proven itself by quick answers in a row; its calls may queue behind each other, on all workers. */
function isProven(module: PooledModule): boolean {
  return module.quickAnswers >= PROVEN_AFTER;
}

export function noteAnswer(module: PooledModule, ranMs: number, struck: boolean): void {
  module.quickAnswers = struck || ranMs > QUICK_MS ? 0 : module.quickAnswers + 1;
  module.usualMs += (ranMs - module.usualMs) * LATEST;
}

/** A worker, as far as a place in it goes. */
interface WorkerLoad {
  /** Sent and not answered, in order. */
  readonly jobs: readonly Pick<ModuleJob, 'module' | 'isAlone'>[];
}

/** Whether a worker takes one more job. Nothing is queued behind a module that has not proven itself. */
function isOpen({ jobs }: WorkerLoad): boolean {
  let expectedMs = 0;
  for (const { isAlone, module } of jobs) {
    if (isAlone || !isProven(module)) return false;
    expectedMs += module.usualMs;
  }
  return jobs.length < DEPTH || (jobs.length < QUICK_DEPTH && expectedMs < SOON_MS);
}

/** Places jobs one after the other, as they are sent. */
export class Placement<Worker extends WorkerLoad> {
  readonly #workers: readonly Worker[];
  readonly #count: number;
  /** Took another job when last looked at. */
  #open: readonly Worker[];

  /** `count`: workers that the pool has where all are well. `reserved` takes nothing. */
  constructor(
    workers: readonly Worker[],
    options: { readonly count: number; readonly reserved: Worker | undefined },
  ) {
    this.#workers = workers;
    this.#count = options.count;
    this.#open = workers.filter((worker) => worker !== options.reserved && isOpen(worker));
  }

  /** The least busy worker that may take the job now. A module not proven leaves at least one worker to the others. */
  pick({ module }: Pick<ModuleJob, 'module'>): Worker | undefined {
    this.#open = this.#open.filter(isOpen);
    if (this.#open.length === 0) return undefined;
    if (!isProven(module) && this.#countRunning(module) >= Math.max(1, this.#count - 1)) return undefined;
    return this.#open.reduce((best, worker) => (worker.jobs.length < best.jobs.length ? worker : best));
  }

  /** Workers that have jobs of the module. */
  #countRunning(module: PooledModule): number {
    return this.#workers.filter(({ jobs }) => jobs.some((job) => job.module === module)).length;
  }
}
