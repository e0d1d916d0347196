import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import { PerformanceObserver } from 'node:perf_hooks';
import { getHeapSpaceStatistics, setFlagsFromString } from 'node:v8';

/** Timers fire at once when their delay is larger than this. */
const MAX_TIMER_MS = 2 ** 31 - 1;

/**
 * Calls back once after a delay of any length, measured by the monotonic clock: a wall clock that jumps neither
 * shortens nor stretches it. Returns the way to cancel it; cancelling twice does no harm.
 */
export function armTimer(delayMs: number, callback: () => void): () => void {
  const endsAt = performance.now() + delayMs;
  let timer: NodeJS.Timeout;
  const arm = (): void => {
    const leftMs = endsAt - performance.now();
    timer = leftMs > MAX_TIMER_MS ? setTimeout(arm, MAX_TIMER_MS) : setTimeout(callback, Math.max(0, leftMs));
  };
  arm();
  return () => clearTimeout(timer);
}

/** Beside a second, how late a timer may be before its process counts as one that stood still. */
const LATE_MS = 1_000;

/**
 * As `armTimer`, but the time in which this process stood still does not count: that of a laptop that slept, or of a
 * process that was stopped.
 */
export function armAwakeTimer(delayMs: number, callback: () => void): () => void {
  let cancel = (): void => {};
  const arm = (leftMs: number): void => {
    const stepMs = Math.min(leftMs, 1_000);
    const startedAt = performance.now();
    cancel = armTimer(stepMs, () => {
      const left = leftMs - Math.min(performance.now() - startedAt, stepMs + LATE_MS);
      if (left > 0) arm(left);
      else callback();
    });
  };
  arm(delayMs);
  return () => cancel();
}

/** The pause after the first pass that failed. */
const FIRST_PAUSE_MS = 100;
const MAX_PAUSE_MS = 5_000;

/**
 * Calls a pass again and again: after the delay it asks for, or at once when woken; never two at a time. A wake during
 * a pass is not lost, any number of them makes one more pass. A pass that throws is reported and repeated after a
 * pause that grows, so that an error never ends the loop.
 */
export class WorkLoop {
  readonly #pass: () => Promise<number>;
  readonly #onError: (error: unknown) => void;
  #state: 'stopped' | 'waiting' | 'passing' = 'stopped';
  #woken = false;
  #failures = 0;
  #cancelTimer = (): void => {};
  #running: Promise<void> = Promise.resolve();

  constructor(pass: () => Promise<number>, onError: (error: unknown) => void) {
    this.#pass = pass;
    this.#onError = onError;
  }

  start(): void {
    if (this.#state !== 'stopped') return;
    this.#state = 'waiting';
    this.#begin();
  }

  /** Cheap: most calls only set a flag. */
  wake(): void {
    this.#woken = true;
    if (this.#state === 'waiting') this.#begin();
  }

  /** Starts no further pass; resolves when the current one has ended. Idempotent. */
  async stop(): Promise<void> {
    this.#state = 'stopped';
    this.#cancelTimer();
    await this.#running;
  }

  #begin(): void {
    this.#cancelTimer();
    this.#state = 'passing';
    this.#woken = false;
    this.#running = this.#runPass();
  }

  async #runPass(): Promise<void> {
    let delayMs: number;
    try {
      // The next turn of the event loop: what is woken in one turn shares a pass.
      await new Promise((resolve) => setImmediate(resolve));
      delayMs = this.#state === 'passing' ? await this.#pass() : 0;
      this.#failures = 0;
    } catch (error) {
      this.#onError(error);
      delayMs = Math.min(FIRST_PAUSE_MS * 2 ** this.#failures, MAX_PAUSE_MS);
      this.#failures += 1;
      this.#woken = false;
    }
    if (this.#state !== 'passing') return;
    this.#state = 'waiting';
    this.#cancelTimer = armTimer(this.#woken ? 0 : delayMs, () => this.#begin());
  }
}

/** Resolves after a delay, or as soon as the signal aborts; never rejects. */
export function pause(delayMs: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal?.aborted === true) return resolve();
    const done = (): void => {
      cancel();
      signal?.removeEventListener('abort', done);
      resolve();
    };
    const cancel = armTimer(delayMs, done);
    signal?.addEventListener('abort', done, { once: true });
  });
}

/** Resolves to the promise's value, or to undefined where the delay (of an awake process) ends first. It may settle later. */
export async function within<T>(promise: Promise<T>, delayMs: number): Promise<T | undefined> {
  let cancel = (): void => {};
  const late = new Promise<undefined>((resolve) => {
    cancel = armAwakeTimer(delayMs, () => resolve(undefined));
  });
  try {
    return await Promise.race([promise, late]);
  } finally {
    cancel();
  }
}

/** A signal that aborts with its parent, after a time awake, or when `abort` is called. Its disposal lets go of parent and timer. */
interface DerivedSignal extends Disposable {
  readonly signal: AbortSignal;
  abort(): void;
}

/**
 * Derives a signal for one piece of work from one that lives as long as the service. `AbortSignal.any` is not used for
 * this: what listens to such a signal is kept until the parent aborts (1.2 KB for every turn on Node 24.21).
 */
export function deriveSignal(parent: AbortSignal, timeoutMs?: number): DerivedSignal {
  const controller = new AbortController();
  const abort = (): void => controller.abort(parent.reason);
  if (parent.aborted) abort();
  parent.addEventListener('abort', abort, { once: true });
  const timedOut = (): void => controller.abort(new DOMException('the time is over', 'TimeoutError'));
  const cancel = timeoutMs === undefined ? undefined : armAwakeTimer(timeoutMs, timedOut);
  return {
    signal: controller.signal,
    abort: () => controller.abort(),
    [Symbol.dispose]() {
      parent.removeEventListener('abort', abort);
      cancel?.();
    },
  };
}

/** Whether a derived signal was aborted by its own time. */
export const isTimeOver = ({ reason }: AbortSignal): boolean =>
  reason instanceof DOMException && reason.name === 'TimeoutError';

/** A thread is there after 0.2 s; longer waits are those of a machine that has nothing left. */
const START_MS = 30_000;
/** However little of the processor it gets. */
const MAX_WAIT_MS = 60_000;
const LOOK_MS = 100;

/** Starts a thread that says `ready` once it is; undefined where it does not. */
export async function startThread(
  entry: URL,
  { name, memoryMb }: { readonly name: string; readonly memoryMb: number },
): Promise<Worker | undefined> {
  const thread = new Worker(entry, { name, resourceLimits: { maxOldGenerationSizeMb: memoryMb } });
  // Heard by whoever waits for an answer; without this it would end the process.
  thread.on('error', () => undefined);
  if ((await within(answerOf(thread), START_MS)) !== undefined) return thread;
  await thread.terminate();
  return undefined;
}

/**
 * What a thread answers; undefined where it ended over the request, or took more of the processor than it may. It has
 * to be ended then.
 */
export async function askThread<Answer extends object>(
  thread: Worker,
  request: unknown,
  { cpuMs }: { /** Processor time of the thread. */ readonly cpuMs: number },
): Promise<Answer | undefined> {
  const before = await cpuMsOf(thread);
  const endsAt = performance.now() + MAX_WAIT_MS;
  const answering = answerOf<Answer>(thread).then((answer) => ({ answer }));
  thread.postMessage(request);
  do {
    const found = await within(answering, LOOK_MS);
    if (found !== undefined) return found.answer;
  } while (performance.now() < endsAt && (await cpuMsOf(thread)) - before < cpuMs);
  return undefined;
}

/** A thread that ends while it is asked never answers: then its end is what is heard of. */
async function cpuMsOf(thread: Worker): Promise<number> {
  const asked = thread.cpuUsage().catch(() => undefined);
  const { user, system } = (await within(asked, LOOK_MS)) ?? { user: 0, system: 0 };
  return (user + system) / 1000;
}

/** What the thread says next; undefined where it ends instead. */
async function answerOf<Answer>(thread: Worker): Promise<Answer | undefined> {
  const ended = new AbortController();
  const { signal } = ended;
  try {
    return await Promise.race([
      once(thread, 'message', { signal }).then(([answer]) => answer as Answer),
      once(thread, 'exit', { signal }).then(() => undefined),
    ]);
  } catch {
    return undefined;
  } finally {
    ended.abort();
  }
}

/** The size of the young generation in bytes; V8 goes to 64 MB where much is allocated, and touches all of it. */
const YOUNG_BYTES = 16 * 1024 * 1024;
/**
 * How much garbage may be added to the old generation, in percent of what is alive, which is 12 MB. With 20 a full
 * collection came every 0.7 s and took a tenth of the throughput.
 */
const OLD_PERCENT = 150;

/**
 * Bounds what a service under load holds as garbage, for less memory at the same work for a request. The options of the
 * command line for it are out of reach here, as a process is configured with them before it runs. V8 reads these two
 * whenever it collects: it grows the young generation by the factor, and 1 keeps it as it is. Without this a service
 * holds 20 to 90% more after load. The options are the process's: to be called by its main thread.
 */
export function limitGarbage(): void {
  setFlagsFromString(`--heap-growing-percent=${OLD_PERCENT}`);
  let factor = 2;
  const observer = new PerformanceObserver(() => {
    const wanted = youngBytes() < YOUNG_BYTES ? 2 : 1;
    if (wanted === factor) return;
    factor = wanted;
    setFlagsFromString(`--semi-space-growth-factor=${factor}`);
  });
  observer.observe({ entryTypes: ['gc'] });
}

function youngBytes(): number {
  return getHeapSpaceStatistics().find(({ space_name }) => space_name === 'new_space')?.space_size ?? 0;
}
