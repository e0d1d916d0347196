import {
  withEdit,
  type Diagnostic,
  type LocatedValue,
  type Path,
  type Place,
} from '../../document/document.ts';
import { isJsonObject } from '../../json.ts';
import {
  checkEquality,
  checkOperation,
  checkVariable,
  MAX_CONDITION_DEPTH,
  parseOperation,
  type Operation,
} from './condition-check.ts';
import { checkOperands } from './operand-checks.ts';
import { editOfRule } from './rule-edits.ts';
import { isListOperator } from './rule-lists.ts';

/** The file a rule is read from, and where findings go. */
export interface RuleSource {
  readonly located: LocatedValue;
  readonly diagnostics: Diagnostic[];
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
    source.diagnostics.push(rule);
    return undefined;
  }
  const finding = findingOf(source, rule, path);
  if (finding === undefined) return rule;
  source.diagnostics.push(withEdit(finding, editOfRule(source.located, rule, path, finding)));
  return finding.severity === 'error' ? undefined : rule;
}

function isTooDeep(path: Path): boolean {
  return path.filter((step) => typeof step === 'string').length >= MAX_CONDITION_DEPTH;
}

/** Says once for a condition that it is nested too deep. */
function reportDepth(diagnostics: Diagnostic[], at: Place): void {
  if (diagnostics.some(({ code }) => code === 'CONDITION_TOO_DEEP')) return;
  const message = `the condition is nested deeper than ${MAX_CONDITION_DEPTH} operators`;
  const hint = 'give "and" and "or" one long list instead of nesting them, or decide in a transform';
  diagnostics.push({ severity: 'error', code: 'CONDITION_TOO_DEEP', message, at, hint });
}

/** The first thing that is wrong with a rule. */
function findingOf({ located }: RuleSource, rule: Operation, path: Path): Diagnostic | undefined {
  const keyAt = located.place([...path, rule.operator], 'key');
  return (
    checkOperation(rule, keyAt) ??
    checkEquality(rule, keyAt) ??
    checkOperands(rule, keyAt) ??
    (isInList(path) ? undefined : checkVariable(rule, keyAt, located.place([...path, rule.operator])))
  );
}

/** Whether the variables at a path read an element: the second operand of a list operator. */
function isInList(path: Path): boolean {
  return path.some(
    (step, index) => typeof step === 'string' && isListOperator(step) && path[index + 1] === 1,
  );
}
