/**
 * The operators that only compute: comparisons, arithmetic, `in`, `cat`, `substr`, `merge`, `min`, `max`. They are
 * json-logic-js's own, applied to a rule whose operands are all `{"var": n}` with the operands as its data: json-logic
 * evaluates what stands in a rule, so a payload value must never stand in one. Comparisons of two texts, numbers,
 * booleans or nulls are made here, thirty times as fast; that they agree is a property under test.
 */
import jsonLogic from 'json-logic-js';
import { sizeOf } from '../work-budget.ts';
import { MISSING, spend, UNKNOWN, type EvaluateRule, type RuleFrame, type RuleValue } from './rule-value.ts';
import { compareNumbers, ExactNumber, isNumeric, sameValue, type JsonValue } from '../../../base/json.ts';

/** Operators that build something from whatever is there: to them missing is null, as published. */
const BUILDERS: ReadonlySet<string> = new Set(['cat', 'merge']);

/** A list nested deeper than this is not turned into text or a number: that would recurse as deep as the sender likes. */
const MAX_COERCED_DEPTH = 64;

/** Steps of a call of json-logic-js, and of a comparison made here. */
const FOREIGN = 32;
const DIRECT = 2;
/** Characters that are searched or compared in the time of a step. */
const CHARACTERS = 64;

type PlainValue = string | number | boolean | null;

/** JavaScript's own comparisons, which are what JsonLogic says. */
const COMPARISONS: Readonly<Record<string, (a: PlainValue, b: PlainValue) => boolean>> = {
  '===': (a, b) => a === b,
  '!==': (a, b) => a !== b,
  // oxlint-disable-next-line eqeqeq -- the operator of that name
  '==': (a, b) => a == b,
  // oxlint-disable-next-line eqeqeq -- as above
  '!=': (a, b) => a != b,
  '<': (a, b) => (a as number) < (b as number),
  '<=': (a, b) => (a as number) <= (b as number),
  '>': (a, b) => (a as number) > (b as number),
  '>=': (a, b) => (a as number) >= (b as number),
};

function isPlain(value: JsonValue | undefined): value is PlainValue {
  return value === null || (typeof value !== 'object' && value !== undefined);
}

export function compileOperator(operator: string, operands: readonly EvaluateRule[]): EvaluateRule {
  const compare = Object.hasOwn(COMPARISONS, operator) ? COMPARISONS[operator] : undefined;
  const rule = {
    [operator]: operands.map((_, index) => ({ var: index })),
  } as unknown as jsonLogic.RulesLogic;
  const builds = BUILDERS.has(operator);
  return (frame) => {
    const values: JsonValue[] = [];
    let unknown = false;
    for (const operand of operands) {
      const value = operand(frame);
      if (value === UNKNOWN || (value === MISSING && !builds)) unknown = true;
      else values.push(value === MISSING ? null : value);
    }
    if (unknown) return UNKNOWN;
    const [a, b] = values;
    if (compare !== undefined && values.length === 2 && isPlain(a) && isPlain(b)) {
      spend(frame, DIRECT);
      return compare(a, b);
    }
    return compareExactly(operator, values) ?? apply(rule, values, { frame, builds });
  };
}

function apply(
  rule: jsonLogic.RulesLogic,
  values: readonly JsonValue[],
  { frame, builds }: { readonly frame: RuleFrame; readonly builds: boolean },
): RuleValue {
  const nested = values.some((value) => typeof value === 'object' && value !== null);
  if (nested && values.some((value) => deeperThan(value, MAX_COERCED_DEPTH))) return UNKNOWN;
  spend(frame, FOREIGN + readCost(values));
  try {
    const result = jsonLogic.apply(rule, values) as JsonValue | undefined;
    if (builds) spend(frame, sizeOf(result));
    return result ?? null;
  } catch (error) {
    // An object with a `toString` of its own cannot become text or a number: V8 throws a TypeError.
    if (error instanceof TypeError) return UNKNOWN;
    throw error;
  }
}

/** What reading the operands costs: `in` searches a text or list, others turn a list into text. */
function readCost(values: readonly JsonValue[]): number {
  let cost = 0;
  for (const value of values) {
    if (typeof value === 'string') cost += value.length / CHARACTERS;
    else if (Array.isArray(value)) cost += value.length;
  }
  return cost;
}

function deeperThan(value: JsonValue, levels: number): boolean {
  if (!Array.isArray(value)) return false;
  return levels === 0 || value.some((entry: JsonValue) => deeperThan(entry, levels - 1));
}

/**
 * Operators that compare, for operands of which one is a number that a double cannot hold. Only the comparison is
 * ours: what JavaScript takes for a number (texts, true, null) is taken for the same one here.
 */

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
function compareExactly(operator: string, values: readonly JsonValue[]): JsonValue | undefined {
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
