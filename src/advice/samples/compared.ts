import type { JsonValue } from '../../json.ts';
import { isListOperator, nameOfVariable, operationOf } from '../../mapping/facts.ts';

/** A variable with the texts that a condition compares it with. */
export interface Compared {
  readonly name: string;
  readonly values: readonly string[];
}

/** What a condition tells kinds of events apart by: variables that are equal to a text, or in a list of texts. */
export function comparedIn(rule: JsonValue): readonly Compared[] {
  if (Array.isArray(rule)) return (rule as readonly JsonValue[]).flatMap(comparedIn);
  const { operator, operands } = operationOf(rule) ?? { operator: '', operands: [] };
  if (isListOperator(operator)) return [];
  const name = operands.map(nameOfVariable).find(Boolean);
  const values = operands.flat().filter((each) => typeof each === 'string');
  const isComparison = /^(?:[!=]==?|in)$/.test(operator) && operands.length === 2;
  return isComparison && name !== undefined ? [{ name, values }] : comparedIn(operands);
}
