import { availableParallelism, loadavg } from 'node:os';
import { readFileSync } from 'node:fs';
import { slowness } from './thread-time.ts';

/**
 * How long something may take on this machine as it is now, where it takes less than `quietMs` on a quiet and quick one:
 * with three processes on each core a right program takes three times as long, and no test is to fail for it.
 */
export function longerHere(quietMs: number): number {
  const [lastMinute = 0] = loadavg();
  return quietMs * slowness() * Math.max(1, Math.max(lastMinute, runningNow()) / availableParallelism());
}

/** The load of the last minute says nothing yet of what has just begun. */
function runningNow(): number {
  try {
    return Number(/^procs_running (\d+)/m.exec(readFileSync('/proc/stat', 'latin1'))?.[1] ?? 0);
  } catch {
    // Only Linux has it.
    return 0;
  }
}
