/** Seconds that are most likely milliseconds. */
import type { LocatedValue, Path } from '../../../base/document/document.ts';
import { formatPath } from '../../../base/document/facts.ts';
import { say } from '../../../base/finding.ts';
import { type AnyLook, type Found, look } from '../rule.ts';

const MS = 1_000;
const HOUR = 3_600;
const DAY = 86_400;

/** Whether seconds are most likely milliseconds: whole thousands from 30,000 on that are neither hours of two days nor whole days. */
function isLikelyMilliseconds(value: number): boolean {
  if (value < 30 * MS || value % MS !== 0 || value % DAY === 0) return false;
  return value % HOUR !== 0 || value > 2 * DAY;
}

/** What to write for seconds that are most likely milliseconds; so are all that are above a limit, and a thousandth is not. */
export function likelySeconds(key: string, value: unknown, limit = Infinity): number | undefined {
  if (typeof value === 'number' && limit > 0 && value > limit && key.endsWith('Seconds'))
    return value % MS === 0 && value / MS <= limit ? value / MS : undefined;
  return typeof value === 'number' && key.endsWith('Seconds') && isLikelyMilliseconds(value)
    ? value / MS
    : undefined;
}

/** All keys in seconds, wherever they stand; `without` are left out. */
function findLongSeconds(
  root: LocatedValue,
  without: readonly string[] = [],
  path: Path = [],
): readonly Found[] {
  const { value } = root.at(path);
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return [];
  return Object.entries(value).flatMap(([key, inner]) => {
    const own = [...path, key];
    if (without.includes(formatPath(own))) return [];
    const seconds = likelySeconds(key, inner);
    return seconds === undefined ? findLongSeconds(root, without, own) : [describe(root, own, seconds)];
  });
}

function describe(root: LocatedValue, path: Path, seconds: number): Found {
  const key = String(path.at(-1));
  const at = root.place(path);
  const hours = Math.round((seconds * MS) / HOUR);
  const length = hours >= 72 ? `${Math.round(hours / 24)} days` : `${hours} h`;
  return {
    message: say`${formatPath(root.at(path).path)}: ${seconds * MS} s are ${length}: the unit is seconds`,
    at,
    hint: say`write ${key}: ${seconds}`,
    ...(Number.isInteger(seconds) && { edit: { at, text: String(seconds) } }),
  };
}

export const LONG_SECONDS: readonly AnyLook[] = [
  look({
    on: 'configuration',
    codes: ['SECONDS_LONG'],
    confidence: 'likely',
    find: ({ root }) => findLongSeconds(root, ['hooks.mappings']),
  }),
  look({
    on: 'mapping',
    codes: ['SECONDS_LONG'],
    confidence: 'likely',
    find: ({ located }) => findLongSeconds(located),
  }),
];
