/**
 * JsonLogic compiled to closures.
 *
 * Ours: `var`, `missing`, `missing_some`, the connectives `and or ! !! if ?:` and the list operators; the rest is
 * json-logic-js's (`rule-operators.ts`). Values are three-valued. A `var` that finds nothing yields MISSING, which is
 * not a value: connectives take it for false, `missing` counts it, `cat` and `merge` take it for null (all as
 * published), every other operator answers UNKNOWN. UNKNOWN spreads by Kleene's logic: `and` with a false operand is
 * false, `or` with a true one is true, whatever else is unknown; the rest of what depends on it is unknown.
 */
import { type Finding, type LocatedValue, type Path, type Place } from '../../../base/document/document.ts';
import { isJsonObject, type JsonValue, isNumeric, valueAt } from '../../../base/json.ts';
import {
  isListOperator,
  type RuleOperation,
  MAX_CONDITION_DEPTH,
  operationOf,
  operationProblem,
} from './condition-check.ts';
import { compileListOperator } from './rule-lists.ts';
import { compileOperator } from './rule-operators.ts';
import {
  evaluateList,
  type EvaluateRule,
  truthy,
  UNKNOWN,
  type RuleFrame,
  type RuleValue,
  MISSING,
  ROOT,
} from './rule-value.ts';
import { say, shorten } from '../../../base/finding.ts';
import type { RuleFacts } from '../finding-facts.ts';
import { compileReader } from '../scope.ts';

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
  readonly evaluate: EvaluateRule;
}

/** A compiled rule; node 0 is its root. Usable only where there is no finding that is an error. */
export interface CompiledRule {
  readonly evaluate: EvaluateRule;
  readonly nodes: readonly RuleNode[];
  readonly findings: readonly Finding[];
}

export function compileRule(located: LocatedValue): CompiledRule {
  const compiler: RuleCompiler = { located, nodes: [], findings: [] };
  const evaluate = compileNode(compiler, located.exact([]), []).evaluate;
  return { evaluate, nodes: compiler.nodes as RuleNode[], findings: compiler.findings };
}

interface RuleCompiler extends RuleSource {
  /** In source order; a slot is taken before the node's children are compiled. */
  readonly nodes: (RuleNode | undefined)[];
}

interface CompiledNode {
  readonly evaluate: EvaluateRule;
  readonly node: number;
}

/** Compiles what stands where a truth is expected, and records it as a node. */
function compileNode(compiler: RuleCompiler, value: unknown, path: Path): CompiledNode {
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

function compileChildren(compiler: RuleCompiler, rule: RuleOperation, path: Path): readonly CompiledNode[] {
  return rule.operands.map((operand, index) =>
    compileNode(compiler, operand, operandPath(rule, path, index)),
  );
}

/** Tells the recorder, where there is one, that a node is entered and what came of it. */
function recorded(node: number, compute: EvaluateRule): EvaluateRule {
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
function expectedOf(rule: RuleOperation | undefined): Pick<RuleNode, 'expected'> {
  if (rule === undefined || rule.operator === 'var' || isConnective(rule.operator)) return {};
  const expected = rule.operands.find((operand) => !containsRule(operand));
  return expected === undefined ? {} : { expected: expected };
}

function compileOperand(compiler: RuleCompiler, value: unknown, path: Path): EvaluateRule {
  return compileValue(compiler, { value, rule: readOperation(compiler, value, path) }, path);
}

/** Compiles an operand: a rule, a list that may hold rules, or a constant. */
function compileValue(
  compiler: RuleCompiler,
  { value, rule }: { readonly value: unknown; readonly rule: RuleOperation | undefined },
  path: Path,
): EvaluateRule {
  if (rule !== undefined) return compileRuleAt(compiler, rule, path);
  if (Array.isArray(value) && containsRule(value)) {
    const entries = value.map((entry, index) => compileOperand(compiler, entry, [...path, index]));
    return (frame) => evaluateList(entries, frame);
  }
  const constant = value as JsonValue;
  return () => constant;
}

function compileRuleAt(compiler: RuleCompiler, rule: RuleOperation, path: Path): EvaluateRule {
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

function operandPath(rule: RuleOperation, path: Path, index: number): Path {
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
function readOperation(
  { located, findings }: RuleSource,
  value: unknown,
  path: Path,
): RuleOperation | undefined {
  if (!isJsonObject(value)) return undefined;
  const at = located.place(path);
  if (path.filter((step) => typeof step === 'string').length >= MAX_CONDITION_DEPTH) {
    // One report for each condition is enough.
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
  findings.push({ ...problem, facts: { rule: value } satisfies RuleFacts });
  return undefined;
}

const CONNECTIVES: ReadonlySet<string> = new Set(['and', 'or', '!', '!!', 'if', '?:']);

function isConnective(operator: string): boolean {
  return CONNECTIVES.has(operator);
}

function compileConnective(operator: string, operands: readonly EvaluateRule[]): EvaluateRule {
  switch (operator) {
    case 'and':
      return (frame) => firstOrLast(operands, false, frame);
    case 'or':
      return (frame) => firstOrLast(operands, true, frame);
    case '!':
    case '!!': {
      const [operand] = operands;
      return (frame) => {
        const value = operand?.(frame) ?? null;
        return value === UNKNOWN ? UNKNOWN : truthy(value) === (operator === '!!');
      };
    }
    default:
      return (frame) => evaluateIf(operands, frame);
  }
}

/** `and` yields its first false operand, `or` its first true one, else the last; unknown where an unknown one decides. */
function firstOrLast(operands: readonly EvaluateRule[], deciding: boolean, frame: RuleFrame): RuleValue {
  let last: RuleValue = null;
  let unknown = false;
  for (const operand of operands) {
    last = operand(frame);
    if (last === UNKNOWN) unknown = true;
    else if (truthy(last) === deciding) return last;
  }
  return unknown ? UNKNOWN : last;
}

function evaluateIf(operands: readonly EvaluateRule[], frame: RuleFrame): RuleValue {
  let at = 0;
  for (; at + 1 < operands.length; at += 2) {
    const condition = operands[at]?.(frame) ?? null;
    if (condition === UNKNOWN) return UNKNOWN;
    if (truthy(condition)) return operands[at + 1]?.(frame) ?? null;
  }
  return operands[at]?.(frame) ?? null;
}

/** Compiles `var`, with a name that is written or computed. */
function compileVar(rule: RuleOperation, operands: readonly EvaluateRule[]): EvaluateRule {
  const [name] = rule.operands;
  const [computed, fallback] = operands;
  if (computed === undefined || name === null || name === '') return compileLookup('', fallback);
  if (typeof name === 'string' || isNumeric(name)) return compileLookup(String(name), fallback);
  return (frame) => {
    const found = computed(frame);
    if (found === UNKNOWN || found === MISSING) return found;
    const text = nameOf(found);
    return text === undefined ? MISSING : compileLookup(text, fallback)(frame);
  };
}

/** A computed name: only texts and numbers are names; null stands for the whole data, as published. */
function nameOf(value: JsonValue): string | undefined {
  if (value === null) return '';
  return typeof value === 'string' || isNumeric(value) ? String(value) : undefined;
}

function compileLookup(name: string, fallback: EvaluateRule | undefined): EvaluateRule {
  const keys = name === '' ? [] : name.split('.');
  const readScope = compileReader(keys);
  return (frame) => {
    const { data, recorder } = frame;
    const value = data === ROOT ? readScope(frame.scope) : valueAt(data, keys);
    recorder?.read(name, value ?? (value === null ? null : MISSING));
    if (value !== undefined) return value;
    return fallback === undefined ? MISSING : fallback(frame);
  };
}

function compileMissing(names: readonly EvaluateRule[]): EvaluateRule {
  return (frame) => missingOf(frame, keysOf(evaluateList(names, frame)));
}

/** Compiles `missing_some`: what is missing where fewer than so many were sent. */
function compileMissingSome([count, names]: readonly EvaluateRule[]): EvaluateRule {
  return (frame) => {
    const needed = count?.(frame) ?? null;
    const list = names?.(frame) ?? null;
    if (needed === UNKNOWN || needed === MISSING || list === UNKNOWN || list === MISSING) return UNKNOWN;
    const keys = keysOf(Array.isArray(list) ? list : [list]);
    const missing = missingOf(frame, keys);
    return keys.length - missing.length >= Number(needed) ? [] : missing;
  };
}

/** `missing` takes its names as operands, or one list of them that another operator made. */
function keysOf(values: RuleValue): readonly JsonValue[] {
  if (!Array.isArray(values)) return [];
  const list = values as readonly JsonValue[];
  const [first] = list;
  return Array.isArray(first) ? (first as readonly JsonValue[]) : list;
}

/** Names of which nothing, null or an empty text was sent, as published. */
function missingOf(frame: RuleFrame, names: readonly JsonValue[]): JsonValue[] {
  return names.filter((name) => {
    const text = nameOf(name);
    if (text === undefined) return true;
    const value = compileLookup(text, undefined)(frame);
    return value === MISSING || value === null || value === '';
  });
}
