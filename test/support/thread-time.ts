import { readFileSync } from 'node:fs';

/** Milliseconds that this thread has computed: whatever else the machine does meanwhile is not counted. */
export function threadMs(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1000;
}

/** Milliseconds that a process has computed, to the hundredth of a second; 0 where there is no such process any more. */
export function processMs(pid: number): number {
  try {
    const [user, system] = readFileSync(`/proc/${pid}/stat`, 'latin1')
      .split(') ')
      .at(-1)!
      .split(' ')
      .slice(11, 13);
    return (Number(user) + Number(system)) * 10;
  } catch {
    return 0;
  }
}

/** Milliseconds that this thread could have computed and got no processor; 0 where the system does not say. */
export function waitedMs(): number {
  try {
    return Number(readFileSync('/proc/thread-self/schedstat', 'latin1').split(' ')[1]) / 1e6;
  } catch {
    return 0;
  }
}

/** What the yardstick takes where the figures of the tests were written. */
const YARDSTICK_MS = 10;
const YARDSTICK_WORDS = Array.from({ length: 20_000 }, (_, index) => `${(index * 7919) % 20_011} word`);

/** Milliseconds for a computation that is always the same. */
function yardstickMs(): number {
  const began = threadMs();
  JSON.parse(JSON.stringify(YARDSTICK_WORDS.toSorted()));
  return threadMs() - began;
}

/**
 * What a computation may take on this machine that may take `ms` where the figures of the tests were written: the same
 * number of yardsticks, each of which is measured here. A machine that is ten times slower gets ten times as long.
 */
export function computingMs(ms: number): number {
  return ms * slowness();
}

let known: number | undefined;

/** How many times longer than there a computation takes here; 1 where it takes less. */
export function slowness(): number {
  known ??= Math.max(1, Math.min(yardstickMs(), yardstickMs(), yardstickMs()) / YARDSTICK_MS);
  return known;
}
