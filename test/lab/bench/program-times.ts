import { readdirSync, readFileSync } from 'node:fs';

const PROGRAMS = {
  database: /^\S*postgres/,
  services: / serve -c /,
  proxies: /delaying-proxy/,
  senders: /bench\/load\.ts/,
} as const;

/** Processor time, in seconds. */
export type ProgramTimes = Readonly<Record<keyof typeof PROGRAMS, number>>;

/** The kernel counts in hundredths of a second (`getconf CLK_TCK`). */
const TICKS_PER_SECOND = 100;

/** What the programs have taken so far that this process started, and that those started. Linux only. */
export function readProgramTimes(): ProgramTimes {
  const processes = readdirSync('/proc').flatMap((pid) => (/^\d+$/.test(pid) ? readProcess(pid) : []));
  const parents = new Map(processes.map(({ pid, parent }) => [pid, parent]));
  const isOurs = (pid: number | undefined): boolean =>
    pid === process.pid || (pid !== undefined && isOurs(parents.get(pid)));
  const times = { database: 0, services: 0, proxies: 0, senders: 0 };
  for (const { pid, command, seconds } of processes) {
    if (!isOurs(pid)) continue;
    for (const [name, pattern] of Object.entries(PROGRAMS))
      if (pattern.test(command)) times[name as keyof typeof times] += seconds;
  }
  return times;
}

interface Process {
  readonly pid: number;
  readonly parent: number;
  readonly command: string;
  readonly seconds: number;
}

/** None where it has ended meanwhile. */
function readProcess(pid: string): readonly Process[] {
  try {
    const command = readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ');
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
    const fields = stat
      .slice(stat.lastIndexOf(')') + 2)
      .split(' ')
      .map(Number);
    const [, parent = 0] = fields;
    const seconds = ((fields[11] ?? 0) + (fields[12] ?? 0)) / TICKS_PER_SECOND;
    return [{ pid: Number(pid), parent, command, seconds }];
  } catch {
    return [];
  }
}

/** How many processors each took between two readings. */
export function shareOf(before: ProgramTimes, after: ProgramTimes, seconds: number): string {
  const names = Object.keys(PROGRAMS) as (keyof ProgramTimes)[];
  return names.map((name) => `${name} ${((after[name] - before[name]) / seconds).toFixed(2)}`).join(', ');
}
