/**
 * Edits of rules, on one line or on several, in YAML's two styles and in JSON. Operands change places as texts: in
 * brackets anything may stand anywhere; as items of a block list, which begin in one column, each keeps its lines.
 * A whole rule becomes one line in brackets, unless comments would be lost.
 */
import { SWAPPED } from './dialects/operators.ts';
import { replaceWithin, type LocatedValue, type Path, type Place } from '../document/document.ts';
import type { TextEdit } from '../finding.ts';
import { isJsonText } from '../json.ts';
import { type Operation } from '../mapping/facts.ts';

/** A rule as it stands in the file: the whole condition, and the rule's path in it. */
export interface RuleInFile {
  readonly located: LocatedValue;
  readonly path: Path;
}

/** Every text holds an empty one: a swap would make a rule that always holds. */
export const asksForEmpty = ({ operator, operands }: Operation): boolean =>
  operands.includes('') && (operator === 'in' || SWAPPED.has(operator));

/** Two operands of an operator that takes them the other way round than ours. */
export function isRenamedSwap({ operator, operands, unary }: Operation): boolean {
  return SWAPPED.has(operator) && !unary && operands.length === 2;
}

/** Of `in`: a list where the value stands, or a text where the list stands. */
export function isSwappable({ operands: [first, second], unary }: Operation): boolean {
  return !unary && (Array.isArray(first) || typeof second === 'string');
}

interface Pair {
  readonly first: Place;
  readonly second: Place;
}

/** The two operands, where each stands in the file as a whole. */
function pairOf(located: LocatedValue, path: Path, operator: string): Pair | undefined {
  const [first, second] = [0, 1].map((index) => trimmed(located.place([...path, operator, index])));
  if (first === undefined || second === undefined || second.start < first.end) return undefined;
  const isBlock = !isBracketed(located.place([...path, operator]));
  return isBlock && columnOf(first) !== columnOf(second) ? undefined : { first, second };
}

export function swap({ located, path }: RuleInFile, operator: string): TextEdit | undefined {
  const pair = pairOf(located, path, operator);
  if (pair === undefined) return undefined;
  return { at: { ...pair.first, end: pair.second.end }, text: swappedText(pair) };
}

/** `contains` and its like, whose operands go the other way round than those of `in`. */
export function renamedSwap({ located, path }: RuleInFile, operator: string): TextEdit | undefined {
  const pair = pairOf(located, path, operator);
  const renamed = replaceWithin(located.place([...path, operator], 'key'), operator, 'in');
  if (pair === undefined || renamed === undefined) return undefined;
  const { source, start, end } = renamed.at;
  const between = source.text.slice(end, pair.first.start);
  return { at: { source, start, end: pair.second.end }, text: `in${between}${swappedText(pair)}` };
}

function swappedText({ first, second }: Pair): string {
  const { text } = first.source;
  return (
    text.slice(second.start, second.end) +
    text.slice(first.end, second.start) +
    text.slice(first.start, first.end)
  );
}

/** Without the line ends and spaces behind a block. */
function trimmed(at: Place): Place {
  const written = at.source.text.slice(at.start, at.end);
  return { ...at, end: at.start + written.trimEnd().length };
}

const isBracketed = ({ source, start }: Place): boolean => '[{'.includes(source.text[start] ?? '');

function columnOf({ source, start }: Place): number {
  return start - source.text.lastIndexOf('\n', start - 1);
}

/** The edit that puts a rule in place of one as it is written. */
export function wholeRule(place: Place, rule: string | undefined): TextEdit | undefined {
  const at = trimmed(place);
  const written = at.source.text.slice(at.start, at.end);
  const hasComment = /(?:^|\s)#|\/[/*]/m.test(written) && written.includes('\n');
  return rule === undefined || hasComment || !isJsonText(rule) ? undefined : { at, text: rule };
}
