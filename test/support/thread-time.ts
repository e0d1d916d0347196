import { readFileSync } from 'node:fs';

/** Milliseconds that this thread has computed: whatever else the machine does meanwhile is not counted. */
export function threadMs(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1000;
}

/** Milliseconds that this thread could have computed and got no processor; 0 where the system does not say. */
export function waitedMs(): number {
  try {
    return Number(readFileSync('/proc/thread-self/schedstat', 'latin1').split(' ')[1]) / 1e6;
  } catch {
    return 0;
  }
}
