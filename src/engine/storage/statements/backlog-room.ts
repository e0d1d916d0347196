import { HookError } from '../../../base/errors.ts';
import type { Store } from './store.ts';

export interface Wanted {
  readonly runs: number;
  readonly bytes: number;
  readonly wakes: number;
  /** Of notifications; those of replies find their room when the run is accepted. */
  readonly deliveries: number;
}

/** @throws HookError where the store takes no more of what is wanted */
export function checkRoom({ counters, limits }: Store, { runs, bytes, wakes, deliveries }: Wanted): void {
  const { queuedRuns, activeRuns, runBytes, pendingWakes, queuedOutbox } = counters;
  const full = { retryAfterSeconds: 10 };
  if (runs > 0 && queuedRuns + activeRuns + runs > limits.maxBacklogRuns) {
    throw new HookError('backlog_full', 'as many runs wait as storage.maxBacklog allows', full);
  }
  if (runs > 0 && runBytes + bytes > limits.maxBacklogBytes) {
    const detail = 'the waiting runs take as many bytes as storage.maxBacklog allows';
    throw new HookError('backlog_full', detail, full);
  }
  if (deliveries > 0 && queuedOutbox + deliveries > limits.maxBacklogRuns) {
    throw new HookError('backlog_full', 'as many messages wait as storage.maxBacklog allows', full);
  }
  if (wakes > 0 && pendingWakes + wakes > limits.maxPendingEvents) {
    const detail = 'as many system events wait as gateway.events.maxPending allows';
    throw new HookError('events_full', detail, full);
  }
}
