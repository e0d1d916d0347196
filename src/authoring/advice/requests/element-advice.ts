/* Rules about the elements of a list: inside, `var` reads the element and nothing else. */
import { say, todo, write, type Sentence } from '../../../base/finding.ts';
import { isJsonObject, valueAt, type JsonValue } from '../../../base/json.ts';
import { isListOperator, nameOfVariable, operationOf } from '../../../engine/mapping/facts.ts';
import { renameVariables } from '../rule-parts.ts';
import { createBodyIndex } from './body-index.ts';
import { describe, fieldsOf, ruleText, variable, type ReadVariable } from './rule-operands.ts';

/** Whether a rule asks something of each element by itself; `reduce` has names of its own for it. */
const isOfElements = (operator: string): boolean => isListOperator(operator) && operator !== 'reduce';

/** A rule over a list, with the elements that it goes through. */
export interface ElementRule {
  readonly operator: string;
  /** The name of the list. */
  readonly list: string;
  readonly value: JsonValue | undefined;
  /** What is asked of each element. */
  readonly rule: JsonValue;
}

export function elementRule(rule: JsonValue, read: ReadVariable): ElementRule | undefined {
  const parts = operationOf(rule);
  const [list, inner] = parts?.operands ?? [];
  const name = nameOfVariable(list);
  if (parts === undefined || name === undefined || inner === undefined || !isOfElements(parts.operator))
    return undefined;
  const value = read(name);
  return { operator: parts.operator, list: name, value: read.asList?.(value) ?? value, rule: inner };
}

/** Elements of a list that are looked at. */
const MAX_ELEMENTS = 50;

export const elementsOf = ({ value }: ElementRule): readonly JsonValue[] =>
  Array.isArray(value) ? (value as readonly JsonValue[]).slice(0, MAX_ELEMENTS) : [];

/** Reads a variable of the inner rule from an element. */
export const readElement =
  (element: JsonValue): ReadVariable =>
  (name) =>
    valueAt(element, name === '' ? [] : name.split('.'));

/** What a rule over a list asks of what is no list, or reads that no element has. */
export function adviseOnElements(rule: ElementRule, read: ReadVariable): Sentence | undefined {
  const { operator, list, value } = rule;
  if (value === undefined || value === null) return undefined;
  if (!Array.isArray(value)) return say`"${operator}" goes through a list, and ${list} is ${describe(value)}`;
  const elements = elementsOf(rule);
  if (elements.length === 0) return undefined;
  const missing = namesIn(rule.rule).filter(
    (name) => name !== '' && elements.every((element) => readElement(element)(name) === undefined),
  );
  return missing.length === 0 ? undefined : adviseOnMissing(rule, missing, read);
}

/** The variables of a rule that read the element. */
function namesIn(rule: JsonValue): readonly string[] {
  const parts = operationOf(rule);
  if (parts === undefined) return Array.isArray(rule) ? (rule as readonly JsonValue[]).flatMap(namesIn) : [];
  const name = nameOfVariable(rule);
  if (name !== undefined) return parts.operands.length > 1 ? [] : [name];
  const isNested = isListOperator(parts.operator);
  return (isNested ? parts.operands.slice(0, 1) : parts.operands).flatMap(namesIn);
}

function adviseOnMissing(rule: ElementRule, missing: readonly string[], read: ReadVariable): Sentence {
  const { operator, list } = rule;
  const elements = elementsOf(rule);
  const what = say`inside "${operator}" var reads the element of ${list}`;
  const objects = elements.filter(isJsonObject);
  const has =
    objects.length === 0
      ? say`that is ${describe(elements)}`
      : say`its elements have ${fieldsOf(objects[0] ?? {})}`;
  // `a list of texts` and so on: one name is the element itself; with a second one a value would be compared with itself.
  const isElement = objects.length === 0 && namesIn(rule.rule).length === 1;
  const near = new Map(missing.map((name) => [name, isElement ? '' : nearIn(objects, name)]));
  const name = missing.find((each) => near.get(each) === undefined);
  if (name === undefined)
    return say`${what}${isElement ? say`, and ${has}` : ''}: ${write(renamed(rule, near))}`;
  return read(name) === undefined
    ? say`${what}, and none has ${name}: ${has}`
    : say`${what} and nothing else, so ${name} of the whole body cannot be read there: ${has}; ${todo}compare with ${name} in a transform`;
}

/** The whole rule with other names for what it asks of an element. */
function renamed(
  { operator, list, rule }: ElementRule,
  names: ReadonlyMap<string, string | undefined>,
): string {
  return ruleText(operator, [variable(list), renameVariables(rule, (name) => names.get(name) ?? name)]);
}

/** The one path of an element that is nearest to a name. */
function nearIn(elements: readonly JsonValue[], name: string): string | undefined {
  const found = elements.map((element) => createBodyIndex(element).find(name.split('.')));
  return found.find(({ length }) => length === 1)?.[0]?.keys.join('.');
}
