/** Conditions that are none: operators and rules of other languages, and what was meant by them. */
import {
  isJoiningWord,
  joinedByWord,
  joiningOperator,
  operatorHint,
  SWAPPED,
  synonymOf,
} from '../dialects/operators.ts';
import { didYouMean, replaceWithin } from '../../../base/document/document.ts';
import { quoted, say, type Finding } from '../../../base/finding.ts';
import { isJsonText } from '../../../base/json.ts';
import {
  nameOfVariable,
  operationOf,
  OPERATORS,
  type MappingFacts,
  type Operation,
  type RuleFacts,
  isListOperator,
} from '../../../engine/mapping/facts.ts';
import { hint, remedy, rule, type Fix, type Rule } from '../rule.ts';
import { asksForEmpty, isRenamedSwap, wholeRule } from '../rule-edits.ts';
import { readsSecret, SECRET_HINT, severalRule, writing, type RuleHint } from '../rule-parts.ts';

type WrongRule = 'CONDITION_ARITY' | 'CONDITION_NOT_ONE_OPERATOR' | 'CONDITION_UNKNOWN_OPERATOR';

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

/** A rule about a wrong rule, by its operator; what a secret is compared with is not repeated. */
function ruleRule<Code extends WrongRule>(
  on: Code,
  name: string,
  {
    confidence = 'certain',
    find,
    fix,
  }: Partial<Pick<Rule<Code, RuleHint>, 'confidence'>> & {
    readonly find: (operation: Operation, facts: RuleFacts) => RuleHint | undefined;
    readonly fix?: (
      hint: RuleHint,
      finding: Finding,
      facts: RuleFacts & { operation: Operation },
    ) => Fix['edit'] | undefined;
  },
) {
  type Match = { readonly hint: RuleHint; readonly facts: RuleFacts; readonly operation: Operation };
  return rule<Code, Match>({
    on,
    name,
    confidence,
    find: (facts: RuleFacts) => {
      const operation = operationOf(facts.rule) ?? { operator: '', operands: [], unary: true };
      const hint = find(operation, facts);
      return hint && { hint, facts, operation };
    },
    say: ({ hint, facts }) => quoted(readsSecret(facts.rule, hint.rule) ? SECRET_HINT : hint.hint),
    ...(fix && {
      fix: ({ hint, facts, operation }: Match, finding: Finding) => {
        const edit = asksForEmpty(operation) ? undefined : fix(hint, finding, { ...facts, operation });
        return edit && { edit };
      },
    }),
  });
}

const asWhole = ({ rule: text }: RuleHint, _finding: Finding, { located, path }: RuleFacts) =>
  wholeRule(located.place(path), text);

const renamed = (to: string | undefined, operator: string, at: Finding['at']) =>
  at === undefined || to === undefined ? undefined : replaceWithin(at, operator, to);

/** The operator alone, where its operands stay as they are. */
const asJoined = (hint: RuleHint, finding: Finding, facts: RuleFacts & { operation: Operation }) => {
  const { operator, operands } = facts.operation;
  const own = joiningOperator(operator, operands);
  return own === 'nor' ? asWhole(hint, finding, facts) : renamed(own, operator, finding.at);
};

/** `!some` and `not_in`: what is negated stands in a rule of its own. */
function negated({ operator, operands }: Operation): RuleHint | undefined {
  const [, name = ''] = /^(?:!|not?[ _-]?)(.+)$/i.exec(operator) ?? [];
  const own = synonymOf(name) ?? name;
  if (!OPERATORS.has(own)) return undefined;
  const inner = SWAPPED.has(name) ? operands.toReversed() : operands;
  return writing(JSON.stringify({ '!': { [own]: inner } }).slice(0, 120));
}

/** `val` takes the steps of a path apart, also one with a dot in it, which no variable can name. */
function pathAsList({ operator, operands }: Operation): RuleHint | undefined {
  if (operator !== 'val' || !operands.every((each) => typeof each === 'string')) return undefined;
  return operands.some((each) => each.includes('.'))
    ? {
        hint: 'decide in a transform, which returns null to skip a request: a condition cannot read a key with a dot in it',
      }
    : writing(JSON.stringify({ var: operands.join('.') }));
}

/** The same operators as a list: also where they stand below an `and` already. */
function joined(_operation: Operation, { rule: written }: RuleFacts): RuleHint {
  const rules = Object.entries(written).map(([operator, operands]) => ({ [operator]: operands }));
  const list = JSON.stringify(rules);
  const field = Object.keys(written).find((key) => !OPERATORS.has(key));
  if (field !== undefined)
    return {
      hint: `say of each field what it has to be, as {"===": [{"var": ${JSON.stringify(field)}}, …]} does, and join them with "and"`,
    };
  if (rules.length === 0) return { hint: 'give it one operator with its operands' };
  return {
    hint:
      list.length > 160
        ? 'join them with {"and": [...]}, each in { } of its own'
        : `write each in { } of its own, in a list: {"and": ${list}}`,
  };
}

/** A third operand of an equality was meant as "or". */
function several({ operator, operands: [first, ...values] }: Operation): RuleHint | undefined {
  const name = nameOfVariable(first);
  const isConstant = values.every((value) => value === null || typeof value !== 'object');
  if (name === undefined || values.length < 2 || !isConstant || !/^[!=]==?$/.test(operator)) return undefined;
  return severalRule(operator, first, values);
}

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
function example({ operator, operands }: Operation): RuleHint {
  if (operator === '!' && operands.length === 0) return writing('{"!": [[]]}', 'for an empty list write');
  const names = ['a', 'b'].slice(0, OPERATORS.get(operator)?.min ?? 0);
  const shown = EXAMPLES[operator] ?? names.map((name) => `{"var": "${name}"}`).join(', ');
  return { hint: `give it all that it takes, as in {"${operator}": [${shown}]}` };
}

type NoRule = MappingFacts['CONDITION_NOT_A_RULE'];

/** A condition that is a text, in whose place `text` is written, where it is given. */
const ofText = (
  name: string,
  find: (facts: NoRule) => { readonly hint: string; readonly text?: string } | undefined,
) =>
  rule({
    on: 'CONDITION_NOT_A_RULE',
    name,
    confidence: 'certain',
    find,
    say: ({ hint: said }) => quoted(said),
    fix: ({ text }, { at }) => (text === undefined || at === undefined ? undefined : { edit: { at, text } }),
  });

/** In place of a text, where that does not end with its line. */
function inPlaceOfText({ located }: NoRule, rule: string, hint: string) {
  const { source, start, end } = located.place([]);
  return /^[|>]/.test(source.text.slice(start, end)) ? { hint } : { hint, text: rule };
}

const textOf = ({ located: { value } }: NoRule): string | undefined =>
  typeof value === 'string' ? value : undefined;

export const CONDITIONS = [
  hint('CONDITION_NOT_A_RULE', ['secret-compared', 'certain'], ({ isSecret }) =>
    isSecret ? SECRET_HINT : undefined,
  ),
  ofText('rule-in-quotes', (facts) => {
    const text = textOf(facts);
    if (text === undefined || !/^\s*\{.*\}\s*$/s.test(text) || !isJsonText(text)) return undefined;
    const json = text.trim();
    return inPlaceOfText(facts, json, `write it without quotes, as it is a rule: ${json}`);
  }),
  hint('CONDITION_NOT_A_RULE', ['list-of-rules', 'certain'], ({ located }) =>
    Array.isArray(located.value)
      ? 'join several rules with {"and": [...]}, or with "or" where one of them is enough'
      : undefined,
  ),
  hint(
    'CONDITION_NOT_A_RULE',
    ['no-rule', 'guess'],
    () =>
      'write an object whose key is the operator, as a condition is JsonLogic, e.g. {"in": [{"var": "level"}, ["error", "fatal"]]}; && is "and", || is "or"',
  ),
  ruleRule('CONDITION_NOT_ONE_OPERATOR', 'several-operators', { confidence: 'likely', find: joined }),
  ruleRule('CONDITION_UNKNOWN_OPERATOR', 'operands-the-other-way-round', {
    find: ({ operator, operands }) =>
      SWAPPED.has(operator)
        ? writing(
            `{"in": ${JSON.stringify(operands.toReversed()).slice(0, 160)}}`,
            'write it the other way round, what is looked for first:',
          )
        : undefined,
    fix: (hint, finding, facts) =>
      isRenamedSwap(facts.operation) ? asWhole(hint, finding, facts) : undefined,
  }),
  ruleRule('CONDITION_UNKNOWN_OPERATOR', 'joined-by-word', { find: joinedByWord, fix: asJoined }),
  ruleRule('CONDITION_UNKNOWN_OPERATOR', 'other-name', {
    find: ({ operator }) => {
      const synonym = synonymOf(operator);
      return synonym === undefined ? undefined : { hint: `did you mean "${synonym}"?` };
    },
    fix: (_hint, { at }, { operation: { operator } }) => renamed(synonymOf(operator), operator, at),
  }),
  ruleRule('CONDITION_UNKNOWN_OPERATOR', 'operator-of-another-language', {
    find: ({ operator, operands }) => operatorHint(operator, operands),
    fix: asWhole,
  }),
  ruleRule('CONDITION_UNKNOWN_OPERATOR', 'path-as-list', { find: pathAsList, fix: asWhole }),
  ruleRule('CONDITION_UNKNOWN_OPERATOR', 'negated-operator', { find: negated, fix: asWhole }),
  ruleRule('CONDITION_UNKNOWN_OPERATOR', 'near-name', {
    confidence: 'likely',
    find: ({ operator }) => {
      const near = isJoiningWord(operator) ? undefined : didYouMean(operator, OPERATORS.keys());
      return near === undefined ? undefined : { hint: `did you mean "${near}"?` };
    },
    fix: (_hint, { at }, { operation: { operator } }) =>
      renamed(didYouMean(operator, OPERATORS.keys()), operator, at),
  }),
  ruleRule('CONDITION_UNKNOWN_OPERATOR', 'unknown-name', {
    confidence: 'guess',
    find: () => ({ hint: `choose one of the operators: ${[...OPERATORS.keys()].join(' ')}` }),
  }),
  ruleRule('CONDITION_ARITY', 'joined-by-word', { find: joinedByWord, fix: asJoined }),
  ruleRule('CONDITION_ARITY', 'several-values', { find: several, fix: asWhole }),
  ruleRule('CONDITION_ARITY', 'other-count', { confidence: 'guess', find: example }),
  remedy(
    'CONDITION_LOG',
    say`use "sluice explain", which shows every value a condition read, in place of it`,
  ),
  remedy(
    'CONDITION_TOO_DEEP',
    say`give "and" and "or" one long list instead of nesting them, or decide in a transform`,
  ),
];
