/**
 * Operators of other languages that have no name here: what they ask for, in operators that there are. Where an operand
 * is missing or cannot be meant, the hint shows the form alone: such a rule has to be thought of, not written by itself.
 */
import { spelling } from '../../../base/document/facts.ts';
import { isJsonObject } from '../../../base/json.ts';
import { operationOf, type Operation } from '../../../engine/mapping/facts.ts';
import { printRule, type RuleHint, writing } from '../rule-parts.ts';
import { compareTo, SIGNS } from './field-rules.ts';

/** What other languages call an operator, beside the signs and words of comparisons. */
const OTHER_NAMES: ReadonlyMap<string, string> = new Map(
  Object.entries({
    '!': 'not',
    and: '&&',
    or: '||',
    in: 'contains includes has oneof',
    cat: 'concat',
  }).flatMap(([operator, words]) => words.split(' ').map((word) => [word, operator])),
);

/** The operator that another language calls so. */
export const synonymOf = (name: string): string | undefined =>
  OTHER_NAMES.get(spelling(name)) ?? SIGNS.get(spelling(name));

/** Words for a list of conditions in other tools: the operator that joins them here, and the one that asks elements of a list. */
const JOINING = new Map(
  (
    [
      ['any anyof either some', { connective: 'or', ofElements: 'some' }],
      ['every allof all', { connective: 'and', ofElements: 'all' }],
      ['nor noneof none', { connective: 'nor', ofElements: 'none' }],
    ] as const
  ).flatMap(([words, meant]) => words.split(' ').map((word) => [word, meant] as const)),
);

/** The operator that such a word means, which only its operands tell; undefined where they do not, and of other words. */
export function joiningOperator(
  operator: string,
  [first, ...others]: Operation['operands'],
): 'and' | 'or' | 'nor' | 'some' | 'all' | 'none' | undefined {
  const { connective, ofElements } = JOINING.get(spelling(operator)) ?? {};
  if (!others.every(isJsonObject)) return undefined;
  if (isList(first) && others.length === 1) return ofElements;
  return isJsonObject(first) ? connective : undefined;
}

/** What to write in place of such a word. */
export function joinedByWord({ operator, operands }: Operation): RuleHint | undefined {
  const own = joiningOperator(operator, operands);
  if (own === undefined) return undefined;
  const rule = own === 'nor' ? { '!': [{ or: operands }] } : { [own]: operands };
  const hint = `write ${JSON.stringify(own === 'nor' ? { '!': [{ or: ['…'] }] } : own)} in place of "${operator}": ${JOINED[own]}`;
  return { hint, rule: printRule(rule) };
}

const JOINED: Readonly<Record<NonNullable<ReturnType<typeof joiningOperator>>, string>> = {
  or: 'it holds where one of its conditions does',
  and: 'it holds where all of its conditions do',
  nor: 'it holds where none of its conditions does',
  some: 'it holds where one element of the list is so',
  all: 'it holds where every element of the list is so',
  none: 'it holds where no element of the list is so',
};

export const isJoiningWord = (operator: string): boolean => JOINING.has(spelling(operator));

/** What a rule over elements goes through: a list, or what may give one. */
const isList = (operand: unknown): boolean =>
  Array.isArray(operand) ||
  /^(?:var|filter|map|merge|reduce|if|\?:)$/.test(operationOf(operand)?.operator ?? '');

/** Synonyms whose operands go the other way round: what is searched stands first. */
export const SWAPPED: ReadonlySet<string> = new Set(['contains', 'includes', 'has']);

/** What is read where no operand says it. */
const EXAMPLE = { var: 'name' };

const PATTERNS: ReadonlySet<string> = new Set(['regex', 'regexp', 'match', 'matches', '=~', 'like', 'glob']);
const OF_ONE = /^(?:exists|isset|defined|present|(?:is)?empty)$/;
const OF_TWO =
  /^(?:not|doesnot)?(?:(?:starts|begins|ends)with|has(?:prefix|suffix)|contains?)$|^(?:notin|nin|between)$/;

/** The hint for an operator that is not known; undefined where it says nothing. */
export function operatorHint(operator: string, operands: readonly unknown[]): RuleHint | undefined {
  const name = spelling(operator).replace(/^!(?=in$)/, 'not');
  const read = readOperand(operands[0]);
  if (PATTERNS.has(name)) return patternHint(read ?? EXAMPLE);
  const isOfOne = OF_ONE.test(name);
  if (!isOfOne && !OF_TWO.test(name)) return undefined;
  const isWhole = read !== undefined && operands.length === (isOfOne ? 1 : 2) && name !== 'between';
  const rule = isWhole ? ruleOf(name, read, operands[1]) : undefined;
  const form = ruleOf(name, EXAMPLE, name.endsWith('in') ? ['a', 'b'] : 'text');
  return rule === undefined
    ? { hint: `write a rule like ${JSON.stringify(form)}` }
    : writing(JSON.stringify(rule).slice(0, MAX_SHOWN));
}

const MAX_SHOWN = 160;

function ruleOf(name: string, read: object, value: unknown): object | undefined {
  if (name === 'between') return { '<=': [0, read, 100] };
  return name.endsWith('empty') ? { '!': read } : compareTo(name, read, value);
}

function patternHint(value: object): RuleHint {
  const read = JSON.stringify(value).slice(0, MAX_SHOWN);
  const hint = `write no pattern, as conditions know none: a part of a text is found by {"in": ["part", ${read}]}, its beginning by {"===": [{"substr": [${read}, 0, 4]}, "part"]}; a pattern needs a transform, which returns null for what it does not want`;
  return { hint };
}

/** What an operand reads: a rule as it is, and a text as the name of a variable. */
function readOperand(operand: unknown): object | undefined {
  if (typeof operand === 'string') return operand.trim() === '' ? undefined : { var: operand };
  return isJsonObject(operand) && Object.keys(operand).length === 1 ? operand : undefined;
}
