import type { JsonValue } from '../../json.ts';
import { operationOf } from './condition-check.ts';
import { isListOperator } from './rule-lists.ts';

/** The variables that a rule reads of what it is asked of; not what the rule inside of a list operator reads of an element. */
export function namesRead(rule: JsonValue): readonly string[] {
  if (Array.isArray(rule)) return (rule as readonly JsonValue[]).flatMap(namesRead);
  const { operator = '', operands = [] } = operationOf(rule) ?? {};
  if (operator === 'var') return operands.slice(0, 1).filter((name) => typeof name === 'string');
  return namesRead(isListOperator(operator) ? operands.slice(0, 1) : operands);
}
