import { isJsonObject, type JsonValue } from '../../json.ts';

/** A variable with the texts that a condition compares it with. */
export interface Compared {
  readonly name: string;
  readonly values: readonly string[];
}

/** What a condition tells kinds of events apart by: variables that are equal to a text, or in a list of texts. */
export function comparedIn(rule: JsonValue): readonly Compared[] {
  if (Array.isArray(rule)) return (rule as readonly JsonValue[]).flatMap(comparedIn);
  if (!isJsonObject(rule)) return [];
  return Object.entries(rule).flatMap(([operator, operands]) => {
    if (/^(?:some|all|none|filter|map|reduce)$/.test(operator)) return [];
    const list = Array.isArray(operands) ? (operands as readonly JsonValue[]) : [operands];
    const name = list.map(variableIn).find((found) => found !== undefined);
    const values = list
      .flatMap((each) => (Array.isArray(each) ? (each as readonly JsonValue[]) : [each]))
      .filter((each) => typeof each === 'string');
    const isComparison = /^(?:[!=]==?|in)$/.test(operator) && list.length === 2;
    return isComparison && name !== undefined ? [{ name, values }] : comparedIn(list);
  });
}

/** The name in `{"var": "name"}`. */
function variableIn(rule: JsonValue): string | undefined {
  const name = isJsonObject(rule) ? rule['var'] : undefined;
  const first: JsonValue | undefined = Array.isArray(name) ? (name as readonly JsonValue[])[0] : name;
  return typeof first === 'string' && first !== '' ? first : undefined;
}
