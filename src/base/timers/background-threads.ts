import { readdirSync, readFileSync } from 'node:fs';
import { getPriority, setPriority } from 'node:os';

/** What V8 calls the threads that collect garbage and compile beside those that run JavaScript. */
const V8_THREAD = 'V8Worker';
/** Threads of this process, by number. */
const THREADS = '/proc/self/task';
/** Added to the niceness of the process: a third of the share of other threads. Less would hold up those that wait for them where much else is running. */
const BEHIND = 5;
/** The niceness of what comes last. */
const LAST = 19;

/**
 * Lets V8's own threads have less of the processor while others need it. There are four of them, so on a small
 * machine a collection held up all requests for 25 ms. To be called by the main thread; does nothing but on Linux,
 * which alone counts priorities by thread.
 */
export function putCollectorsBehind(): void {
  whereLinux(() => {
    for (const thread of readdirSync(THREADS)) {
      const name = readFileSync(`${THREADS}/${thread}/comm`, 'latin1').trim();
      if (name === V8_THREAD) setPriority(Number(thread), behind());
    }
  });
}

/** Behind the thread that asks: the whole process may have been put behind others. */
function behind(): number {
  return Math.min(LAST, getPriority() + BEHIND);
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
