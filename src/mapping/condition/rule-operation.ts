import {
  withEdit,
  type Diagnostic,
  type LocatedValue,
  type Path,
  type Place,
  type TextEdit,
} from '../../document/document.ts';
import { isJsonObject } from '../../json.ts';
import {
  checkEquality,
  checkOperands,
  checkOperation,
  checkVariable,
  MAX_CONDITION_DEPTH,
  parseOperation,
  type Operation,
} from './condition-check.ts';
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
  source.diagnostics.push(withEdit(finding, swapOf(source, rule, path, finding)));
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

/** The edit that turns two operands round, where that is the remedy. */
function swapOf(
  { located }: RuleSource,
  { operator, operands, unary }: Operation,
  path: Path,
  { code, edit, hint }: Diagnostic,
): TextEdit | undefined {
  const isList = hint?.startsWith('for one of several values') === true;
  if (code === 'CONDITION_OPERANDS' && (operator !== 'in' || isList))
    return wholeRule(located.place(path), hint);
  if (code !== 'CONDITION_OPERANDS' || operator !== 'in' || unary) return edit;
  if (!Array.isArray(operands[0]) && typeof operands[1] !== 'string') return edit;
  const operandAt = (index: number): Place => located.place([...path, operator, index]);
  return exchangeOf(operandAt(0), operandAt(1)) ?? edit;
}

/** The edit that exchanges two texts of one line. */
function exchangeOf(first: Place, second: Place): TextEdit | undefined {
  const { source } = first;
  const { text } = source;
  // Block lists stand on lines of their own, whose indentation belongs to them.
  if (text.slice(first.start, second.end).includes('\n') || second.start < first.end) return undefined;
  return {
    at: { source, start: first.start, end: second.end },
    text:
      text.slice(second.start, second.end) +
      text.slice(first.end, second.start) +
      text.slice(first.start, first.end),
  };
}

/** The edit that puts the rule of a hint in place of one that stands on one line. */
function wholeRule(at: Place, hint: string | undefined): TextEdit | undefined {
  const rule = /write (\{.*\})$/.exec(hint ?? '')?.[1];
  const isLine = !at.source.text.slice(at.start, at.end).includes('\n');
  return rule === undefined || !isLine || !isJson(rule) ? undefined : { at, text: rule };
}

/** False for a rule that was cut. */
function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

/** Whether the variables at a path read an element: the second operand of a list operator. */
function isInList(path: Path): boolean {
  return path.some(
    (step, index) => typeof step === 'string' && isListOperator(step) && path[index + 1] === 1,
  );
}
