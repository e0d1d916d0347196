import { readdir, readFile } from 'node:fs/promises';

/** Processor time by thread: the main one, that of the store, and all others (transforms, V8). In seconds. */
export type ThreadTimes = Readonly<Record<'main' | 'storage' | 'others', number>>;

/** Processor time that a process has taken since it began. Linux only. */
export async function readThreadTimes(pid: number): Promise<ThreadTimes> {
  const times = { main: 0, storage: 0, others: 0 };
  for (const thread of await readdir(`/proc/${pid}/task`)) {
    const read = (name: string): Promise<string> => readFile(`/proc/${pid}/task/${thread}/${name}`, 'latin1');
    // A thread may have ended meanwhile. `stat` counts in hundredths of a second, this in nanoseconds.
    const found = await Promise.all([read('comm'), read('schedstat')]).catch(() => undefined);
    if (found === undefined) continue;
    const [name, spent] = found;
    const seconds = Number(spent.split(' ', 1)[0]) / 1e9;
    times[Number(thread) === pid ? 'main' : name.startsWith('storage') ? 'storage' : 'others'] += seconds;
  }
  return times;
}

/** Microseconds a request between two readings. */
export function microsPerRequest(before: ThreadTimes, after: ThreadTimes, requests: number): ThreadTimes {
  const per = (name: keyof ThreadTimes): number => ((after[name] - before[name]) * 1e6) / requests;
  return { main: per('main'), storage: per('storage'), others: per('others') };
}
