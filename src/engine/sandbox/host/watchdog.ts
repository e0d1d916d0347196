/** Looks at all workers every few milliseconds while there is work: at how long they run, and what they hold. */
import type { Worker } from './worker.ts';

const GRACE_MS = 250;
/** With less of the processor than this in its time a call was not given it, and nothing is known of it. */
export const STARVED_SHARE = 0.1;
const TICK_MS = 25;
/** A tick this late means that this process stood still, and answers may wait unread. */
const STALL_MS = 150;
/** Calls shorter than this do not need their memory watched. */
const WATCH_AFTER_MS = 40;
const MEMORY_CAP_BYTES = 512 * 1024 * 1024;

export class Watchdog {
  readonly #look: (now: number) => boolean;
  #timer: NodeJS.Timeout | undefined;
  #lastTick = 0;

  /** `look` tells whether there is work to watch. */
  constructor(look: (now: number) => boolean) {
    this.#look = look;
  }

  start(): void {
    if (this.#timer !== undefined) return;
    this.#lastTick = performance.now();
    this.#timer = setInterval(() => this.#tick(), TICK_MS);
  }

  stop(): void {
    clearInterval(this.#timer);
    this.#timer = undefined;
  }

  #tick(): void {
    const now = performance.now();
    const stalled = now - this.#lastTick > STALL_MS;
    this.#lastTick = now;
    if (!stalled && !this.#look(now)) this.stop();
  }
}

/** Ends a worker whose first job has run past its limit and a grace, or that holds too much. */
export function watchWorker(worker: Worker, now: number): void {
  const [head] = worker.jobs;
  const since = worker.headSince;
  if (head === undefined || since === undefined) return;
  if (now - since <= WATCH_AFTER_MS) return;
  // What was not seen before is looked at once more: this process may not have been given the processor either.
  if (worker.seen?.job !== head) worker.seen = { job: head, at: now, cpuMs: worker.cpuMs() };
  else if (now - since > head.timeoutMs + GRACE_MS)
    worker.kill(isStarved(worker, now) ? 'starved' : 'deadline');
  else {
    const found = worker.look();
    if (found === undefined) return;
    // A signal from outside stopped it, which no transform can do.
    if (found.isSuspended) worker.kill('suspended');
    else if (found.rssBytes > MEMORY_CAP_BYTES) worker.kill('memory');
  }
}

/** Whether the job that runs hardly got the processor since it was first seen; a transform cannot sleep. */
function isStarved(worker: Worker, now: number): boolean {
  const { seen } = worker;
  const cpuMs = worker.cpuMs();
  if (seen === undefined || seen.job !== worker.jobs[0] || seen.cpuMs === undefined || cpuMs === undefined)
    return false;
  return cpuMs - seen.cpuMs < (now - seen.at) * STARVED_SHARE;
}
