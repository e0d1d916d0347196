import { spelling } from '../../../base/document/facts.ts';

/** Whether a name is another one with a slip: a letter or two, capitals, signs between words; never the same. */
function isSlipOfName(name: string, other: string): boolean {
  if (name === other || name.length < 3 || Math.abs(name.length - other.length) > 1) return false;
  if (spelling(name) === spelling(other)) return true;
  let start = 0;
  while (start < name.length && name[start] === other[start]) start += 1;
  let end = 0;
  const most = Math.min(name.length, other.length) - start;
  while (end < most && name.at(-1 - end) === other.at(-1 - end)) end += 1;
  const [one, two] = [name.slice(start, name.length - end), other.slice(start, other.length - end)];
  // `team-a` and `team-b`, `v1` and `v2` are two names.
  const isWord = !/\p{L}$/u.test(name.slice(0, start)) && !/^\p{L}/u.test(name.slice(name.length - end));
  return Math.max(one.length, two.length) <= 2 && !isWord && !/\d/.test(one + two);
}

/** The same of two paths, which differ in one of their names. */
export function isSlip(path: string, near: string): boolean {
  const [a, b] = [path.split('.'), near.split('.')];
  const different = a.flatMap((name, at) => (name === b[at] ? [] : [[name, b[at] ?? ''] as const]));
  const [pair, ...others] = different;
  return a.length === b.length && pair !== undefined && others.length === 0 && isSlipOfName(...pair);
}

/** The same of the values of a field: also a verb in another form (`open`), and a name without what stands before it. */
export const isSlipOfValue = (value: string, other: string): boolean =>
  isSlipOfName(value, other) ||
  (value.length > 3 && [`${value}d`, `${value}ed`].includes(other)) ||
  (value.length > 3 && /[:./]$/.test(other.slice(0, -value.length)) && other.endsWith(value));
