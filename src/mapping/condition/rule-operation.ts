import { quoted, say } from '../../finding.ts';
import { withEdit, type Finding, type LocatedValue, type Path, type Place } from '../../document/document.ts';
import { isJsonObject, type JsonObject } from '../../json.ts';
import {
  checkEquality,
  checkOperation,
  checkVariable,
  isOperatorName,
  MAX_CONDITION_DEPTH,
  parseOperation,
  type Operation,
} from './condition-check.ts';
import { checkAlternatives, checkConstants } from './always-holds.ts';
import { checkOperands } from './operand-checks.ts';
import { foreignCondition } from './foreign-rules.ts';
import { SECRET_HINT } from './meant-rule.ts';
import { checkElements } from './element-checks.ts';
import { editOfRule } from './rule-edits.ts';
import { ruleFacts, writing } from './rule-facts.ts';
import { isListOperator } from './rule-lists.ts';

/** The file a rule is read from, and where findings go. */
export interface RuleSource {
  readonly located: LocatedValue;
  readonly diagnostics: Finding[];
}

/** The rule in a value, if it is one and has no error. */
export function readOperation(source: RuleSource, value: unknown, path: Path): Operation | undefined {
  if (!isJsonObject(value)) return undefined;
  const at = source.located.place(path);
  if (isTooDeep(path)) {
    reportDepth(source.diagnostics, at);
    return undefined;
  }
  const rule = parseOperation(value, at);
  if ('code' in rule) {
    source.diagnostics.push(withoutSecret(asForeign(rule, value, path), value));
    return undefined;
  }
  const found = findingOf(source, rule, path);
  const finding = found && asForeign(found, value, path);
  if (finding === undefined) return rule;
  const edit = editOfRule(source.located, rule, path, finding);
  source.diagnostics.push(withEdit(withoutSecret(finding, value), edit));
  return finding.severity === 'error' ? undefined : rule;
}

/** What a condition of another tool is here, where a finding says that it is none. */
function asForeign(finding: Finding, value: JsonObject, path: Path): Finding {
  if (!MISUNDERSTOOD.has(finding.code)) return finding;
  const isElement = isInList(path);
  if (!isAsked(path)) return finding;
  const meant = foreignCondition(value, { isOperator: isOperatorName, isElement });
  return meant === undefined ? finding : withMeant(finding, meant);
}

function withMeant(
  finding: Finding,
  { hint, message, ...rest }: NonNullable<ReturnType<typeof foreignCondition>>,
): Finding {
  const said = message === undefined ? {} : { message: quoted(message) };
  return { ...withoutEdit(finding), ...rest, ...said, ...writing(hint) };
}

const MISUNDERSTOOD: ReadonlySet<string> = new Set([
  'CONDITION_UNKNOWN_OPERATOR',
  'CONDITION_NOT_ONE_OPERATOR',
  'CONDITION_ARITY',
]);

function withoutEdit({ edit: _edit, ...finding }: Finding): Finding {
  return finding;
}

/** Whether the rule at a path is asked whether it holds, and is no value that is compared. */
function isAsked(path: Path): boolean {
  return path.every(
    (step, index) =>
      typeof step === 'number' || CONNECTIVES.has(step) || (isListOperator(step) && path[index + 1] === 1),
  );
}

const CONNECTIVES: ReadonlySet<string> = new Set(['and', 'or', '!', '!!']);

const SECRET_VARIABLE =
  /"var":\[?"[^"]*(?:token|secret|secrets|password|passwd|api[-_]?key|private[-_]?key|authorization)"/i;
/** Findings that quote operands. */
const QUOTING: ReadonlySet<string> = new Set([
  'CONDITION_ARITY',
  'CONDITION_NOT_ONE_OPERATOR',
  'CONDITION_OPERANDS',
  'CONDITION_UNKNOWN_OPERATOR',
]);

/** A finding on a rule that reads what has a secret's name quotes nothing that it is compared with. */
function withoutSecret(finding: Finding, rule: object): Finding {
  if (
    !QUOTING.has(finding.code) ||
    !SECRET_VARIABLE.test(`${JSON.stringify(rule)}${ruleFacts(finding).rule ?? ''}`.replaceAll('": ', '":'))
  )
    return finding;
  const message =
    finding.code === 'CONDITION_OPERANDS'
      ? say`the operands cannot be meant, and what is compared may be a secret`
      : finding.message;
  return { ...finding, message, hint: quoted(SECRET_HINT) };
}

function isTooDeep(path: Path): boolean {
  return path.filter((step) => typeof step === 'string').length >= MAX_CONDITION_DEPTH;
}

/** Says once for a condition that it is nested too deep. */
function reportDepth(diagnostics: Finding[], at: Place): void {
  if (diagnostics.some(({ code }) => code === 'CONDITION_TOO_DEEP')) return;
  const message = `the condition is nested deeper than ${MAX_CONDITION_DEPTH} operators`;
  const hint = 'give "and" and "or" one long list instead of nesting them, or decide in a transform';
  diagnostics.push({
    severity: 'error',
    code: 'CONDITION_TOO_DEEP',
    message: quoted(message),
    at,
    hint: quoted(hint),
  });
}

/** The first thing that is wrong with a rule. */
function findingOf({ located }: RuleSource, rule: Operation, path: Path): Finding | undefined {
  const keyAt = located.place([...path, rule.operator], 'key');
  return (
    checkOperation(rule, keyAt) ??
    checkEquality(rule, keyAt) ??
    checkOperands(rule, keyAt, { isElement: isInList(path) }) ??
    checkElements(rule, keyAt) ??
    checkAlternatives(rule, keyAt) ??
    (isAsked(path) ? checkConstants(rule, keyAt) : undefined) ??
    (isInList(path) ? undefined : checkVariable(rule, located.place([...path, rule.operator])))
  );
}

/** Whether the variables at a path read an element: the second operand of a list operator. */
function isInList(path: Path): boolean {
  return path.some(
    (step, index) => typeof step === 'string' && isListOperator(step) && path[index + 1] === 1,
  );
}
