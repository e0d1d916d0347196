/** Lets somebody wait until something holds; whoever changes what it depends on says so. */
import type { JobOutcome } from './job.ts';

export class ConditionVariable {
  #look: () => void = () => undefined;

  /** Resolves when the condition holds; one wait at a time. */
  wait(holds: () => boolean): Promise<void> {
    return new Promise((resolve) => {
      this.#look = () => {
        if (!holds()) return;
        this.#look = () => undefined;
        resolve();
      };
      this.#look();
    });
  }

  changed(): void {
    this.#look();
  }
}

export const STOPPING = 'the sandbox is stopping';
export const NO_PROCESSOR = 'the machine is too busy: twice the call hardly got the processor in its time';
export const NO_TIME_LEFT = 'its worker process was lost, and no time was left for a second try';
export const NO_WORKER = 'no worker process starts';
export const NO_WORKER_IN_TIME = 'no worker was free in time';
export const TOO_MANY = 'too many calls are waiting';
export const BREAKER_OPEN = 'it failed hard three times within a minute and is paused';

export function deferred(reason: string, retryAfterMs: number): JobOutcome {
  return { kind: 'deferred', reason, retryAfterMs };
}
