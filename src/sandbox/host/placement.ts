/** Which worker may take a job: the rule that keeps one module from holding up the others. */
import type { Job, PooledModule } from './job.ts';
import type { Worker } from './worker.ts';

const DEPTH = 4;
const QUICK_MS = 50;
const PROVEN_AFTER = 16;

/** A module has proven itself by quick answers in a row; its calls may queue behind each other, on all workers. */
function isProven(module: PooledModule): boolean {
  return module.quickAnswers >= PROVEN_AFTER;
}

export function noteAnswer(module: PooledModule, ranMs: number, struck: boolean): void {
  module.quickAnswers = struck || ranMs > QUICK_MS ? 0 : module.quickAnswers + 1;
}

/**
 * The least busy worker that may take a job now. Nothing is queued behind a module that has not proven itself, and
 * such a module leaves at least one of `count` workers to the others.
 */
export function pickWorker(
  job: Job,
  workers: readonly Worker[],
  options: { readonly count: number; readonly reserved: Worker | undefined },
): Worker | undefined {
  let best: Worker | undefined;
  let runningOn = 0;
  for (const worker of workers) {
    let isOpen = worker !== options.reserved && worker.jobs.length < DEPTH;
    let runsSame = false;
    for (const other of worker.jobs) {
      if (other.isAlone || !isProven(other.module)) isOpen = false;
      if (other.module === job.module) runsSame = true;
    }
    if (runsSame) runningOn += 1;
    if (isOpen && (best === undefined || worker.jobs.length < best.jobs.length)) best = worker;
  }
  return isProven(job.module) || runningOn < Math.max(1, options.count - 1) ? best : undefined;
}
