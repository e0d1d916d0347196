import { quoted, say } from '../../finding.ts';
import { foreignOperatorHint } from './foreign-operators.ts';
import {
  didYouMean,
  replaceWithin,
  shorten,
  withEdit,
  type Finding,
  type Place,
} from '../../document/document.ts';
import { emptyPathFinding, itemFinding, proofFinding } from './empty-path.ts';
import type { Report } from '../mapping-codes.ts';
import { printRule } from './meant-rule.ts';
import { writing } from './rule-facts.ts';

/** Smallest and largest number of operands of an operator; `Infinity` where there is no bound. */
interface Arity {
  readonly min: number;
  readonly max: number;
}

const ANY: Arity = { min: 0, max: Infinity };
const ONE: Arity = { min: 1, max: 1 };
const TWO: Arity = { min: 2, max: 2 };
const TWO_OR_THREE: Arity = { min: 2, max: 3 };

/** Every operator of JsonLogic but `log`, with the operands it takes. */
export const OPERATORS: ReadonlyMap<string, Arity> = new Map([
  ['var', { min: 0, max: 2 }],
  ['missing', ANY],
  ['missing_some', TWO],
  ['if', ANY],
  ['?:', { min: 2, max: Infinity }],
  ['and', { min: 1, max: Infinity }],
  ['or', { min: 1, max: Infinity }],
  ['!', ONE],
  ['!!', ONE],
  ['==', TWO],
  ['===', TWO],
  ['!=', TWO],
  ['!==', TWO],
  ['>', TWO],
  ['>=', TWO],
  ['<', TWO_OR_THREE],
  ['<=', TWO_OR_THREE],
  ['in', TWO],
  ['cat', ANY],
  ['substr', TWO_OR_THREE],
  ['+', { min: 1, max: Infinity }],
  ['*', { min: 1, max: Infinity }],
  ['-', { min: 1, max: 2 }],
  ['/', TWO],
  ['%', TWO],
  ['min', { min: 1, max: Infinity }],
  ['max', { min: 1, max: Infinity }],
  ['merge', ANY],
  ['map', TWO],
  ['filter', TWO],
  ['all', TWO],
  ['some', TWO],
  ['none', TWO],
  ['reduce', TWO_OR_THREE],
]);

/** Names of all operators, for completion. */
export const CONDITION_OPERATORS: readonly string[] = [...OPERATORS.keys()];

/** Whether a name is one of an operator, here or elsewhere, or nearly so. */
export function isOperatorName(name: string): boolean {
  if (OPERATORS.has(name) || name === 'log' || Object.hasOwn(SYNONYMS, name)) return true;
  return foreignOperatorHint(name, []) !== undefined || didYouMean(name, OPERATORS.keys()) !== undefined;
}

/** What other languages call an operator. */
const SYNONYMS: Readonly<Record<string, string>> = {
  '=': '===',
  eq: '===',
  equals: '===',
  ne: '!==',
  '<>': '!==',
  not: '!',
  '&&': 'and',
  '||': 'or',
  contains: 'in',
  includes: 'in',
  has: 'in',
  gt: '>',
  gte: '>=',
  lt: '<',
  lte: '<=',
  neq: '!==',
  notEquals: '!==',
  equal: '===',
  is: '===',
  oneOf: 'in',
  AND: 'and',
  OR: 'or',
  NOT: '!',
  concat: 'cat',
  any: 'some',
  every: 'all',
};

/** Synonyms whose operands go the other way round: what is searched stands first. */
export const SWAPPED: ReadonlySet<string> = new Set(['contains', 'includes', 'has']);

/** Deeper rules than this are refused: nobody reads them, and evaluation recurses. */
export const MAX_CONDITION_DEPTH = 64;

/** An operator and its operands as written; `unary` where they stood without an array around them. */
export interface Operation {
  readonly operator: string;
  readonly operands: readonly unknown[];
  readonly unary: boolean;
}

/** The same operators as a list: also where they stand below an `and` already. */
function joinHint(value: object): string {
  const rules = Object.entries(value).map(([operator, operands]) => ({ [operator]: operands as unknown }));
  const joined = JSON.stringify(rules);
  return joined.length > 160
    ? 'join them with {"and": [...]}, each in { } of its own'
    : `each in { } of its own, in a list: {"and": ${joined}}`;
}

/** Takes a rule object apart, or says why it is none. */
export function parseOperation(value: object, at: Place): Operation | Finding {
  const keys = Object.keys(value);
  const [operator] = keys;
  if (operator === undefined || keys.length > 1) {
    return {
      severity: 'error',
      code: 'CONDITION_NOT_ONE_OPERATOR',
      message: say`a rule has exactly one operator, found ${keys.length === 0 ? 'none' : `${keys.length}: ${quoteAll(keys)}`}`,
      at,
      ...writing(keys.length > 1 ? joinHint(value) : 'write {"operator": [operands]}'),
    };
  }
  const operands = (value as Record<string, unknown>)[operator];
  return Array.isArray(operands)
    ? { operator, operands, unary: false }
    : { operator, operands: [operands], unary: true };
}

/** Whether the operator exists and takes that many operands. */
export function checkOperation(rule: Operation, at: Place): Finding | undefined {
  const { operator, operands } = rule;
  if (operator === 'log') return { ...LOG, at };
  const arity = OPERATORS.get(operator);
  if (arity === undefined) return unknownOperator(rule, at);
  if (operands.length >= arity.min && operands.length <= arity.max) return undefined;
  return {
    severity: 'error',
    code: 'CONDITION_ARITY',
    message: say`"${operator}" takes ${arityText(arity)}, found ${operands.length}`,
    at,
    ...writing(
      operator === '!' && operands.length === 0
        ? 'for an empty list write {"!": [[]]}'
        : (severalHint(rule) ?? arityHint(operator, arity)),
    ),
  };
}

/** `!some` and `not_in`: what is negated stands in a rule of its own. */
function negatedHint(operator: string, operands: readonly unknown[]): string | undefined {
  const [, name = ''] = /^(?:!|not?[ _-]?)(.+)$/i.exec(operator) ?? [];
  const own = Object.hasOwn(SYNONYMS, name) ? SYNONYMS[name] : name;
  if (own === undefined || !OPERATORS.has(own)) return undefined;
  const inner = SWAPPED.has(name) ? operands.toReversed() : operands;
  return `write ${shown({ '!': { [own]: inner } })}`;
}

const LOG = {
  severity: 'error',
  code: 'CONDITION_LOG',
  message: say`the operator "log" is not allowed in a condition: it would write payloads to the log`,
  hint: say`\`sluice explain\` shows every value a condition read`,
} as const;

function unknownOperator({ operator, operands }: Operation, at: Place): Finding {
  const synonym = Object.hasOwn(SYNONYMS, operator) ? SYNONYMS[operator] : undefined;
  const foreign =
    synonym === undefined
      ? (foreignOperatorHint(operator, operands) ?? negatedHint(operator, operands))
      : undefined;
  const near = foreign === undefined ? (synonym ?? didYouMean(operator, OPERATORS.keys())) : undefined;
  const swapped = SWAPPED.has(operator);
  const edit = near === undefined || swapped ? undefined : replaceWithin(at, operator, near);
  const hint =
    near === undefined
      ? (foreign ?? `the operators are: ${[...OPERATORS.keys()].join(' ')}`)
      : swapped
        ? `write it the other way round, what is looked for first: {"in": ${JSON.stringify(operands.toReversed()).slice(0, 160)}}`
        : `did you mean "${near}"?`;
  const message = `unknown operator ${quote(operator)}`;
  const code = 'CONDITION_UNKNOWN_OPERATOR';
  return withEdit({ severity: 'error', code, message: quoted(message), at, ...writing(hint) }, edit);
}

/** Equality written in a way that does not do what it seems to: comparing with null, or loosely with true or "". */
export function checkEquality({ operator, operands }: Operation, at: Place): Finding | undefined {
  if (!['==', '===', '!=', '!=='].includes(operator) || !operands.some(isVariable)) return undefined;
  if (operands.includes(null)) return nullComparison(operator, at);
  const isLoose = operator.length === 2;
  const converts = operands.some((operand) => typeof operand === 'boolean' || operand === '');
  return isLoose && converts ? looseEquality(operator, at) : undefined;
}

function isVariable(operand: unknown): boolean {
  return typeof operand === 'object' && operand !== null && Object.hasOwn(operand, 'var');
}

function nullComparison(operator: string, at: Place): Finding {
  return {
    severity: 'warning',
    code: 'CONDITION_NULL_COMPARISON',
    message: say`"${operator}" with null only sees a null that was sent: a missing value makes the comparison unknown`,
    at,
    hint: say`for "missing or null" write {"missing": ["name"]} or {"!": {"var": "name"}}`,
  };
}

function looseEquality(operator: string, at: Place): Finding {
  const strict = operator === '==' ? '===' : '!==';
  const found: Finding = {
    severity: 'warning',
    code: 'CONDITION_LOOSE_EQUALITY',
    message: say`"${operator}" converts before it compares: 1, "1" and [1] are all equal to true, and 0 to ""`,
    at,
    hint: say`write "${strict}"`,
  };
  return withEdit(found, replaceWithin(at, operator, strict));
}

/** A variable at the root whose name can find nothing. */
export function checkVariable({ operator, operands }: Operation, nameAt: Place): Finding | undefined {
  const [name] = operands;
  if (operator !== 'var' || typeof name !== 'string') return undefined;
  const keys = name.split('.');
  const finding =
    bracketFinding(name) ?? emptyPathFinding(keys) ?? proofFinding(keys) ?? itemFinding(keys, 'condition');
  if (finding === undefined) return undefined;
  const { replace, ...found } = finding;
  const edit = replace === undefined ? undefined : replaceWithin(nameAt, replace.from, replace.to);
  return withEdit({ ...found, at: nameAt }, edit);
}

/** `alerts[0].status` and `form['First Name']`, as templates write them. */
function bracketFinding(name: string): (Report & { readonly severity: 'warning' }) | undefined {
  const dotted = name.replaceAll(/\.?\[(?:(\d+)|["']([^"'.[\]]+)["'])\]/g, '.$1$2').replace(/^\./, '');
  if (!name.includes('[') || /[[\]]/.test(dotted)) return undefined;
  return {
    severity: 'warning',
    code: 'FOREIGN_PATH',
    message: say`brackets are for templates: a condition reads ${quote(name)} as the name of a field`,
    hint: say`write ${dotted}`,
    replace: { from: name, to: dotted },
  };
}

/** A value in a hint, as JSON. */
export function shown(value: unknown): string {
  return (JSON.stringify(value) ?? '').slice(0, 120);
}

/** A rule in a hint, such as the whole operand that reads a variable: with its default, where it has one. */
export function shownRule(rule: unknown): string {
  return printRule(rule).slice(0, 120);
}

/** The name that a `var` operand reads. */
export function nameOfVariable(operand: unknown): string | undefined {
  if (typeof operand !== 'object' || operand === null || !Object.hasOwn(operand, 'var')) return undefined;
  const { var: name } = operand as { readonly var: unknown };
  const first: unknown = Array.isArray(name) ? name[0] : name;
  return typeof first === 'string' ? first : undefined;
}

/** A third operand of an equality was meant as "or". */
function severalHint({ operator, operands: [first, ...values] }: Operation): string | undefined {
  const name = nameOfVariable(first);
  const isConstant = values.every((value) => value === null || typeof value !== 'object');
  if (name === undefined || values.length < 2 || !isConstant || !/^[!=]==?$/.test(operator)) return undefined;
  return severalRule(operator, first, values);
}

/** The hint for an equality with several values: the rule for one of them, and for none where the operator negates. */
export function severalRule(operator: string, variable: unknown, values: unknown): string {
  const rule = `{"in": [${shownRule(variable)}, ${shown(values)}]}`;
  return operator.startsWith('!')
    ? `for none of several values write {"!": [${rule}]}`
    : `for one of several values write ${rule}`;
}

/** The operator with as many operands as it needs. */
function arityHint(operator: string, { min }: Arity): string {
  const example =
    EXAMPLES[operator] ??
    Array.from({ length: min }, (_, index) => `{"var": "${NAMES[index] ?? 'c'}"}`).join(', ');
  return `write {"${operator}": [${example}]}`;
}

const NAMES = ['a', 'b'] as const;
const EXAMPLES: Readonly<Record<string, string>> = {
  var: '"name", "default"',
  missing_some: '1, ["a", "b"]',
  substr: '{"var": "ref"}, 0, 11',
  map: '{"var": "list"}, {"var": "name"}',
  filter: '{"var": "list"}, {"var": "name"}',
  all: '{"var": "list"}, {"var": "name"}',
  some: '{"var": "list"}, {"var": "name"}',
  none: '{"var": "list"}, {"var": "name"}',
  reduce: '{"var": "list"}, {"+": [{"var": "accumulator"}, {"var": "current"}]}, 0',
};

function arityText({ min, max }: Arity): string {
  if (max === Infinity) return `at least ${operandCount(min)}`;
  return min === max ? operandCount(min) : `${min} to ${operandCount(max)}`;
}

function operandCount(count: number): string {
  return `${count} operand${count === 1 ? '' : 's'}`;
}

export function quote(text: string): string {
  return `"${shorten(text)}"`;
}

function quoteAll(keys: readonly string[]): string {
  const shown = keys.slice(0, 4).map(quote).join(', ');
  return keys.length > 4 ? `${shown}, …` : shown;
}
