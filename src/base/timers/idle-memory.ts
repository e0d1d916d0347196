import { performance, PerformanceObserver } from 'node:perf_hooks';
import { getHeapStatistics, setFlagsFromString, getHeapSpaceStatistics } from 'node:v8';
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

/** Of the young generation, in bytes; V8 goes to 64 MB where much is allocated, and touches all of it. */
const YOUNG_BYTES = 16 * 1024 * 1024;
/**
 * How much garbage may be added to the old generation, in percent of what is alive, which is 12 MB. With 20 a full
 * collection came every 0.7 s and took a tenth of the throughput.
 */
const OLD_PERCENT = 150;

/**
 * Bounds what a service under load holds as garbage, for less memory at the same work for a request. The options of the
 * command line for it are out of reach here, as a process is configured with them before it runs. V8 reads these two
 * whenever it collects: it grows the young generation by the factor, and 1 keeps it as it is. The options are the
 * process's: to be called by its main thread. Returns what ends it.
 */
export function limitGarbage(): () => void {
  setFlagsFromString(`--heap-growing-percent=${OLD_PERCENT}`);
  let factor = 2;
  const observer = new PerformanceObserver(() => {
    const wanted = youngBytes() < YOUNG_BYTES ? 2 : 1;
    if (wanted === factor) return;
    factor = wanted;
    setFlagsFromString(`--semi-space-growth-factor=${factor}`);
  });
  observer.observe({ entryTypes: ['gc'] });
  return () => observer.disconnect();
}

function youngBytes(): number {
  return getHeapSpaceStatistics().find(({ space_name }) => space_name === 'new_space')?.space_size ?? 0;
}
