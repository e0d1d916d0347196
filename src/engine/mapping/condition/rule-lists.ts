import type { JsonValue } from '../../../base/request.ts';
import { isReserved, listOf } from '../scope.ts';
import { type ListOperator, type RuleOperation, operationOf } from './condition-check.ts';
import {
  MISSING,
  spend,
  truthy,
  UNKNOWN,
  type EvaluateRule,
  type RuleFrame,
  type RuleValue,
} from './rule-value.ts';

/** A list operator: the list, the rule applied to each element (which it reads as its data), and reduce's start. */
export function compileListOperator(
  operator: ListOperator,
  { operands: written }: RuleOperation,
  operands: readonly EvaluateRule[],
): EvaluateRule {
  const [list, rule, start] = operands;
  if (list === undefined || rule === undefined) return () => UNKNOWN;
  const apply = LIST_RULES[operator];
  const isOfPayload = readsPayload(written[0]);
  return (frame) => {
    const value = list(frame);
    if (value === UNKNOWN) return UNKNOWN;
    const elements = value === MISSING || !isOfPayload ? value : listOf(frame.scope, value);
    // What is no list has no elements, a missing one too, as published.
    return apply(Array.isArray(elements) ? elements : [], rule, frame, start);
  };
}

/** Whether it is a variable of the payload: a header that has one value is no list of one. */
function readsPayload(operand: unknown): boolean {
  const read = operationOf(operand);
  const name = read?.operator === 'var' ? read.operands[0] : undefined;
  const [root = ''] = typeof name === 'string' ? name.split('.') : [];
  return name !== undefined && (!isReserved(root) || root === 'payload' || root === 'item');
}

/** `start` is reduce's; four arguments, because an object would be one more for each evaluation. */
type ListRule = (
  elements: readonly JsonValue[],
  rule: EvaluateRule,
  frame: RuleFrame,
  start: EvaluateRule | undefined,
) => RuleValue;

const LIST_RULES: Readonly<Record<ListOperator, ListRule>> = {
  map: mapList,
  filter: filterList,
  all: (elements, rule, frame) => (elements.length === 0 ? false : every(elements, rule, frame)),
  some,
  none: (elements, rule, frame) => negate(some(elements, rule, frame)),
  reduce: reduceList,
};

function inside(frame: RuleFrame, element: JsonValue, rule: EvaluateRule): RuleValue {
  spend(frame, 1);
  const outer = frame.data;
  frame.data = element;
  const value = rule(frame);
  frame.data = outer;
  return value;
}

function mapList(elements: readonly JsonValue[], rule: EvaluateRule, frame: RuleFrame): RuleValue {
  const mapped: JsonValue[] = [];
  let unknown = false;
  for (const element of elements) {
    const value = inside(frame, element, rule);
    if (value === UNKNOWN) unknown = true;
    else mapped.push(value === MISSING ? null : value);
  }
  return unknown ? UNKNOWN : mapped;
}

function filterList(elements: readonly JsonValue[], rule: EvaluateRule, frame: RuleFrame): RuleValue {
  return elements.filter((element) => {
    const kept = inside(frame, element, rule);
    return kept !== UNKNOWN && truthy(kept);
  });
}

function every(elements: readonly JsonValue[], rule: EvaluateRule, frame: RuleFrame): RuleValue {
  let unknown = false;
  for (const element of elements) {
    const value = inside(frame, element, rule);
    if (value === UNKNOWN) unknown = true;
    else if (!truthy(value)) return false;
  }
  return unknown ? UNKNOWN : true;
}

function some(elements: readonly JsonValue[], rule: EvaluateRule, frame: RuleFrame): RuleValue {
  let unknown = false;
  for (const [index, element] of elements.entries()) {
    const value = inside(frame, element, rule);
    if (value === UNKNOWN) unknown = true;
    else if (truthy(value)) {
      frame.recorder?.decide(index, element);
      return true;
    }
  }
  return unknown ? UNKNOWN : false;
}

const negate = (value: RuleValue): RuleValue => (value === UNKNOWN ? UNKNOWN : value !== true);

function reduceList(
  elements: readonly JsonValue[],
  rule: EvaluateRule,
  frame: RuleFrame,
  start: EvaluateRule | undefined,
): RuleValue {
  const first = start === undefined ? null : start(frame);
  if (first === UNKNOWN) return UNKNOWN;
  let accumulator: JsonValue = first === MISSING ? null : first;
  for (const current of elements) {
    const value = inside(frame, { current, accumulator }, rule);
    if (value === UNKNOWN) return UNKNOWN;
    accumulator = value === MISSING ? null : value;
  }
  return accumulator;
}
