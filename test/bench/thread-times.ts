import { readdir, readFile } from 'node:fs/promises';

/** Processor time by thread: the main one, that of the store, and all others (transforms, V8). In seconds. */
export type ThreadTimes = Readonly<Record<'main' | 'storage' | 'others', number>>;

/** The kernel counts in hundredths of a second (`getconf CLK_TCK`). */
const TICKS_PER_SECOND = 100;

/** Processor time that a process has taken since it began. Linux only. */
export async function readThreadTimes(pid: number): Promise<ThreadTimes> {
  const times = { main: 0, storage: 0, others: 0 };
  for (const thread of await readdir(`/proc/${pid}/task`)) {
    // A thread may have ended meanwhile.
    const stat = await readFile(`/proc/${pid}/task/${thread}/stat`, 'latin1').catch(() => undefined);
    if (stat === undefined) continue;
    const name = stat.slice(stat.indexOf('(') + 1, stat.lastIndexOf(')'));
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    const seconds = (Number(fields[11]) + Number(fields[12])) / TICKS_PER_SECOND;
    times[Number(thread) === pid ? 'main' : name.startsWith('storage') ? 'storage' : 'others'] += seconds;
  }
  return times;
}

/** Microseconds a request between two readings. */
export function microsPerRequest(before: ThreadTimes, after: ThreadTimes, requests: number): ThreadTimes {
  const per = (name: keyof ThreadTimes): number => ((after[name] - before[name]) * 1e6) / requests;
  return { main: per('main'), storage: per('storage'), others: per('others') };
}
