import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { constants, setPriority } from 'node:os';

/** What V8 calls the threads that collect garbage and compile beside those that run JavaScript. */
const V8_THREAD = 'V8Worker';
/** Threads of this process, by number. */
const THREADS = '/proc/self/task';
const { PRIORITY_BELOW_NORMAL, PRIORITY_LOW } = constants.priority;

/**
 * Lets V8's own threads use the processor only when nobody else needs it. There are four of them, so on a small
 * machine a collection held up all requests for 25 ms. To be called by the main thread; does nothing but on Linux,
 * which alone counts priorities by thread.
 */
export function putCollectorsBehind(): void {
  whereLinux(() => {
    for (const thread of readdirSync(THREADS)) {
      const name = readFileSync(`${THREADS}/${thread}/comm`, 'latin1').trim();
      if (name === V8_THREAD) setPriority(Number(thread), PRIORITY_BELOW_NORMAL);
    }
  });
}

/** Puts the thread that calls behind all others; does nothing but on Linux. */
export function putThisThreadBehind(): void {
  whereLinux(() => {
    const [, , thread] = readlinkSync('/proc/thread-self').split('/');
    setPriority(Number(thread), PRIORITY_LOW);
  });
}

/** Other systems have no /proc; a container may forbid it. Then every thread takes its share, as before. */
function whereLinux(change: () => void): void {
  if (process.platform !== 'linux') return;
  try {
    change();
  } catch {
    // A thread that has ended meanwhile, or a rule of the container.
  }
}
