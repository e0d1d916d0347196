/** Jobs that no worker has yet: those that wait in order, and those that must run alone. Bounded in number, bytes and time. */
import type { Breaker } from './breaker.ts';
import type { WorkerAnswer, ModuleTask, LoadBody } from '../frames.ts';

/** A module under certain settings, shared by all generations that use it so. */
export interface PooledModule {
  /** The number in frames; never used twice. */
  readonly number: number;
  /** As mappings name it, for logs. */
  readonly name: string;
  readonly sha256: string;
  readonly body: LoadBody;
  readonly breaker: Breaker;
  /** Quick answers in a row; a module that has proven itself may queue on a worker and use all of them. */
  quickAnswers: number;
  /** Milliseconds that a call is expected to take, by those before it. */
  usualMs: number;
}

export type JobOutcome =
  | { readonly kind: 'answered'; readonly answer: WorkerAnswer; readonly tookMs: number }
  | { readonly kind: 'killed'; readonly failure: 'timeout' | 'memory' | 'crashed'; readonly tookMs: number }
  | { readonly kind: 'deferred'; readonly reason: string; readonly retryAfterMs: number };

export interface ModuleJob {
  readonly id: number;
  readonly module: PooledModule;
  /** The limit; for a second try, what the first has left of it. */
  timeoutMs: number;
  readonly asked: ModuleTask;
  /** The argument of a call, and its bytes in UTF-8. */
  readonly json: string;
  readonly bytes: number;
  readonly queuedAt: number;
  /** The breaker's one call while it is half open. */
  readonly isTrial: boolean;
  /** Runs on a worker that has nothing else: a trial, or the second try after an unexplained death. */
  isAlone: boolean;
  sentAt: number;
  /** True where a first try hardly got the processor. */
  wasStarved?: boolean;
  /** When a worker died under it: its second try is for a worker that lived after that, as one cause may end many. */
  diedAt?: number;
  /** When its time is up; known once a worker that ran it was lost. */
  endsAt?: number;
  readonly end: (outcome: JobOutcome) => void;
}

const MAX_WAITING = 1000;
const MAX_WAITING_BYTES = 64 * 1024 * 1024;
/** A sender gives up after about this long; the request's own budget is 5 s too. */
const MAX_WAIT_MS = 5000;

export class JobQueue {
  #waiting: ModuleJob[] = [];
  #waitingBytes = 0;
  readonly #shares = new Map<PooledModule, { count: number; bytes: number }>();
  readonly #alone: ModuleJob[] = [];

  get size(): number {
    return this.#waiting.length + this.#alone.length;
  }

  /** A module's calls may take as much space as they leave free, so that one flood never turns the others away. */
  hasRoomFor(module: PooledModule, bytes: number): boolean {
    const own = this.#shares.get(module) ?? { count: 0, bytes: 0 };
    if (own.count >= MAX_WAITING - this.#waiting.length) return false;
    return own.bytes + bytes <= MAX_WAITING_BYTES - this.#waitingBytes;
  }

  add(job: ModuleJob): void {
    if (job.isAlone) {
      this.#alone.push(job);
      return;
    }
    this.#waiting.push(job);
    this.#count(job, 1);
  }

  /** Puts jobs that never began back before all others, in order. */
  addFirst(jobs: readonly ModuleJob[]): void {
    this.#alone.unshift(...jobs.filter((job) => job.isAlone));
    const rest = this.#takeWaiting();
    for (const job of [...jobs.filter(({ isAlone }) => !isAlone), ...rest]) this.add(job);
  }

  get firstAlone(): ModuleJob | undefined {
    return this.#alone[0];
  }

  shiftAlone(): void {
    this.#alone.shift();
  }

  /** Offers every waiting job in order; those that `place` takes leave the queue. */
  offer(place: (job: ModuleJob) => boolean): void {
    let kept = 0;
    for (let index = 0; index < this.#waiting.length; index += 1) {
      const job = this.#waiting[index] as ModuleJob;
      if (place(job)) this.#count(job, -1);
      else {
        this.#waiting[kept] = job;
        kept += 1;
      }
    }
    this.#waiting.length = kept;
  }

  remove(holds: (job: ModuleJob) => boolean): ModuleJob[] {
    const removed: ModuleJob[] = [];
    this.offer((job) => holds(job) && removed.push(job) > 0);
    return removed;
  }

  removeLate(now: number): ModuleJob[] {
    return this.remove((job) => now - job.queuedAt > MAX_WAIT_MS);
  }

  /** Removes what waits for a second try and has no time left for it. */
  removeOutOfTime(now: number): ModuleJob[] {
    const isOver = ({ endsAt }: ModuleJob): boolean => endsAt !== undefined && now >= endsAt;
    const late = this.#alone.filter(isOver);
    for (const job of late) this.#alone.splice(this.#alone.indexOf(job), 1);
    return [...late, ...this.remove(isOver)];
  }

  removeAll(): ModuleJob[] {
    return [...this.#takeWaiting(), ...this.#alone.splice(0)];
  }

  #takeWaiting(): ModuleJob[] {
    const jobs = this.#waiting;
    this.#waiting = [];
    this.#waitingBytes = 0;
    this.#shares.clear();
    return jobs;
  }

  #count({ module, bytes }: ModuleJob, change: 1 | -1): void {
    this.#waitingBytes += change * bytes;
    const own = this.#shares.get(module) ?? { count: 0, bytes: 0 };
    own.count += change;
    own.bytes += change * bytes;
    if (own.count === 0) this.#shares.delete(module);
    else this.#shares.set(module, own);
  }
}
