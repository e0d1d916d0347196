import { isJsonObject, type JsonValue } from '../../json.ts';
import { isListOperator } from './rule-lists.ts';

/** The variables that a rule reads of what it is asked of; not what the rule inside of a list operator reads of an element. */
export function namesRead(rule: JsonValue): readonly string[] {
  if (Array.isArray(rule)) return (rule as readonly JsonValue[]).flatMap(namesRead);
  if (!isJsonObject(rule)) return [];
  return Object.entries(rule).flatMap(([operator, operands]) => {
    const first: JsonValue | undefined = Array.isArray(operands)
      ? (operands as readonly JsonValue[])[0]
      : operands;
    if (operator === 'var') return typeof first === 'string' ? [first] : [];
    return namesRead(isListOperator(operator) ? (first ?? null) : operands);
  });
}
