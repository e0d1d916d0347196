/** Finds rules of a condition that give the same for every request: they never hold, or always do. */
import { say } from '../../../base/finding.ts';
import type { Path } from '../../../base/document/document.ts';
import { isJsonObject, isScalar } from '../../../base/json.ts';
import {
  canonicalPath,
  hasDefault,
  nameOfVariable,
  operationOf,
  operationProblem,
  quote,
  type ConditionSubject,
  type RuleOperation,
} from '../../../engine/mapping/facts.ts';
import { type CompiledMapping } from '../../../engine/mapping/mapping.ts';
import { emptyPath } from '../empty-paths.ts';
import { SEE_OTHER_TOOLS } from '../other-tools.ts';
import type { LookFinding, Look } from '../rule.ts';
import { isAsked, isInList, readsSecret, SECRET_HINT } from './conditions.ts';

interface RuleAt {
  readonly subject: ConditionSubject;
  readonly operation: RuleOperation;
  readonly path: Path;
}

type Suspect = Omit<LookFinding, 'at'>;

const OF_ELEMENT = 'ITEM_WITHOUT_FOR_EACH';

function suspects(subject: ConditionSubject): readonly LookFinding[] {
  const found = suspectsIn(subject, subject.located.exact([]), []);
  const first = found.find(({ code }) => code === OF_ELEMENT);
  // A finding about the element of a forEach is reported once.
  return found.filter((each) => each === first || each.code !== OF_ELEMENT || subject.forEach === undefined);
}

function suspectsIn(subject: ConditionSubject, value: unknown, path: Path): readonly LookFinding[] {
  if (Array.isArray(value))
    return value.flatMap((each, index) => suspectsIn(subject, each, [...path, index]));
  const operation = operationOf(value);
  if (operation === undefined || !isJsonObject(value)) return [];
  const { located } = subject;
  const keyAt = () => located.place([...path, operation.operator], 'key');
  if (operationProblem(value, operation, { at: located.place(path), keyAt }) !== undefined) return [];
  const at = { operation, path, subject };
  const suspected = operandsOf(at) ?? constantsOf(at) ?? nullOf(at);
  const own =
    suspected?.code === 'CONDITION_OPERANDS' && readsSecret(value)
      ? { ...suspected, message: SECRET_COMPARED, hint: say`${SECRET_HINT}` }
      : suspected;
  const found = own === undefined ? variableOf(at) : { ...own, at: keyAt() };
  const inner = value[operation.operator] ?? null;
  return [
    ...(found === undefined ? [] : [found]),
    ...suspectsIn(subject, inner, [...path, operation.operator]),
  ];
}

const SECRET_COMPARED = say`the operands cannot be meant, and what is compared may be a secret`;

const COMPARING = /^(?:[=!]==?|[<>]=?)$/;
const EQUALITY = /^[=!]==?$/;

type SuspectText = ReturnType<typeof say>;

const operand = (message: SuspectText, hint: SuspectText): Suspect => ({
  code: 'CONDITION_OPERANDS',
  message,
  hint,
});

/** A constant is shown as the file has it, because a YAML parser makes 16 of 0x10, and 7 of 007. */
function written(
  { subject: { located }, operation: { operator, operands }, path }: RuleAt,
  value: unknown,
): string {
  if (typeof value !== 'number') return JSON.stringify(value).slice(0, MAX_SHOWN);
  const { source, start, end } = located.place([...path, operator, operands.indexOf(value)]);
  return source.text.slice(start, end).slice(0, MAX_SHOWN);
}

const MAX_SHOWN = 120;

/** Whatever is sent, a comparison with such operands gives the same. */
function operandsOf(at: RuleAt): Suspect | undefined {
  const { operation } = at;
  const { operator, operands } = operation;
  if (operator === 'in') return operandsOfIn(operation);
  const [first, second] = operands;
  if (!COMPARING.test(operator) || operands.length !== 2) return undefined;
  if (asOne(first) === asOne(second))
    return {
      code: 'CONDITION_ALWAYS_HOLDS',
      message: say`"${operator}" compares a value with itself, which ${operator.includes('=') && !operator.startsWith('!') ? 'always holds' : 'never holds'}`,
      hint: say`name what it is to be compared with, as one of the two`,
    };
  if (!EQUALITY.test(operator)) return undefined;
  if (typeof first === 'string' && isScalar(second))
    return operand(
      say`"${operator}" compares two constants, ${quote(first)} and ${written(at, second)}`,
      /\{\{/.test(first) ? SEE_OTHER_TOOLS : say`name what was sent, as {"var": "name"} does`,
    );
  const name = nameIn(operands);
  if (name === undefined) return undefined;
  if (operands.some((each) => Array.isArray(each) && each.length > 0))
    return operand(
      say`"${operator}" compares ${quote(name)} with a whole list`,
      say`use "in" for one of several values: {"in": [{"var": …}, […]]}`,
    );
  const other = operands.find((each) => typeof each === 'number' || typeof each === 'boolean');
  const isText = /^(?:headers|query)\../.test(name) && !operands.some(hasDefault);
  return operator.length === 3 && isText && other !== undefined
    ? operand(
        say`"${operator}" compares ${quote(name)}, which is always a text, with ${written(at, other)}: that ${operator === '===' ? 'never holds' : 'always holds'}`,
        say`put the value in quotes`,
      )
    : undefined;
}

function operandsOfIn({ operands: [first, second] }: RuleOperation): Suspect | undefined {
  const name = nameOfVariable(first);
  if (Array.isArray(first) && nameOfVariable(second) !== undefined)
    return operand(
      say`"in" looks for the first operand in the second, and the first is a whole list`,
      say`name the variable first, and the list behind it`,
    );
  return name !== undefined && typeof second === 'string'
    ? operand(
        say`"in" looks for the value of ${quote(name)} inside the text ${quote(second)}`,
        say`name the text first to look for it in the value; make a list of several texts: ["a", "b"]`,
      )
    : undefined;
}

const nameIn = (operands: RuleOperation['operands']): string | undefined =>
  operands.map(nameOfVariable).find((each) => each !== undefined);

function asOne(rule: unknown): string {
  return JSON.stringify(rule, (_key, value: unknown) => {
    const name = nameOfVariable(value);
    return name === undefined || hasDefault(value) ? value : canonicalPath(name.split('.'));
  });
}

/**
 * Finds two differences of one variable in an `or`, of which one always holds, and constants in the place
 * of a condition.
 */
function constantsOf(at: RuleAt): Suspect | undefined {
  const { operator, operands } = at.operation;
  if (operator !== 'or' && operator !== 'and') return undefined;
  const code = 'CONDITION_ALWAYS_HOLDS';
  const differing = operator === 'or' ? differingName(operands) : undefined;
  if (differing !== undefined)
    return {
      code,
      message: say`this "or" can never be false: ${quote(differing)} always differs from one of the values`,
      hint: say`join the rules about ${quote(differing)} with "and" to take none of the values`,
    };
  const constant = operands.find((each) => typeof each === 'number' || (typeof each === 'string' && each));
  if (constant === undefined || constant === '' || !isAsked(at.path)) return undefined;
  const is = `${written(at, constant)} alone is no rule, and always counts as true`;
  return {
    code,
    message: say`${operator === 'or' ? `this "or" can never be false: ${is}` : `${is}: it asks nothing in this "and"`}`,
    hint: say`make it a rule, which names the field that has this value`,
  };
}

function differingName(operands: RuleOperation['operands']): string | undefined {
  const differences = operands.flatMap((each) => differenceIn(each) ?? []);
  const byName = Map.groupBy(differences, ({ name }) => canonicalPath(name.split('.')));
  return [...byName.values()].find((group) => new Set(group.map(({ value }) => value)).size > 1)?.[0]?.name;
}

/** A text that spells a number equals other texts that do. */
function differenceIn(rule: unknown): { readonly name: string; readonly value: string } | undefined {
  const outer = operationOf(rule);
  const isNegated = outer?.operator === '!';
  const { operator = '', operands = [] } = (isNegated ? operationOf(outer.operands[0]) : outer) ?? {};
  if (!(isNegated ? /^===?$/ : /^!==?$/).test(operator)) return undefined;
  const name = nameIn(operands);
  const value = operands.find(isScalar);
  return name === undefined || typeof value !== 'string' || !Number.isNaN(Number(value))
    ? undefined
    : { name, value };
}

/** An unknown value does not match, and neither does a null that must not be there. Such rules are left alone. */
function nullOf({ operation: { operator, operands }, path }: RuleAt): Suspect | undefined {
  const isNegated = path.filter((step) => step === '!').length % 2 === 1;
  const asksForNull = !operator.startsWith('!');
  const name = nameIn(operands);
  if (!EQUALITY.test(operator) || !operands.includes(null) || asksForNull === isNegated || name === undefined)
    return undefined;
  const variable = `{"var": ${quote(name)}}`;
  return {
    code: 'CONDITION_NULL_COMPARISON',
    message: say`"${operator}" with null only sees a null that was sent: a missing value makes the comparison unknown`,
    hint: say`to take a missing value as null write ${asksForNull ? `{"!": ${variable}}` : `{"!!": ${variable}}`}; an empty text, 0 and false count as missing there, too`,
  };
}

function variableOf({ subject, operation: { operator, operands }, path }: RuleAt): LookFinding | undefined {
  const [name] = operands;
  if (operator !== 'var' || typeof name !== 'string' || isInList(path)) return undefined;
  const at = subject.located.place([...path, operator]);
  const found = emptyPath(name.split('.'), at, { of: 'condition', withItem: false });
  const { forEach } = subject;
  if (found?.code !== OF_ELEMENT || forEach === undefined) return found;
  const { edit: _one, ...whole } = found;
  const field = JSON.stringify({ var: name.replace(/^item\.?/, '') });
  const hint = say`ask whether an element has it, {"some": [{"var": ${quote(forEach)}}, RULE]}, where RULE reads ${field}: a condition takes a request as a whole`;
  return { ...whole, hint };
}

/** Finds a variable that a condition requires to be two texts at once. */
function contradictions({ match: { when, source, path } }: CompiledMapping): readonly LookFinding[] {
  if (when === undefined) return [];
  const wanted = new Map<string, string>();
  if (source !== undefined) wanted.set(canonicalPath(['payload', 'source']), source);
  if (path !== undefined) wanted.set(canonicalPath(['path']), path);
  for (const { keys, literal } of when.equalities) {
    const variable = canonicalPath(keys);
    const other = wanted.get(variable);
    wanted.set(variable, literal);
    if (other === undefined || other === literal) continue;
    const [name, first, second] = [quote(keys.join('.')), quote(other), quote(literal)];
    return [
      {
        message: say`the condition can never hold: ${name} cannot be ${first} and ${second} at once`,
        at: when.at,
        hint: say`use "in" for one of several values: {"in": [{"var": …}, […]]}`,
      },
    ];
  }
  return [];
}

export const CONDITION_LOOKS: readonly Look[] = [
  {
    on: 'condition',
    codes: [
      'CONDITION_OPERANDS',
      'CONDITION_ALWAYS_HOLDS',
      'CONDITION_NULL_COMPARISON',
      'FOREIGN_PATH',
      'HEADER_NAME_CASE',
      'ITEM_WITHOUT_FOR_EACH',
      'TOKEN_CARRIER_READ',
    ],
    find: suspects,
  },
  {
    on: 'mappings',
    codes: ['CONDITION_CONTRADICTION'],
    find: ({ enabled }) => enabled.flatMap(contradictions),
  },
];
