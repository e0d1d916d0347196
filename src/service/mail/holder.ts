import { randomBytes } from 'node:crypto';
import { readlinkSync } from 'node:fs';
import { hostname } from 'node:os';

/** Who holds a mailbox: machine, process space, process, and a random part, as process numbers are used again. */
export function newHolder(): string {
  return [hostname(), processSpace(), String(process.pid), randomBytes(6).toString('hex')].join('/');
}

/** Whether a holder is known to be gone: it was a process of this machine that runs no more. */
export function isGone(holder: string): boolean {
  const [host, space, pid = ''] = holder.split('/');
  if (host !== hostname() || space !== processSpace()) return false;
  if (Number(pid) === process.pid) return false;
  try {
    process.kill(Number(pid), 0);
    return false;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ESRCH';
  }
}

/** Two containers may have the same name of host and the same numbers of processes, and not the same namespace. */
function processSpace(): string {
  try {
    return readlinkSync('/proc/self/ns/pid').replaceAll(/\D/g, '');
  } catch {
    return '-';
  }
}
