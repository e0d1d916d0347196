/** Rules of a condition that are right, and hardly meant: they never hold, always hold, or compare what cannot be equal. */
import { emptyPath } from '../dialects/paths.ts';
import { say, quoted } from '../../../base/finding.ts';
import type { Path } from '../../../base/document/document.ts';
import { isJsonObject } from '../../../base/json.ts';
import {
  canonicalPath,
  nameOfVariable,
  operationOf,
  operationProblem,
  quote,
  type ConditionSubject,
  type MappingsSubject,
  type Operation,
} from '../../../engine/mapping/facts.ts';
import { type CompiledMapping } from '../../../engine/mapping/mapping.ts';
import { look, replacing, type Found } from '../rule.ts';
import { asksForEmpty, wholeRule } from '../rule-edits.ts';
import { readsSecret, SECRET_HINT } from '../rule-parts.ts';
import { checkAlternatives, checkConstants, checkItself } from './condition-constants.ts';
import { suspectOperands } from './condition-operands.ts';
import { isAsked, isInList } from './conditions.ts';

/** A rule that the engine takes, where it stands. */
interface RuleAt {
  readonly subject: ConditionSubject;
  readonly rule: object;
  readonly operation: Operation;
  readonly path: Path;
}

const OF_ELEMENT = 'ITEM_WITHOUT_FOR_EACH';

/** The first thing that each rule is suspected of. */
function suspects(subject: ConditionSubject): readonly Found[] {
  const found = suspectsIn(subject, subject.located.exact([]), []);
  const first = found.find(({ code }) => code === OF_ELEMENT);
  // What is asked of the element of a forEach is told once.
  return found.filter((each) => each === first || each.code !== OF_ELEMENT || subject.forEach === undefined);
}

function suspectsIn(subject: ConditionSubject, value: unknown, path: Path): readonly Found[] {
  if (Array.isArray(value))
    return value.flatMap((each, index) => suspectsIn(subject, each, [...path, index]));
  const operation = operationOf(value);
  if (operation === undefined || !isJsonObject(value)) return [];
  const { located } = subject;
  const keyAt = () => located.place([...path, operation.operator], 'key');
  if (operationProblem(value, operation, { at: located.place(path), keyAt }) !== undefined) return [];
  const found = suspect({ subject, rule: value, operation, path });
  const inner = value[operation.operator] ?? null;
  return [
    ...(found === undefined ? [] : [found]),
    ...suspectsIn(subject, inner, [...path, operation.operator]),
  ];
}

function suspect(each: RuleAt): Found | undefined {
  const { subject, rule, operation, path } = each;
  const at = subject.located.place([...path, operation.operator], 'key');
  const itself = checkItself(operation, at);
  if (itself !== undefined) return { ...itself, code: 'CONDITION_ALWAYS_HOLDS' };
  const equality = checkEquality(operation, at, isTurned(path));
  if (equality !== undefined) return equality;
  const operands = suspectOperands(operation, isInList(path));
  if (operands !== undefined) {
    const { message, hint } = operands;
    const edit = asksForEmpty(operation) ? undefined : wholeRule(subject.located.place(path), operands.rule);
    const said = { message: quoted(message), at, hint: quoted(hint), ...(edit && { edit }) };
    return withoutSecret(said, rule, operands.rule);
  }
  const constant =
    checkAlternatives(operation, at) ?? (isAsked(path) ? checkConstants(operation, at) : undefined);
  if (constant !== undefined) return { ...constant, code: 'CONDITION_ALWAYS_HOLDS' };
  return isInList(path) ? undefined : checkVariable(each);
}

/** A rule that reads what has a secret's name: nothing that it is compared with is quoted. */
function withoutSecret(found: Found, rule: object, hint?: string): Found {
  if (!readsSecret(rule, hint)) return found;
  const message = say`the operands cannot be meant, and what is compared may be a secret`;
  return { ...found, message, hint: quoted(SECRET_HINT) };
}

/** Equality written in a way that does not do what it seems to: comparing with null, or loosely with true or "". */
function checkEquality(
  { operator, operands }: Operation,
  at: NonNullable<Found['at']>,
  isNegated: boolean,
): Found | undefined {
  const isVariable = (operand: unknown): boolean => operationOf(operand)?.operator === 'var';
  if (!/^[!=]==?$/.test(operator) || !operands.some(isVariable)) return undefined;
  if (operands.includes(null)) return nullComparison({ operator, operands }, at, isNegated);
  const converts = operands.some((operand) => typeof operand === 'boolean' || operand === '');
  if (operator.length > 2 || !converts) return undefined;
  const strict = operator === '==' ? '===' : '!==';
  const found = {
    code: 'CONDITION_LOOSE_EQUALITY',
    message: say`"${operator}" converts before it compares: 1, "1" and [1] are all equal to true, and 0 to ""`,
    at,
    hint: say`write "${strict}"`,
  };
  return replacing(found, operator, strict);
}

/** What is unknown does not match, as a null does not that must not be there: of such a rule nothing is said. */
function nullComparison(
  { operator, operands }: Pick<Operation, 'operator' | 'operands'>,
  at: NonNullable<Found['at']>,
  isNegated: boolean,
): Found | undefined {
  const asksForNull = !operator.startsWith('!');
  const name = operands.map(nameOfVariable).find((each) => each !== undefined);
  if (asksForNull === isNegated || name === undefined) return undefined;
  const variable = `{"var": ${quote(name)}}`;
  return {
    code: 'CONDITION_NULL_COMPARISON',
    message: say`"${operator}" with null only sees a null that was sent: a missing value makes the comparison unknown`,
    at,
    hint: say`to take a missing value as null write ${asksForNull ? `{"!": ${variable}}` : `{"!!": ${variable}}`}; an empty text, 0 and false count as missing there, too`,
  };
}

/** Whether the negations around a rule turn its result round: their number is odd. */
const isTurned = (path: Path): boolean => path.filter((step) => step === '!').length % 2 === 1;

/** A variable at the root whose name can find nothing. */
function checkVariable({ subject, operation: { operator, operands }, path }: RuleAt): Found | undefined {
  const [name] = operands;
  if (operator !== 'var' || typeof name !== 'string') return undefined;
  const at = subject.located.place([...path, operator]);
  const found = emptyPath(name.split('.'), at, { of: 'condition', withItem: false });
  const { forEach } = subject;
  if (found?.code !== OF_ELEMENT || forEach === undefined) return found;
  const { edit: _one, ...whole } = found;
  const field = JSON.stringify({ var: name.replace(/^item\.?/, '') });
  const hint = say`ask whether an element has it, {"some": [{"var": ${quote(forEach)}}, RULE]}, where RULE reads ${field}: a condition takes a request as a whole`;
  return { ...whole, hint };
}

/** A variable that a condition wants to be two texts at once: it can never hold. */
function contradictions({ match: { when, source, path } }: CompiledMapping): readonly Found[] {
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
    const rule = `{"in": [{"var": ${name}}, [${first}, ${second}]]}`;
    // Where nothing else is asked for, the rule of the hint stands for all of it.
    const isAll = when.leaves.length === 2 && when.equalities.length === 2;
    const edit = isAll ? wholeRule(when.at, rule) : undefined;
    return [
      {
        message: say`the condition can never hold: ${name} cannot be ${first} and ${second} at once`,
        at: when.at,
        hint: say`for one of several values write ${rule}`,
        ...(edit && { edit }),
      },
    ];
  }
  return [];
}

/** A push of GitHub has the whole name of its branch in `ref`: a condition on the bare name never holds. */
function bareBranches({ match: { when } }: CompiledMapping): readonly Found[] {
  const literalOf = (field: string): string =>
    when?.equalities.find(({ keys }) => canonicalPath(keys) === canonicalPath(field.split('.')))?.literal ??
    '';
  const branch = literalOf('payload.ref');
  if (
    when === undefined ||
    literalOf('headers.x-github-event') !== 'push' ||
    !/^(?!refs\/)[\w./-]+$/.test(branch)
  )
    return [];
  const message = say`the condition can never hold: a push has the whole name of its branch, and ref is never ${quote(branch)}`;
  const found = { message, at: when.at, hint: say`write ${quote(`refs/heads/${branch}`)}` };
  return [replacing(found, branch, `refs/heads/${branch}`)];
}

export const CONDITION_LOOKS = [
  look({
    on: 'condition',
    codes: [
      'CONDITION_OPERANDS',
      'CONDITION_ALWAYS_HOLDS',
      'CONDITION_LOOSE_EQUALITY',
      'CONDITION_NULL_COMPARISON',
      'FOREIGN_PATH',
      'HEADER_NAME_CASE',
      'ITEM_WITHOUT_FOR_EACH',
      'TOKEN_CARRIER_READ',
    ],
    find: suspects,
  }),
  look({
    on: 'mappings',
    codes: ['CONDITION_CONTRADICTION'],
    find: ({ enabled }: MappingsSubject) => enabled.flatMap(contradictions),
  }),
  look({
    on: 'mappings',
    codes: ['CONDITION_BRANCH_NAME'],
    find: ({ enabled }: MappingsSubject) => enabled.flatMap(bareBranches),
  }),
];
