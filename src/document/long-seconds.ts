import { say } from '../finding.ts';
import type { Finding } from '../finding.ts';
import type { LocatedValue, Path } from './located.ts';
import { formatPath } from './path-text.ts';
import { withEdit } from './text-edit.ts';

const MS = 1_000;
const HOUR = 3_600;
const DAY = 86_400;

/** Whether seconds are most likely milliseconds: whole thousands from 30,000 on that are neither hours of two days nor whole days. */
function isLikelyMilliseconds(value: number): boolean {
  if (value < 30 * MS || value % MS !== 0 || value % DAY === 0) return false;
  return value % HOUR !== 0 || value > 2 * DAY;
}

/** What to write for seconds that are most likely milliseconds; so are all that are above a limit, and a thousandth is not. */
export function meantSeconds(key: string, value: unknown, limit = Infinity): number | undefined {
  if (typeof value === 'number' && limit > 0 && value > limit && key.endsWith('Seconds'))
    return value % MS === 0 && value / MS <= limit ? value / MS : undefined;
  return typeof value === 'number' && key.endsWith('Seconds') && isLikelyMilliseconds(value)
    ? value / MS
    : undefined;
}

/** Warnings of all keys in seconds, wherever they stand, whose values are most likely milliseconds; `without` are left out. */
export function findLongSeconds(root: LocatedValue, without: readonly string[] = []): readonly Finding[] {
  return visit(root, [], without);
}

function visit(root: LocatedValue, path: Path, without: readonly string[]): readonly Finding[] {
  const { value } = root.at(path);
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return [];
  return Object.entries(value).flatMap(([key, inner]) => {
    const own = [...path, key];
    if (without.includes(formatPath(own))) return [];
    const seconds = meantSeconds(key, inner);
    return seconds === undefined ? visit(root, own, without) : [describe(root, own, seconds)];
  });
}

function describe(root: LocatedValue, path: Path, seconds: number): Finding {
  const key = String(path.at(-1));
  const at = root.place(path);
  const hours = Math.round((seconds * MS) / HOUR);
  const found: Finding = {
    severity: 'warning',
    code: 'SECONDS_LONG',
    message: say`${formatPath(root.at(path).path)}: ${seconds * MS} s are ${hours >= 72 ? `${Math.round(hours / 24)} days` : `${hours} h`}: the unit is seconds`,
    at,
    hint: say`write ${key}: ${seconds}`,
  };
  return withEdit(found, Number.isInteger(seconds) ? { at, text: String(seconds) } : undefined);
}
