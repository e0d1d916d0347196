import { armTimer } from '../../base/timers/timers.ts';
import type { Turn } from './runner.ts';

/** The time that a turn has. */
export interface TurnDeadline {
  /** Aborts when the time is over, and with the caller's. */
  readonly signal: AbortSignal;
  isOver(): boolean;
  cancel(): void;
}

export function startDeadline({ timeoutSeconds }: Turn, signal: AbortSignal): TurnDeadline {
  const deadline = new AbortController();
  return {
    signal: AbortSignal.any([signal, deadline.signal]),
    isOver: () => deadline.signal.aborted,
    cancel: armTimer(timeoutSeconds * 1000, () => deadline.abort()),
  };
}
