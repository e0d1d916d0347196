/**
 * Operators that compare, for operands of which one is a number that a double cannot hold. Only the comparison is
 * ours: what JavaScript takes for a number (texts, true, null) is taken for the same one here.
 */
import { compareNumbers, ExactNumber, isNumeric, sameValue, type JsonValue } from '../../../base/json.ts';

type Compare = (values: readonly JsonValue[]) => JsonValue | undefined;

const OPERATORS: Readonly<Record<string, Compare>> = {
  '===': ([a = null, b = null]) => sameValue(a, b),
  '!==': ([a = null, b = null]) => !sameValue(a, b),
  '==': ([a = null, b = null]) => looselyEqual(a, b),
  '!=': ([a = null, b = null]) => !looselyEqual(a, b),
  '<': (values) => isOrdered(values, (order) => order < 0),
  '<=': (values) => isOrdered(values, (order) => order <= 0),
  '>': (values) => isOrdered(values, (order) => order > 0),
  '>=': (values) => isOrdered(values, (order) => order >= 0),
  in: ([needle = null, list]) =>
    Array.isArray(list) ? list.some((entry: JsonValue) => sameValue(entry, needle)) : undefined,
  min: (values) => outermost(values, -1),
  max: (values) => outermost(values, 1),
};

/** What the operator makes of exact numbers; undefined where none is compared, or its own way is right. */
export function compareExactly(operator: string, values: readonly JsonValue[]): JsonValue | undefined {
  const compare = Object.hasOwn(OPERATORS, operator) ? OPERATORS[operator] : undefined;
  if (compare === undefined || !values.some(isOrHoldsExact)) return undefined;
  return compare(values);
}

function isOrHoldsExact(value: JsonValue): boolean {
  return (
    value instanceof ExactNumber || (Array.isArray(value) && value.some((one) => one instanceof ExactNumber))
  );
}

function looselyEqual(a: JsonValue, b: JsonValue): boolean {
  // null equals nothing but null, and one of the two is a number.
  if (a === null || b === null) return false;
  return compareNumbers(asNumber(a), asNumber(b)) === 0;
}

function isOrdered(values: readonly JsonValue[], holds: (order: number) => boolean): boolean {
  return values.slice(1).every((value, index) => {
    const order = compareNumbers(asNumber(values[index] ?? null), asNumber(value));
    return order !== undefined && holds(order);
  });
}

/** What JavaScript compares a number with: blank texts, null and false are 0; what is no number stays its text. */
function asNumber(value: JsonValue): number | ExactNumber | string {
  if (isNumeric(value)) return value;
  if (value === null || typeof value === 'boolean') return Number(value);
  const text = typeof value === 'string' ? value : Array.isArray(value) ? String(value) : 'object';
  return text.trim() === '' ? 0 : text;
}

function outermost(values: readonly JsonValue[], side: -1 | 1): JsonValue | undefined {
  if (!values.every(isNumeric)) return undefined;
  return values.reduce((best, value) => ((compareNumbers(value, best) ?? 0) * side > 0 ? value : best));
}
