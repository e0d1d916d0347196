/** What several rounds of a measurement say. */
import { readFile } from 'node:fs/promises';

export function median(values: readonly number[]): number {
  return percentile(values, 0.5);
}

/** `share` of the values are at most this; 0.5 is the median. */
export function percentile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
}

/** The median, and behind it the least and the most: `36 (34 to 37)`. */
export function withSpread(values: readonly number[], print: (value: number) => string): string {
  const [least, middle, most] = [percentile(values, 0), median(values), percentile(values, 1)].map(print);
  return least === most ? `${middle}` : `${middle} (${least} to ${most})`;
}

export function percent(share: number): string {
  return `${(share * 100).toFixed(0)}%`;
}

/** Megabytes of a process that are in memory. Linux only, as the bench is. */
export async function residentMegabytes(pid: number): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8');
  return Number(/^VmRSS:\s+(\d+) kB/m.exec(status)?.[1] ?? Number.NaN) / 1024;
}
