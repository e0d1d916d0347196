/** What the system says of another process; undefined where the platform does not tell: only Linux has /proc. */
import { readFileSync } from 'node:fs';

/** Milliseconds of the processor that a process has had. */
export function processorMsOf(pid: number | undefined): number | undefined {
  // Behind the name, which may hold anything: utime and stime, in hundredths of a second.
  const stat = readProc(pid, 'stat');
  const [user, system] = stat.slice(stat.lastIndexOf(')')).split(' ').slice(12, 14).map(Number);
  return user === undefined || system === undefined ? undefined : (user + system) * 10;
}

export interface ProcessState {
  /** What it has in memory. */
  readonly rssBytes: number;
  readonly isSuspended: boolean;
}

export function stateOf(pid: number | undefined): ProcessState | undefined {
  const status = readProc(pid, 'status');
  const kilobytes = /VmRSS:\s+(\d+)/.exec(status)?.[1];
  if (kilobytes === undefined) return undefined;
  return { rssBytes: Number(kilobytes) * 1024, isSuspended: /^State:\s+[Tt]/m.test(status) };
}

function readProc(pid: number | undefined, name: string): string {
  try {
    return readFileSync(`/proc/${pid}/${name}`, 'latin1');
  } catch {
    return '';
  }
}
