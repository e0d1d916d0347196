import type { JsonValue } from '../../../base/json.ts';
import { operationOf } from './condition-check.ts';
import { isListOperator } from './rule-lists.ts';

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
