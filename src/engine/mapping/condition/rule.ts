/**
 * JsonLogic compiled to closures.
 *
 * Ours: `var`, `missing`, `missing_some`, the connectives `and or ! !! if ?:` and the list operators; the rest is
 * json-logic-js's (`rule-operators.ts`). Values are three-valued. A `var` that finds nothing yields MISSING, which is
 * not a value: connectives take it for false, `missing` counts it, `cat` and `merge` take it for null (all as
 * published), every other operator answers UNKNOWN. UNKNOWN spreads by Kleene's logic: `and` with a false operand is
 * false, `or` with a true one is true, whatever else is unknown; the rest of what depends on it is unknown.
 */
import {
  shorten,
  type Finding,
  type LocatedValue,
  type Path,
  type Place,
} from '../../../base/document/document.ts';
import { isJsonObject, type JsonValue } from '../../../base/json.ts';
import { type Operation, MAX_CONDITION_DEPTH, operationOf, operationProblem } from './condition-check.ts';
import { compileConnective, isConnective } from './rule-connectives.ts';
import { compileListOperator, isListOperator } from './rule-lists.ts';
import { compileOperator } from './rule-operators.ts';
import { evaluateList, type Evaluate } from './rule-value.ts';
import { compileMissing, compileMissingSome, compileVar } from './rule-variables.ts';
import { say } from '../../../base/finding.ts';
import type { RuleFacts } from '../finding-facts.ts';

/** A connective, or a leaf below connectives only: what traces and coverage show. */
export interface RuleNode {
  readonly at: Place;
  /** As written, cut to 80 characters. */
  readonly expression: string;
  readonly rule: JsonValue;
  readonly leaf: boolean;
  /** A constant decides nothing: coverage does not ask for it. */
  readonly constant: boolean;
  /** The first constant operand of a leaf. */
  readonly expected?: JsonValue;
  readonly children: readonly number[];
  readonly operator?: string;
  readonly evaluate: Evaluate;
}

/** A compiled rule; node 0 is its root. Usable only where there is no finding that is an error. */
export interface CompiledRule {
  readonly evaluate: Evaluate;
  readonly nodes: readonly RuleNode[];
  readonly findings: readonly Finding[];
}

export function compileRule(located: LocatedValue): CompiledRule {
  const compiler: Compiler = { located, nodes: [], findings: [] };
  const evaluate = compileNode(compiler, located.exact([]), []).evaluate;
  return { evaluate, nodes: compiler.nodes as RuleNode[], findings: compiler.findings };
}

interface Compiler extends RuleSource {
  /** In source order; a slot is taken before the node's children are compiled. */
  readonly nodes: (RuleNode | undefined)[];
}

interface CompiledNode {
  readonly evaluate: Evaluate;
  readonly node: number;
}

/** Compiles what stands where a truth is expected, and records it as a node. */
function compileNode(compiler: Compiler, value: unknown, path: Path): CompiledNode {
  const node = compiler.nodes.push(undefined) - 1;
  const rule = readOperation(compiler, value, path);
  const connective = rule !== undefined && isConnective(rule.operator) ? rule : undefined;
  const children = connective === undefined ? [] : compileChildren(compiler, connective, path);
  const compute =
    connective === undefined
      ? compileValue(compiler, { value, rule }, path)
      : compileConnective(
          connective.operator,
          children.map(({ evaluate }) => evaluate),
        );
  const evaluate = recorded(node, compute);
  compiler.nodes[node] = {
    evaluate,
    at: compiler.located.place(path),
    expression: shortJson(value),
    rule: value as JsonValue,
    leaf: connective === undefined,
    constant: !containsRule(value),
    children: children.map((child) => child.node),
    ...expectedOf(rule),
    ...(rule === undefined ? {} : { operator: rule.operator }),
  };
  return { node, evaluate };
}

function compileChildren(compiler: Compiler, rule: Operation, path: Path): readonly CompiledNode[] {
  return rule.operands.map((operand, index) =>
    compileNode(compiler, operand, operandPath(rule, path, index)),
  );
}

/** Tells the recorder, where there is one, that a node is entered and what came of it. */
function recorded(node: number, compute: Evaluate): Evaluate {
  return (frame) => {
    const { recorder } = frame;
    if (recorder === undefined) return compute(frame);
    recorder.enter(node);
    const result = compute(frame);
    recorder.leave(node, result);
    return result;
  };
}

/** The first constant operand of a leaf. */
function expectedOf(rule: Operation | undefined): Pick<RuleNode, 'expected'> {
  if (rule === undefined || rule.operator === 'var' || isConnective(rule.operator)) return {};
  const expected = rule.operands.find((operand) => !containsRule(operand));
  return expected === undefined ? {} : { expected: expected };
}

function compileOperand(compiler: Compiler, value: unknown, path: Path): Evaluate {
  return compileValue(compiler, { value, rule: readOperation(compiler, value, path) }, path);
}

/** Compiles an operand: a rule, a list that may hold rules, or a constant. */
function compileValue(
  compiler: Compiler,
  { value, rule }: { readonly value: unknown; readonly rule: Operation | undefined },
  path: Path,
): Evaluate {
  if (rule !== undefined) return compileRuleAt(compiler, rule, path);
  if (Array.isArray(value) && containsRule(value)) {
    const entries = value.map((entry, index) => compileOperand(compiler, entry, [...path, index]));
    return (frame) => evaluateList(entries, frame);
  }
  const constant = value as JsonValue;
  return () => constant;
}

function compileRuleAt(compiler: Compiler, rule: Operation, path: Path): Evaluate {
  const operands = rule.operands.map((operand, index) =>
    compileOperand(compiler, operand, operandPath(rule, path, index)),
  );
  const { operator } = rule;
  if (operator === 'var') return compileVar(rule, operands);
  if (operator === 'missing') return compileMissing(operands);
  if (operator === 'missing_some') return compileMissingSome(operands);
  if (isConnective(operator)) return compileConnective(operator, operands);
  if (isListOperator(operator)) return compileListOperator(operator, rule, operands);
  return compileOperator(operator, operands);
}

function operandPath(rule: Operation, path: Path, index: number): Path {
  return rule.unary ? [...path, rule.operator] : [...path, rule.operator, index];
}

/** Whether a value has to be evaluated; anything that looks like a rule counts, so that a broken one is found. */
function containsRule(value: unknown): boolean {
  if (Array.isArray(value)) return value.some(containsRule);
  return isJsonObject(value);
}

function shortJson(value: unknown): string {
  return shorten(JSON.stringify(value) ?? '');
}

/** The file a rule is read from, and where findings go. */
interface RuleSource {
  readonly located: LocatedValue;
  readonly findings: Finding[];
}

/** The rule in a value, if it is one and has no error. */
function readOperation({ located, findings }: RuleSource, value: unknown, path: Path): Operation | undefined {
  if (!isJsonObject(value)) return undefined;
  const at = located.place(path);
  if (path.filter((step) => typeof step === 'string').length >= MAX_CONDITION_DEPTH) {
    // Once for a condition.
    if (!findings.some(({ code }) => code === 'CONDITION_TOO_DEEP'))
      findings.push({
        severity: 'error',
        code: 'CONDITION_TOO_DEEP',
        message: say`the condition is nested deeper than ${MAX_CONDITION_DEPTH} operators`,
        at,
      });
    return undefined;
  }
  const operation = operationOf(value);
  const keyAt = () => located.place([...path, operation?.operator ?? ''], 'key');
  const problem = operationProblem(value, operation, { at, keyAt });
  if (problem === undefined) return operation;
  findings.push({ ...problem, facts: { located, path, rule: value } satisfies RuleFacts });
  return undefined;
}
