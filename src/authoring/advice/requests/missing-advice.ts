/* What a condition could say of a value that was not sent. */
import { say, write, type Sentence } from '../../../base/finding.ts';
import { hasDefault, nameOfVariable, operationOf } from '../../../engine/mapping/facts.ts';
import { fieldAt, type JsonValue } from '../../../base/json.ts';
import { ruleText, variable, type ReadVariable } from './rule-operands.ts';

/**
 * The same rule with a default, where one could be meant: a rule that says what a value must not be, or one that an empty
 * value would fulfil. `negated`: whether what a missing value makes of it is turned round by a `!` above it.
 */
export function adviseOnDefault(
  missing: string,
  { rule, negated }: { readonly rule: JsonValue; readonly negated: boolean },
): Sentence | undefined {
  const parts = operationOf(rule);
  if (parts === undefined) return undefined;
  const { operator, operands } = parts;
  const isAbsence = operator === '!==' || operator === '!=' || negated;
  const value = defaultFor(operator, operands, missing, isAbsence);
  if (value === undefined) return undefined;
  const text = ruleText(
    operator,
    operands.map((operand) => (nameOfVariable(operand) === missing ? { var: [missing, value] } : operand)),
  );
  return say`a comparison with a missing value does not hold: where a request without ${missing} is wanted, too, give it a default, ${negated ? `{"!": [${text}]}` : text}`;
}

function defaultFor(
  operator: string,
  operands: readonly JsonValue[],
  missing: string,
  isAbsence: boolean,
): JsonValue | undefined {
  const at = operands.findIndex((operand) => nameOfVariable(operand) === missing);
  const own = operands[at];
  if (own === undefined || hasDefault(own) || operands.length > 2) return undefined;
  const other = operands[1 - at];
  if (isAbsence) {
    if (operator === 'in' && at === 1) return [];
    if (typeof other === 'string' || operator === 'in') return '';
    return other === null ? undefined : null;
  }
  // Nothing sent is no 0: a sensor that is away is not at 0 degrees.
  const isEmpty = (operator === '===' || operator === '==') && (other === false || other === '');
  return isEmpty ? other : undefined;
}

/** A path that goes on within a list: the rule for its elements, as far as one of them has what is asked for. */
export function adviseOnListWithin(
  missing: string,
  rule: JsonValue,
  read: ReadVariable,
): Sentence | undefined {
  const parts = operationOf(rule);
  const keys = missing.split('.');
  // Of a body that is a list every name is one of its elements.
  const nameTo = (end: number): string => keys.slice(0, end).join('.') || 'payload';
  const end = keys.findIndex(
    (key, index) => (index > 0 || key !== 'payload') && Array.isArray(read(nameTo(index))),
  );
  if (parts === undefined || end === -1 || /^(?:\d+|length)$/.test(keys[end] ?? '')) return undefined;
  const [list, rest] = [nameTo(end), keys.slice(end)];
  const elements = read(list) as readonly JsonValue[];
  if (!elements.slice(0, MAX_ELEMENTS).some((each) => fieldAt(each, rest) !== undefined)) return undefined;
  const { operator, operands } = parts;
  const own = operands.map((operand) =>
    nameOfVariable(operand) === missing ? variable(rest.join('.')) : operand,
  );
  // Names of a list are asked for one by one.
  const isNames = operator === 'in' && nameOfVariable(operands[1]) === missing;
  const isNone = operator === '!==' || operator === '!=';
  const asked: JsonValue = isNames
    ? { '===': own.toReversed() }
    : { [isNone ? operator.replace('!', '=') : operator]: own };
  return say`${list} is a list: ${write(ruleText(isNone ? 'none' : 'some', [variable(list), asked]), undefined, 'to ask each of its elements')}`;
}

/** `items.0.name` that is another text, where a further element has the one that was asked for: the rule for all of them. */
export function adviseOnOtherElement(rule: JsonValue, read: ReadVariable): Sentence | undefined {
  const { operator, operands } = operationOf(rule) ?? { operator: '', operands: [] };
  if (operator !== '===' && operator !== '==') return undefined;
  const at = operands.findIndex((operand) => /\.\d+\./.test(nameOfVariable(operand) ?? ''));
  const [, list = '', rest = ''] = /^(.*?)\.\d+\.(.+)$/.exec(nameOfVariable(operands[at]) ?? '') ?? [];
  const elements = list === '' ? undefined : read(list);
  const wanted = operands[1 - at];
  if (!Array.isArray(elements) || typeof wanted !== 'string') return undefined;
  const has = (each: JsonValue): boolean => fieldAt(each, rest.split('.')) === wanted;
  if (!(elements as readonly JsonValue[]).slice(0, MAX_ELEMENTS).some(has)) return undefined;
  const asked = { [operator]: [variable(rest), wanted] };
  return say`another element of ${list} has it: ${write(ruleText('some', [variable(list), asked]), undefined, 'to ask each of them')}`;
}

/** Elements of a list that are looked at. */
const MAX_ELEMENTS = 50;

/** Whether the path ends at a null: something that is not set, and no other name for it. */
export function endsAtNull(missing: string, read: ReadVariable): boolean {
  const keys = missing.split('.');
  return keys.some((_, index) => index > 0 && read(keys.slice(0, index).join('.')) === null);
}
