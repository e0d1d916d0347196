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

/** Resolves to the promise's value, or to undefined where the delay ends first. The promise may still settle later. */
export async function within<T>(promise: Promise<T>, delayMs: number): Promise<T | undefined> {
  let cancel = (): void => {};
  const late = new Promise<undefined>((resolve) => {
    cancel = armTimer(delayMs, () => resolve(undefined));
  });
  try {
    return await Promise.race([promise, late]);
  } finally {
    cancel();
  }
}
