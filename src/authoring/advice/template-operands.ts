import { printRule } from './rule-parts.ts';
import type { Operation } from '../../engine/mapping/facts.ts';
import { ofElement, pathHere } from './dialects/field-rules.ts';

const COMPARING: ReadonlySet<string> = new Set(['==', '===', '!=', '!==', '>', '>=', '<', '<=', 'in']);
/** A whole text that is one name in braces, or in the braces of GitHub Actions and n8n. */
const TEMPLATE = /^\s*=?\s*\$?\{\{\{?\s*([\w.$@-]+(?:\[(?:\d+|["'][\w-]+["'])\][\w.$@-]*)*)\s*\}?\}\}\s*$/;

/**
 * A comparison with a template, which a condition does not fill in: what was variables reads the name. An element of a list
 * has no name for the body.
 */
export function templateOperandFinding(
  { operator, operands }: Pick<Operation, 'operator' | 'operands'>,
  isElement = false,
): { readonly message: string; readonly hint: string; readonly rule: string } | undefined {
  if (!COMPARING.has(operator)) return undefined;
  const variables = operands.map(variableOf);
  const first = variables.findIndex((each) => each !== undefined);
  if (first < 0) return undefined;
  const read = { [operator]: operands.map((operand, index) => variables[index] ?? operand) };
  const [one, other] = read[operator]?.map(printRule) ?? [];
  if (one === other) return undefined;
  const rule = printRule(isElement ? ofElement(read) : read);
  return {
    message: `${JSON.stringify(operands[first]).slice(0, 100)} is a text here: a condition has no templates, and reads a name by var`,
    hint: `write ${rule}`,
    rule,
  };
}

function variableOf(operand: unknown): object | undefined {
  const inside = typeof operand === 'string' ? TEMPLATE.exec(operand)?.[1] : undefined;
  const path = inside === undefined ? undefined : pathHere(inside);
  return path === undefined ? undefined : { var: path };
}
