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
  withEdit,
  type Diagnostic,
  type LocatedValue,
  type Path,
  type Place,
  type TextEdit,
} from '../../document/document.ts';
import { isJsonObject, isNumeric, type JsonValue } from '../../json.ts';
import {
  checkEquality,
  checkOperands,
  checkOperation,
  checkVariable,
  MAX_CONDITION_DEPTH,
  parseOperation,
  type Operation,
} from './condition-check.ts';
import { compileListOperator, isListOperator } from './rule-lists.ts';
import { compileOperator } from './rule-operators.ts';
import { MISSING, ROOT, truthy, UNKNOWN, type Evaluate, type Frame, type RuleValue } from './rule-value.ts';
import { compileReader, ownValue } from '../scope.ts';

/** A connective, or a leaf below connectives only: what traces and coverage show. */
export interface RuleNode {
  readonly at: Place;
  /** As written, cut to 80 characters. */
  readonly expression: string;
  readonly leaf: boolean;
  /** A constant decides nothing: coverage does not ask for it. */
  readonly constant: boolean;
  /** The first constant operand of a leaf. */
  readonly expected?: JsonValue;
  readonly children: readonly number[];
  readonly operator?: string;
  readonly evaluate: Evaluate;
}

/** A compiled rule; node 0 is its root. Usable only where there is no diagnostic that is an error. */
export interface CompiledRule {
  readonly evaluate: Evaluate;
  readonly nodes: readonly RuleNode[];
  readonly diagnostics: readonly Diagnostic[];
}

const CONNECTIVES: ReadonlySet<string> = new Set(['and', 'or', '!', '!!', 'if', '?:']);

export function compileRule(located: LocatedValue): CompiledRule {
  const compiler: Compiler = { located, nodes: [], diagnostics: [] };
  const evaluate = compileNode(compiler, located.exact([]), []).evaluate;
  return { evaluate, nodes: compiler.nodes as RuleNode[], diagnostics: compiler.diagnostics };
}

interface Compiler {
  readonly located: LocatedValue;
  /** In source order; a slot is taken before the node's children are compiled. */
  readonly nodes: (RuleNode | undefined)[];
  readonly diagnostics: Diagnostic[];
}

interface CompiledNode {
  readonly evaluate: Evaluate;
  readonly node: number;
}

/** Compiles what stands where a truth is expected, and records it as a node. */
function compileNode(compiler: Compiler, value: unknown, path: Path): CompiledNode {
  const { nodes } = compiler;
  const node = nodes.length;
  nodes.push(undefined);
  const rule = readOperation(compiler, value, path);
  const connective = rule !== undefined && CONNECTIVES.has(rule.operator);
  const children = connective
    ? rule.operands.map((operand, index) => compileNode(compiler, operand, operandPath(rule, path, index)))
    : [];
  const compute = connective
    ? compileConnective(
        rule.operator,
        children.map(({ evaluate }) => evaluate),
      )
    : compileValue(compiler, { value, rule }, path);
  const expected = connective ? undefined : rule?.operands.find((operand) => !containsRule(operand));
  const evaluate: Evaluate = (frame) => {
    const { recorder } = frame;
    if (recorder === undefined) return compute(frame);
    recorder.enter(node);
    const result = compute(frame);
    recorder.leave(node, result);
    return result;
  };
  nodes[node] = {
    evaluate,
    at: compiler.located.place(path),
    expression: shortJson(value),
    leaf: !connective,
    constant: !containsRule(value),
    children: children.map((child) => child.node),
    ...(expected === undefined || rule?.operator === 'var' ? {} : { expected: expected as JsonValue }),
    ...(rule === undefined ? {} : { operator: rule.operator }),
  };
  return { node, evaluate };
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
  if (operator === 'missing') return (frame) => missingOf(frame, keysOf(evaluateList(operands, frame)));
  if (operator === 'missing_some') return compileMissingSome(operands);
  if (CONNECTIVES.has(operator)) return compileConnective(operator, operands);
  if (isListOperator(operator)) return compileListOperator(operator, operands);
  return compileOperator(operator, operands);
}

/** The rule in a value, if it is one; findings go to the compiler. */
function readOperation(compiler: Compiler, value: unknown, path: Path): Operation | undefined {
  if (!isJsonObject(value)) return undefined;
  const at = compiler.located.place(path);
  const { diagnostics } = compiler;
  const depth = path.filter((step) => typeof step === 'string').length + 1;
  if (depth > MAX_CONDITION_DEPTH) {
    const message = `the condition is nested deeper than ${MAX_CONDITION_DEPTH} operators`;
    if (!diagnostics.some(({ code }) => code === 'CONDITION_TOO_DEEP')) {
      const hint = 'give "and" and "or" one long list instead of nesting them, or decide in a transform';
      diagnostics.push({ severity: 'error', code: 'CONDITION_TOO_DEEP', message, at, hint });
    }
    return undefined;
  }
  const rule = parseOperation(value, at);
  if ('code' in rule) {
    diagnostics.push(rule);
    return undefined;
  }
  const keyAt = compiler.located.place([...path, rule.operator], 'key');
  const finding =
    checkOperation(rule, keyAt) ??
    checkEquality(rule, keyAt) ??
    checkOperands(rule, keyAt) ??
    (isInList(path)
      ? undefined
      : checkVariable(rule, keyAt, compiler.located.place([...path, rule.operator])));
  if (finding === undefined) return rule;
  diagnostics.push(withEdit(finding, swapOf(compiler, rule, path, finding)));
  return finding.severity === 'error' ? undefined : rule;
}

/** The edit that turns two operands round, where that is the remedy. */
function swapOf(
  { located }: Compiler,
  { operator, operands, unary }: Operation,
  path: Path,
  { code, edit, hint }: Diagnostic,
): TextEdit | undefined {
  const isList = hint?.startsWith('for one of several values') === true;
  if (code === 'CONDITION_OPERANDS' && (operator !== 'in' || isList))
    return wholeRule(located.place(path), hint);
  if (code !== 'CONDITION_OPERANDS' || operator !== 'in' || unary) return edit;
  if (!Array.isArray(operands[0]) && typeof operands[1] !== 'string') return edit;
  const first = located.place([...path, operator, 0]);
  const second = located.place([...path, operator, 1]);
  const { source } = first;
  const { text } = source;
  // Block lists stand on lines of their own, whose indentation belongs to them.
  if (text.slice(first.start, second.end).includes('\n') || second.start < first.end) return edit;
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

function operandPath(rule: Operation, path: Path, index: number): Path {
  return rule.unary ? [...path, rule.operator] : [...path, rule.operator, index];
}

function compileVar(rule: Operation, operands: readonly Evaluate[]): Evaluate {
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

function compileLookup(name: string, fallback: Evaluate | undefined): Evaluate {
  const keys = name === '' ? [] : name.split('.');
  const readScope = compileReader(keys);
  return (frame) => {
    const { data, recorder } = frame;
    const value = data === ROOT ? readScope(frame.scope) : readData(data, keys);
    recorder?.read(name, value ?? (value === null ? null : MISSING));
    if (value !== undefined) return value;
    return fallback === undefined ? MISSING : fallback(frame);
  };
}

function readData(data: JsonValue, keys: readonly string[]): JsonValue | undefined {
  let value: JsonValue | undefined = data;
  for (const key of keys) value = ownValue(value, key);
  return value;
}

function compileMissingSome([count, names]: readonly Evaluate[]): Evaluate {
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
function missingOf(frame: Frame, names: readonly JsonValue[]): JsonValue[] {
  return names.filter((name) => {
    const text = nameOf(name);
    if (text === undefined) return true;
    const value = compileLookup(text, undefined)(frame);
    return value === MISSING || value === null || value === '';
  });
}

function evaluateList(entries: readonly Evaluate[], frame: Frame): RuleValue {
  const list: JsonValue[] = [];
  for (const entry of entries) {
    const value = entry(frame);
    if (value === UNKNOWN) return UNKNOWN;
    list.push(value === MISSING ? null : value);
  }
  return list;
}

function compileConnective(operator: string, operands: readonly Evaluate[]): Evaluate {
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
function firstOrLast(operands: readonly Evaluate[], deciding: boolean, frame: Frame): RuleValue {
  let last: RuleValue = null;
  let unknown = false;
  for (const operand of operands) {
    last = operand(frame);
    if (last === UNKNOWN) unknown = true;
    else if (truthy(last) === deciding) return last;
  }
  return unknown ? UNKNOWN : last;
}

function evaluateIf(operands: readonly Evaluate[], frame: Frame): RuleValue {
  let at = 0;
  for (; at + 1 < operands.length; at += 2) {
    const condition = operands[at]?.(frame) ?? null;
    if (condition === UNKNOWN) return UNKNOWN;
    if (truthy(condition)) return operands[at + 1]?.(frame) ?? null;
  }
  return operands[at]?.(frame) ?? null;
}

/** Whether a value has to be evaluated; anything that looks like a rule counts, so that a broken one is found. */
function containsRule(value: unknown): boolean {
  if (Array.isArray(value)) return value.some(containsRule);
  return isJsonObject(value);
}

function shortJson(value: unknown): string {
  const text = JSON.stringify(value) ?? '';
  return text.length > 80 ? `${text.slice(0, 79)}…` : text;
}
