/**
 * Edits of rules, on one line or on several, in YAML's two styles and in JSON. Operands change places as texts: in
 * brackets anything may stand anywhere; as items of a block list, which begin in one column, each keeps its lines.
 * A whole rule becomes one line in brackets, unless comments would be lost.
 */
import {
  replaceWithin,
  type Finding,
  type LocatedValue,
  type Path,
  type Place,
  type TextEdit,
} from '../../document/document.ts';
import { isJsonText } from '../../json.ts';
import { SWAPPED, type Operation } from './condition-check.ts';
import { ruleFacts } from './rule-facts.ts';

/** The edit of a finding about a rule, where its remedy is one; else the one that it has already. */
export function editOfRule(
  located: LocatedValue,
  operation: Operation,
  path: Path,
  finding: Finding,
): TextEdit | undefined {
  const { operator } = operation;
  const { code, edit } = finding;
  const { rule, isWhole: isAll } = ruleFacts(finding);
  // Every text holds an empty one.
  const isAlways = operation.operands.includes('') && (operator === 'in' || SWAPPED.has(operator));
  if (isAlways) return undefined;
  const isUnknown = code === 'CONDITION_UNKNOWN_OPERATOR';
  if (isUnknown && isRenamedSwap(operation)) return renamedSwap(located, path, operator);
  const isWhole =
    isAll === true ||
    (isUnknown && edit === undefined) ||
    (code === 'CONDITION_OPERANDS' && operator !== 'in');
  if (isWhole) return wholeRule(located.place(path), rule);
  if (code !== 'CONDITION_OPERANDS' || !isSwappable(operation)) return edit;
  return swap(located, path, operator) ?? edit;
}

/** Two operands of an operator that takes them the other way round than ours. */
function isRenamedSwap({ operator, operands, unary }: Operation): boolean {
  return SWAPPED.has(operator) && !unary && operands.length === 2;
}

/** Of `in`: a list where the value stands, or a text where the list stands. */
function isSwappable({ operands: [first, second], unary }: Operation): boolean {
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

function swap(located: LocatedValue, path: Path, operator: string): TextEdit | undefined {
  const pair = pairOf(located, path, operator);
  if (pair === undefined) return undefined;
  return { at: { ...pair.first, end: pair.second.end }, text: swappedText(pair) };
}

/** `contains` and its like, whose operands go the other way round than those of `in`. */
function renamedSwap(located: LocatedValue, path: Path, operator: string): TextEdit | undefined {
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
