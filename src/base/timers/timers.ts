export { askThread, startThread } from './bounded-thread.ts';
export { armTimer, pause, within } from './delays.ts';
export { limitGarbage } from './garbage.ts';

import { armTimer } from './delays.ts';

/** A signal that aborts with its parent, after a time, or when told to. */
export interface DerivedSignal {
  readonly signal: AbortSignal;
  abort(): void;
  /** Lets go of parent and timer; has to be called in the end. */
  release(): void;
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
  const cancel = timeoutMs === undefined ? undefined : armTimer(timeoutMs, timedOut);
  return {
    signal: controller.signal,
    abort: () => controller.abort(),
    release() {
      parent.removeEventListener('abort', abort);
      cancel?.();
    },
  };
}
