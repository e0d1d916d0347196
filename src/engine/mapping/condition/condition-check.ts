import { inWords, plural, say, type Sentence } from '../../../base/finding.ts';
import type { Finding, Place } from '../../../base/document/document.ts';
import { isJsonObject, type JsonValue } from '../../../base/json.ts';
import { quote } from '../reporter.ts';
import { RESERVED_NAMES } from '../scope.ts';

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

/** The second operand of these is evaluated for each element of the first. */
const LIST_OPERATORS = ['map', 'filter', 'all', 'some', 'none', 'reduce'] as const;
export type ListOperator = (typeof LIST_OPERATORS)[number];

export function isListOperator(operator: string): operator is ListOperator {
  return (LIST_OPERATORS as readonly string[]).includes(operator);
}

/** Deeper rules than this are refused: nobody reads them, and evaluation recurses. */
export const MAX_CONDITION_DEPTH = 64;

/** An operator and its operands as written; `unary` where they stood without an array around them. */
export interface RuleOperation {
  readonly operator: string;
  readonly operands: readonly JsonValue[];
  readonly unary: boolean;
}

/** The operator of a rule with its operands; undefined of a constant, and where it has no operator, or several. */
export function operationOf(rule: unknown): RuleOperation | undefined {
  const [[operator, operands] = [], ...more] = isJsonObject(rule) ? Object.entries(rule) : [];
  if (operator === undefined || operands === undefined || more.length > 0) return undefined;
  return Array.isArray(operands)
    ? { operator, operands: operands as readonly JsonValue[], unary: false }
    : { operator, operands: [operands], unary: true };
}

/** The name that `{"var": "name"}` reads, with or without a default; undefined for any other operand. */
export function nameOfVariable(operand: unknown): string | undefined {
  const { operator, operands: [name] = [] } = operationOf(operand) ?? {};
  return operator === 'var' && typeof name === 'string' ? name : undefined;
}

export const hasDefault = (operand: unknown): boolean => (operationOf(operand)?.operands.length ?? 0) > 1;

/** What keeps a rule from being one; `at` is its place, `keyAt` the one of its operator. */
export function operationProblem(
  value: object,
  operation: RuleOperation | undefined,
  { at, keyAt }: { readonly at: Place; readonly keyAt: () => Place },
): Finding | undefined {
  const found = (code: string, message: Sentence, place = keyAt()): Finding => ({
    severity: 'error',
    code,
    message,
    at: place,
  });
  if (operation === undefined) {
    const keys = Object.keys(value);
    const what = keys.length === 0 ? 'none' : `${keys.length}: ${quoteAll(keys)}`;
    return found('CONDITION_NOT_ONE_OPERATOR', say`a rule has exactly one operator, found ${what}`, at);
  }
  const { operator, operands } = operation;
  const arity = OPERATORS.get(operator);
  if (operator === 'log')
    return found(
      'CONDITION_LOG',
      say`the operator "log" is not allowed in a condition: it would write payloads to the log`,
    );
  if (arity === undefined)
    return found('CONDITION_UNKNOWN_OPERATOR', say`unknown operator ${quote(operator)}`);
  if (operands.length >= arity.min && operands.length <= arity.max) return undefined;
  const message = say`"${operator}" takes ${arityText(arity)}, found ${operands.length}`;
  return found('CONDITION_ARITY', message);
}

function arityText({ min, max }: Arity): string {
  if (max === Infinity) return `at least ${plural(min, 'operand')}`;
  return min === max ? plural(min, 'operand') : `${min} to ${plural(max, 'operand')}`;
}

function quoteAll(keys: readonly string[]): string {
  const shown = keys.slice(0, 4).map(quote).join(', ');
  return keys.length > 4 ? `${shown}, …` : shown;
}

/** What an editor shows beside an operator. */
const DESCRIPTIONS: Readonly<Record<string, string>> = {
  var: `A value of the request by its path: a bare name reads the payload, but for ${inWords(RESERVED_NAMES)}.`,
  missing: 'Those of the named variables that the request does not have.',
  missing_some: 'Empty where at least the given number of the variables is there.',
  if: 'Condition, value, otherwise; further pairs may stand in between.',
  and: 'Holds where all conditions hold.',
  or: 'Holds where one of the conditions holds.',
  '!': 'Holds where the condition does not.',
  '!!': 'Holds where the value is there and is not empty, 0 or false.',
  '===': 'Equal, and of the same type.',
  '!==': 'Not equal, or of another type.',
  '==': 'Equal; a text and a number are compared as numbers.',
  '!=': 'Not equal; a text and a number are compared as numbers.',
  '<': 'Less than; with three operands: the second is between the others.',
  '<=': 'Less than or equal; with three operands: the second is between the others, or equal to one.',
  in: 'Holds where the first operand is in the second, a list or a text.',
  cat: 'The operands as one text.',
  substr: 'A part of a text: start, length.',
  map: 'A list with every element changed; the element is {"var": ""}.',
  filter: 'The elements of a list for which the condition holds.',
  all: 'Holds where the condition holds for every element of a list.',
  some: 'Holds where the condition holds for at least one element of a list.',
  none: 'Holds where the condition holds for no element of a list.',
};

const RULE = '#/definitions/rule';
const OPERAND = '#/definitions/operand';

/** An operand that stands without a list around it. */
const SINGLE = [{ $ref: RULE }, { type: ['string', 'number', 'boolean', 'null'] }];

/**
 * JSON Schemas of conditions, for completion in editors: `definitions` of the schema that refers to `rule`. They are
 * looser than the compiler, which says more about a wrong condition.
 */
export function conditionDefinitions(): Readonly<Record<string, object>> {
  const operators = [...OPERATORS].map(([operator, { min, max }]) => {
    const description = DESCRIPTIONS[operator];
    const most = max === Infinity ? {} : { maxItems: max };
    const list = { type: 'array', items: { $ref: OPERAND }, minItems: min, ...most };
    const anyOf = [list, ...(min <= 1 ? SINGLE : [])];
    return [operator, { ...(description && { description }), anyOf }] as const;
  });
  return {
    rule: {
      description: 'A JsonLogic condition: one operator with its operands.',
      type: 'object',
      properties: Object.fromEntries(operators),
      additionalProperties: false,
      minProperties: 1,
      maxProperties: 1,
    },
    operand: { anyOf: [...SINGLE, { type: 'array', items: { $ref: OPERAND } }] },
  };
}

/** The rules that all have to hold for a condition to hold; none where it always does. */
export function conjunctsOf(rule: JsonValue | undefined): readonly JsonValue[] {
  if (rule === undefined || rule === true) return [];
  const { operator, operands = [], unary } = operationOf(rule) ?? {};
  return operator === 'and' && unary === false ? operands.flatMap(conjunctsOf) : [rule];
}

/** The same as texts, in one order, each once: two conditions ask for the same where these are equal. */
export function conjunctTexts(rule: JsonValue | undefined): readonly string[] {
  return [...new Set(conjunctsOf(rule).map((each) => JSON.stringify(each)))].toSorted();
}

/** The variables that a rule reads of what it is asked of; not what the rule inside of a list operator reads of an element. */
export function namesRead(rule: JsonValue): readonly string[] {
  if (Array.isArray(rule)) return (rule as readonly JsonValue[]).flatMap(namesRead);
  const { operator = '', operands = [] } = operationOf(rule) ?? {};
  if (operator === 'var') return operands.slice(0, 1).filter((name) => typeof name === 'string');
  return namesRead(isListOperator(operator) ? operands.slice(0, 1) : operands);
}
