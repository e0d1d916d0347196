import type { JsonValue } from '../../json.ts';
import { operationOf } from './condition-check.ts';

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
