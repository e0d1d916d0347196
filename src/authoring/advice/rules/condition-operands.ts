/** Operands of conditions that cannot be meant. */
import { joinedByWord } from '../dialects/operators.ts';
import { withoutRoot } from '../dialects/paths.ts';
import { templateOperandFinding } from '../template-operands.ts';
import { isScalar, type JsonValue } from '../../../base/json.ts';
import { type Operation, nameOfVariable, namesRead, operationOf } from '../../../engine/mapping/facts.ts';
import {
  quoteName,
  renameVariables,
  severalRule,
  shown,
  shownRule,
  writing,
  type RuleHint,
} from '../rule-parts.ts';

/** What is said of operands. */
export interface SuspectOperands extends RuleHint {
  readonly message: string;
}

type Check = (operation: Operation) => SuspectOperands | undefined;

/** Operands that cannot be meant, by their operator; the first that finds something is told. */
const CHECKS: readonly (readonly [operators: string, check: Check])[] = [
  ['some all none', checkJoined],
  ['some all none filter map', checkElements],
  ['in', checkIn],
  ['== === != !==', checkList],
  ['== === != !==', checkConstants],
  ['== === != !==', checkKind],
];

/** `isElement`: the variables of the rule read an element. */
export function suspectOperands(operation: Operation, isElement: boolean): SuspectOperands | undefined {
  const template = templateOperandFinding(operation, isElement);
  if (template !== undefined) return template;
  const own = CHECKS.filter(([operators]) => operators.split(' ').includes(operation.operator));
  return own.map(([, check]) => check(operation)).find((found) => found !== undefined);
}

/** Two conditions where a list and one condition on its elements are taken, as other tools join conditions. */
function checkJoined(operation: Operation): SuspectOperands | undefined {
  const first = operationOf(operation.operands[0])?.operator ?? '';
  const joined = /^(?:[!=]==?|[<>]=?|in|!!?)$/.test(first) ? joinedByWord(operation) : undefined;
  return (
    joined && {
      message: `"${operation.operator}" goes through a list, and its first operand is a condition`,
      ...joined,
    }
  );
}

/** Inside a rule over a list a variable reads the element: a path that begins with the list finds nothing there. */
function checkElements({ operator, operands: [list, rule] }: Operation): SuspectOperands | undefined {
  const name = nameOfVariable(list) ?? '';
  // A position or the length of the list within an element of the same name is left alone.
  const isBelow = (path: string): boolean =>
    path.startsWith(`${name}.`) && !/^(?:\d|length$)/.test(path.slice(name.length + 1));
  const strange = name === '' ? undefined : namesRead(rule ?? null).find(isBelow);
  if (strange === undefined) return undefined;
  const own = renameVariables(rule as JsonValue, (path) =>
    isBelow(path) ? path.slice(name.length + 1) : path,
  );
  return {
    message: `inside "${operator}" var reads an element of ${quoteName(name)}, and ${quoteName(strange)} begins with the list`,
    ...writing(JSON.stringify({ [operator]: [list, own] })),
  };
}

/** The first operand that reads a variable. */
function variableIn(
  operands: readonly unknown[],
): { readonly operand: unknown; readonly name: string } | undefined {
  return operands
    .flatMap((operand) => {
      const name = nameOfVariable(operand);
      return name === undefined ? [] : [{ operand, name }];
    })
    .at(0);
}

function checkIn({ operands: [needle, hay] }: Operation): SuspectOperands | undefined {
  const name = nameOfVariable(needle);
  if (Array.isArray(needle) && nameOfVariable(hay) !== undefined) {
    const message = '"in" looks for the first operand in the second, and the first is a whole list';
    return {
      message,
      ...writing(`{"in": [${shownRule(hay)}, ${shown(needle)}]}`, 'write the variable first:'),
    };
  }
  if (name === undefined || typeof hay !== 'string') return undefined;
  const words = hay.split(/\s*[,;|]\s*/).filter((word) => word !== '');
  const hint =
    words.length > 1
      ? severalRule('in', needle, words)
      : writing(`{"in": [${shown(hay)}, ${shownRule(needle)}]}`, 'to look for the text in the value write');
  const message = `"in" looks for the value of ${quoteName(name)} inside the text ${quoteName(hay)}`;
  return { message, ...hint };
}

function checkList({ operator, operands }: Operation): SuspectOperands | undefined {
  const list = operands.find((operand) => Array.isArray(operand) && operand.length > 0);
  const variable = variableIn(operands);
  if (list === undefined || variable === undefined) return undefined;
  const message = `"${operator}" compares ${quoteName(variable.name)} with a whole list`;
  return { message, ...severalRule(operator, variable.operand, list) };
}

function checkConstants({ operator, operands: [a, b] }: Operation): SuspectOperands | undefined {
  if (typeof a !== 'string' || !isScalar(b)) return undefined;
  const message = `"${operator}" compares two constants, ${quoteName(a)} and ${shown(b)}`;
  const name = withoutRoot(/^\$?\{\{?\s*([\w.$-]+)\s*\}?\}$/.exec(a)?.[1] ?? a);
  if (!/^[A-Za-z_]/.test(name)) return { message, hint: 'name what was sent: {"var": "name"}' };
  const rule = `{"${operator}": [{"var": ${shown(name)}}, ${shown(b)}]}`;
  return { message, ...writing(rule, 'to compare what was sent write') };
}

/** A header or a parameter of the address is always a text. */
function checkKind({ operator, operands }: Operation): SuspectOperands | undefined {
  const { name = '', operand: variable } = variableIn(operands) ?? {};
  const written = operands.find((operand) => typeof operand === 'number' || typeof operand === 'boolean');
  // A default is what it is written as.
  if (Array.isArray((variable as { readonly var?: unknown } | undefined)?.var)) return undefined;
  if (operator.length !== 3 || written === undefined || !/^(?:headers|query)\../.test(name)) return undefined;
  const asTexts = operands.map((operand) => (operand === written ? JSON.stringify(operand) : operand));
  const message = `"${operator}" compares ${quoteName(name)}, which is always a text, with ${shown(written)}: that ${operator === '===' ? 'never holds' : 'always holds'}`;
  return { message, ...writing(JSON.stringify({ [operator]: asTexts })) };
}
