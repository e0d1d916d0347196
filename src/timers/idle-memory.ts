import { performance } from 'node:perf_hooks';
import { getHeapStatistics, setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

const LOOK_MS = 2_000;
/** Share of the time since the last look that the thread was busy: below it nobody waits for it. */
const IDLE = 0.02;
/** A collection holds the thread for some milliseconds; less than this is not worth one. */
const WORTH_BYTES = 16 * 1024 * 1024;

/**
 * Gives memory back that start-up or a busy time left behind: V8 keeps it until it allocates again, and an idle service
 * allocates nothing. Each thread looks after its own heap. Returns what ends it; it keeps no process alive.
 */
export function giveBackWhenIdle(): () => void {
  let collect: (() => void) | undefined;
  let last = performance.eventLoopUtilization();
  let settledBytes = 0;
  const timer = setInterval(() => {
    const now = performance.eventLoopUtilization();
    const { utilization } = performance.eventLoopUtilization(now, last);
    last = now;
    if (utilization > IDLE || heapBytes() - settledBytes < WORTH_BYTES) return;
    collect ??= collector();
    collect();
    settledBytes = heapBytes();
    last = performance.eventLoopUtilization();
  }, LOOK_MS);
  timer.unref();
  return () => clearInterval(timer);
}

const heapBytes = (): number => getHeapStatistics().total_physical_size;

/**
 * The collector that `--expose-gc` gives to new contexts: the option can be set while the process runs. One collection
 * holds the thread for 7 to 9 ms; the flavor `last-resort` makes two and more at once (21 to 44 ms), for pages that
 * V8 gives back some seconds later by itself, in steps.
 */
function collector(): () => void {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as (options: object) => void;
  return () => collect({ type: 'major', execution: 'sync', flavor: 'regular' });
}
