import { readdir, readFile } from 'node:fs/promises';

/**
 * Processor time by thread: the main one, that of the store, and all others (V8); and of all processes that it started,
 * which run the transforms. In seconds.
 */
export type ThreadTimes = Readonly<Record<'main' | 'storage' | 'others' | 'workers', number>>;

/** Processor time that a process, and those it started that still live, have taken since they began. Linux only. */
export async function readThreadTimes(pid: number): Promise<ThreadTimes> {
  const times = { main: 0, storage: 0, others: 0, workers: 0 };
  const children = await readFile(`/proc/${pid}/task/${pid}/children`, 'latin1').catch(() => '');
  for (const child of children.split(' ').filter((each) => each !== ''))
    for (const spent of Object.values(await readThreadTimes(Number(child)))) times.workers += spent;
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
  return { main: per('main'), storage: per('storage'), others: per('others'), workers: per('workers') };
}
