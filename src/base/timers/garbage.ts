import { PerformanceObserver } from 'node:perf_hooks';
import { getHeapSpaceStatistics, setFlagsFromString } from 'node:v8';

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
