import type { Path } from '../../../base/document/document.ts';
import { isJsonText, type JsonValue } from '../../../base/json.ts';
import { SECRET_KEY } from '../../../base/telemetry/telemetry.ts';
import {
  isListOperator,
  namesRead,
  operationOf,
  OPERATORS,
  type RuleFacts,
} from '../../../engine/mapping/facts.ts';
import { SEE_OTHER_TOOLS } from '../other-tools.ts';
import { nearName, type Rules } from '../rule.ts';

/** Whether a rule reads a field whose value may be a secret. */
export const readsSecret = (rule: JsonValue): boolean =>
  namesRead(rule).some((name) => SECRET_KEY.test(name));

export const SECRET_HINT =
  'let verify compare it, and no condition: scheme header with the header that carries it, or scheme token for Authorization: Bearer';

/** Whether the variables at a path read an element: the path leads into the second operand of a list operator. */
export function isInList(path: Path): boolean {
  return path.some(
    (step, index) => typeof step === 'string' && isListOperator(step) && path[index + 1] === 1,
  );
}

const operatorOf = ({ rule: written }: RuleFacts): string => operationOf(written)?.operator ?? '';

const LIST = '{"var": "list"}, {"var": "name"}';
const EXAMPLES: Readonly<Record<string, string>> = {
  var: '"name", "default"',
  missing_some: '1, ["a", "b"]',
  substr: '{"var": "ref"}, 0, 11',
  ...Object.fromEntries(['map', 'filter', 'all', 'some', 'none'].map((name) => [name, LIST])),
  reduce: '{"var": "list"}, {"+": [{"var": "accumulator"}, {"var": "current"}]}, 0',
};

function example(operator: string): string {
  const names = ['a', 'b'].slice(0, OPERATORS.get(operator)?.min ?? 0);
  const shown = EXAMPLES[operator] ?? names.map((name) => `{"var": "${name}"}`).join(', ');
  return `give it all that it takes, as in {"${operator}": [${shown}]}; for one of several values use "in" with a list`;
}

/** What operators of other tools are called here. */
const CALLED: Readonly<Record<string, readonly string[]>> = {
  '==': ['eq', 'equals', '='],
  '!=': ['ne', 'neq'],
  '>': ['gt'],
  '>=': ['gte', 'ge'],
  '<': ['lt'],
  '<=': ['lte', 'le'],
  '!': ['not'],
  and: ['&&'],
  or: ['||'],
  some: ['any'],
  all: ['every'],
  in: ['contains', 'includes'],
};

export const CONDITIONS: Rules = {
  CONDITION_NOT_A_RULE: [
    ({ isSecret }) => (isSecret ? SECRET_HINT : undefined),
    ({ located }) => {
      const text = typeof located.value === 'string' ? located.value.trim() : '';
      if (!/^\{.*\}$/s.test(text) || !isJsonText(text)) return undefined;
      const at = located.place([]);
      // A block of text ends with its line.
      const isBlock = /^[|>]/.test(at.source.text.slice(at.start, at.end));
      return {
        hint: `write it without quotes, as it is a rule: ${text}`,
        edit: isBlock ? undefined : { at, text },
      };
    },
    ({ located }) =>
      Array.isArray(located.value)
        ? 'join several rules with {"and": [...]}, or with "or" where one of them is enough'
        : SEE_OTHER_TOOLS,
  ],
  CONDITION_UNKNOWN_OPERATOR: [
    // Two steps of a path would become a name and its default.
    (facts) =>
      operatorOf(facts) === 'val'
        ? 'write the path of "var" with dots between its steps; a key with a dot in it only a transform can read'
        : undefined,
    (facts) => {
      const name = operatorOf(facts).replace('$', '').toLowerCase();
      const to = Object.keys(CALLED).find((operator) => CALLED[operator]?.includes(name));
      const isIn = to === 'in' ? ', with what is looked for first: {"in": ["TEXT", {"var": "name"}]}' : '';
      return to && `write "${to}" in its place${isIn}`;
    },
    // A name of three letters is near to too many.
    (facts, finding) =>
      operatorOf(facts).length > 3 ? nearName(operatorOf(facts), OPERATORS.keys(), finding) : undefined,
    () =>
      `choose one of the operators: ${[...OPERATORS.keys()].join(' ')}; docs/comparison.md shows what others are called here`,
  ],
  CONDITION_ARITY: [(facts) => example(operatorOf(facts))],
};
