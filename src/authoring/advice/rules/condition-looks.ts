/** Finds rules of a condition whose operands cannot be meant, and variables that never find anything. */
import { say } from '../../../base/finding.ts';
import type { Path } from '../../../base/document/document.ts';
import { isJsonObject, isScalar } from '../../../base/json.ts';
import {
  hasDefault,
  nameOfVariable,
  operationOf,
  operationProblem,
  quote,
  type ConditionSubject,
  type RuleOperation,
} from '../../../engine/mapping/facts.ts';
import { emptyPath } from '../empty-paths.ts';
import { SEE_OTHER_TOOLS } from '../other-tools.ts';
import type { LookFinding, Look } from '../rule.ts';
import { isInList, readsSecret, SECRET_HINT } from './conditions.ts';

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
  const suspected = operandsOf(operation, path);
  const found =
    suspected === undefined
      ? variableOf({ operation, path, subject })
      : { ...suspected, at: keyAt(), ...(readsSecret(value) && { hint: say`${SECRET_HINT}` }) };
  const inner = value[operation.operator] ?? null;
  return [
    ...(found === undefined ? [] : [found]),
    ...suspectsIn(subject, inner, [...path, operation.operator]),
  ];
}

const EQUALITY = /^[=!]==?$/;

type SuspectText = ReturnType<typeof say>;

const operand = (message: SuspectText, hint: SuspectText): Suspect => ({
  code: 'CONDITION_OPERANDS',
  message,
  hint,
});

/** Whatever is sent, a comparison with such operands gives the same. No constant is repeated, as it may be a secret. */
function operandsOf(operation: RuleOperation, path: Path): Suspect | undefined {
  const { operator, operands } = operation;
  // Deeper, as in a comparison, a text in "or" is the value of a missing variable.
  if (operator === 'or' && path.every((step) => typeof step === 'number' || /^(?:or|and)$/.test(step)))
    return operands.some((each) => typeof each === 'string' && each !== '')
      ? operand(
          say`"or" has a text beside its rules, and a text always holds`,
          say`make one rule of all texts: {"in": [{"var": …}, ["a", "b"]]}`,
        )
      : undefined;
  if (operator === 'in') return operandsOfIn(operation);
  const [first, second] = operands;
  if (!EQUALITY.test(operator) || operands.length !== 2) return undefined;
  if (typeof first === 'string' && isScalar(second))
    return operand(
      say`"${operator}" compares two constants`,
      /\{\{/.test(first) ? SEE_OTHER_TOOLS : say`name what was sent, as {"var": "name"} does`,
    );
  const name = operands.map(nameOfVariable).find((each) => each !== undefined);
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
        say`"${operator}" compares ${quote(name)}, which is always a text, with what is none: that ${operator === '===' ? 'never holds' : 'always holds'}`,
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
        say`"in" looks for the value of ${quote(name)} inside a text`,
        say`name the text first to look for it in the value; make a list of several texts: ["a", "b"]`,
      )
    : undefined;
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

export const CONDITION_LOOKS: readonly Look[] = [
  {
    on: 'condition',
    codes: [
      'CONDITION_OPERANDS',
      'FOREIGN_PATH',
      'HEADER_NAME_CASE',
      'ITEM_WITHOUT_FOR_EACH',
      'TOKEN_CARRIER_READ',
    ],
    find: suspects,
  },
];
