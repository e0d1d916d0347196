import { didYouMean } from '../../document/document.ts';
import { spelling } from '../../document/facts.ts';

/** Whether a name is another one with a slip: a letter or two, capitals, signs between words; never the same. */
export function isSlipOfName(name: string, other: string): boolean {
  if (name === other || name.length < 3) return false;
  const isAlike = Math.abs(name.length - other.length) <= 1 && didYouMean(name, [other]) !== undefined;
  return spelling(name) === spelling(other) || isAlike;
}

/** The same of two paths, which differ in one of their names. */
export function isSlip(path: string, near: string): boolean {
  const [a, b] = [path.split('.'), near.split('.')];
  const different = a.flatMap((name, at) => (name === b[at] ? [] : [[name, b[at] ?? ''] as const]));
  const [pair, ...others] = different;
  return a.length === b.length && pair !== undefined && others.length === 0 && isSlipOfName(...pair);
}
