/** What the system says of another process; undefined where the platform does not tell: only Linux has /proc. */
import { readFileSync } from 'node:fs';

/** The fields of /proc/PID/stat (proc(5)) from the state on: they stand behind the name, which may hold anything. */
export function statFields(pid: number | undefined): readonly string[] {
  const stat = readProc(pid, 'stat');
  return stat.slice(stat.lastIndexOf(')') + 2).split(' ');
}

/** Milliseconds of the processor that a process has had. */
export function processorMsOf(pid: number | undefined): number | undefined {
  // utime and stime, in hundredths of a second.
  const [user, system] = statFields(pid).slice(11, 13).map(Number);
  return user === undefined || system === undefined ? undefined : (user + system) * 10;
}

export interface ProcessState {
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
