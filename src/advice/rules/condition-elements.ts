import { say } from '../../finding.ts';
import type { Place } from '../../document/document.ts';
import { isJsonObject } from '../../json.ts';
import type { Operation } from '../../mapping/facts.ts';
import { isListOperator } from '../../mapping/mapping.ts';
import type { Found } from '../rule.ts';
import { nameOfVariable, quoteName } from '../rule-parts.ts';

/** Inside a rule over a list a variable reads the element: a path that begins with the list finds nothing there. */
export function checkElements({ operator, operands }: Operation, at: Place): Found | undefined {
  const [list, rule] = operands;
  const name = nameOfVariable(list);
  if (name === undefined || name === '' || !isListOperator(operator) || operator === 'reduce')
    return undefined;
  const strange = namesIn(rule).find((each) => isBelow(each, name));
  if (strange === undefined) return undefined;
  const meant = JSON.stringify({ [operator]: [list, fromElement(rule, name)] });
  return {
    message: say`inside "${operator}" var reads an element of ${quoteName(name)}, and ${quoteName(strange)} begins with the list`,
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
