import { say } from '../../finding.ts';
import type { Finding, Place } from '../../document/document.ts';
import { isJsonObject } from '../../json.ts';
import { nameOfVariable, quote, type Operation } from './condition-check.ts';
import { isListOperator } from './rule-lists.ts';

/** Inside a rule over a list a variable reads the element: a path that begins with the list finds nothing there. */
export function checkElements({ operator, operands }: Operation, at: Place): Finding | undefined {
  const [list, rule] = operands;
  const name = nameOfVariable(list);
  if (name === undefined || name === '' || !isListOperator(operator) || operator === 'reduce')
    return undefined;
  const strange = namesIn(rule).find((each) => isBelow(each, name));
  if (strange === undefined) return undefined;
  const meant = JSON.stringify({ [operator]: [list, fromElement(rule, name)] });
  return {
    severity: 'warning',
    code: 'CONDITION_OPERANDS',
    message: say`inside "${operator}" var reads an element of ${quote(name)}, and ${quote(strange)} begins with the list`,
    at,
    hint: say`write ${meant}`,
  };
}

/** A position or the length of the list within an element of the same name is left alone. */
const isBelow = (name: string, list: string): boolean =>
  name.startsWith(`${list}.`) && !/^(?:\d|length$)/.test(name.slice(list.length + 1));

function namesIn(rule: unknown): readonly string[] {
  const name = nameOfVariable(rule);
  if (name !== undefined) return [name];
  if (Array.isArray(rule)) return (rule as readonly unknown[]).flatMap(namesIn);
  if (!isJsonObject(rule)) return [];
  return Object.entries(rule).flatMap(([operator, operands]) =>
    isListOperator(operator) && Array.isArray(operands) ? namesIn(operands[0]) : namesIn(operands),
  );
}

/** The rule with such paths begun at the element. */
function fromElement(rule: unknown, list: string): unknown {
  if (Array.isArray(rule)) return (rule as readonly unknown[]).map((each) => fromElement(each, list));
  if (!isJsonObject(rule)) return rule;
  const name = nameOfVariable(rule);
  if (name === undefined)
    return Object.fromEntries(Object.entries(rule).map(([key, each]) => [key, fromElement(each, list)]));
  if (!isBelow(name, list)) return rule;
  const own = name.slice(list.length + 1);
  const { var: written } = rule;
  return { var: Array.isArray(written) ? [own, ...(written as readonly unknown[]).slice(1)] : own };
}
