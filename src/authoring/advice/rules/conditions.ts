/** Conditions that are none: unknown operators, operands that are missing, texts in place of a rule. */
import { didYouMean, replaceWithin } from '../../../base/document/document.ts';
import { quoted, say } from '../../../base/finding.ts';
import { isJsonText } from '../../../base/json.ts';
import { isListOperator, operationOf, OPERATORS, type RuleFacts } from '../../../engine/mapping/facts.ts';
import { SEE_OTHER_TOOLS } from '../other-tools.ts';
import { hint, remedy, rule } from '../rule.ts';
import { SECRET_HINT } from '../rule-parts.ts';

const CONNECTIVES: ReadonlySet<string> = new Set(['and', 'or', '!', '!!']);

/** Whether the rule at a path is asked whether it holds, and is no value that is compared. */
export function isAsked(path: RuleFacts['path']): boolean {
  return path.every(
    (step, index) =>
      typeof step === 'number' || CONNECTIVES.has(step) || (isListOperator(step) && path[index + 1] === 1),
  );
}

/** Whether the variables at a path read an element: the second operand of a list operator. */
export function isInList(path: RuleFacts['path']): boolean {
  return path.some(
    (step, index) => typeof step === 'string' && isListOperator(step) && path[index + 1] === 1,
  );
}

const operatorOf = ({ rule: written }: RuleFacts): string => operationOf(written)?.operator ?? '';

/** An operator of nearly that name; a name of three letters is near to too many. */
const nearOperator = (operator: string): string | undefined =>
  operator.length > 3 ? didYouMean(operator, OPERATORS.keys()) : undefined;

const LIST = '{"var": "list"}, {"var": "name"}';
/** Operands of operators that need more than a variable or two. */
const EXAMPLES: Readonly<Record<string, string>> = {
  var: '"name", "default"',
  missing_some: '1, ["a", "b"]',
  substr: '{"var": "ref"}, 0, 11',
  ...Object.fromEntries(['map', 'filter', 'all', 'some', 'none'].map((name) => [name, LIST])),
  reduce: '{"var": "list"}, {"+": [{"var": "accumulator"}, {"var": "current"}]}, 0',
};

/** The operator with as many operands as it needs. */
function example(operator: string): string {
  const names = ['a', 'b'].slice(0, OPERATORS.get(operator)?.min ?? 0);
  const shown = EXAMPLES[operator] ?? names.map((name) => `{"var": "${name}"}`).join(', ');
  return `give it all that it takes, as in {"${operator}": [${shown}]}; for one of several values use "in" with a list`;
}

export const CONDITIONS = [
  hint('CONDITION_NOT_A_RULE', ['secret-compared', 'certain'], ({ isSecret }) =>
    isSecret ? SECRET_HINT : undefined,
  ),
  rule({
    on: 'CONDITION_NOT_A_RULE',
    name: 'rule-in-quotes',
    confidence: 'certain',
    find: ({ located }) => {
      const text = typeof located.value === 'string' ? located.value.trim() : '';
      return /^\{.*\}$/s.test(text) && isJsonText(text) ? { text, at: located.place([]) } : undefined;
    },
    say: ({ text }) => quoted(`write it without quotes, as it is a rule: ${text}`),
    // A block of text ends with its line.
    fix: ({ text, at }) =>
      /^[|>]/.test(at.source.text.slice(at.start, at.end)) ? undefined : { edit: { at, text } },
  }),
  hint('CONDITION_NOT_A_RULE', ['list-of-rules', 'certain'], ({ located }) =>
    Array.isArray(located.value)
      ? 'join several rules with {"and": [...]}, or with "or" where one of them is enough'
      : undefined,
  ),
  remedy('CONDITION_NOT_A_RULE', SEE_OTHER_TOOLS, 'guess'),
  remedy(
    'CONDITION_NOT_ONE_OPERATOR',
    say`write each in { } of its own, and join them: {"and": [{…}, {…}]}; a field is read by {"var": "name"}`,
  ),
  // Two steps of a path would become a name and its default.
  hint('CONDITION_UNKNOWN_OPERATOR', ['path-as-list', 'certain'], (facts) =>
    operatorOf(facts) === 'val'
      ? 'write the path of "var" with dots between its steps; a key with a dot in it only a transform can read'
      : undefined,
  ),
  rule({
    on: 'CONDITION_UNKNOWN_OPERATOR',
    name: 'near-name',
    confidence: 'likely',
    find: (facts) => {
      const from = operatorOf(facts);
      const to = nearOperator(from);
      return to === undefined ? undefined : { from, to };
    },
    say: ({ to }) => say`did you mean "${to}"?`,
    fix: ({ from, to }, { at }) => {
      const edit = at && replaceWithin(at, from, to);
      return edit && { edit };
    },
  }),
  remedy(
    'CONDITION_UNKNOWN_OPERATOR',
    say`choose one of the operators: ${[...OPERATORS.keys()].join(' ')}; docs/other-tools.md shows what others are called here`,
    'guess',
  ),
  hint('CONDITION_ARITY', ['other-count', 'guess'], (facts) => example(operatorOf(facts))),
  remedy(
    'CONDITION_LOG',
    say`use "sluice explain", which shows every value a condition read, in place of it`,
  ),
  remedy(
    'CONDITION_TOO_DEEP',
    say`give "and" and "or" one long list instead of nesting them, or decide in a transform`,
  ),
];
