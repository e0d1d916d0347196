import { say } from '../../../base/finding.ts';
import { type Finding, type LocatedValue, describeValue } from '../../../base/document/document.ts';
import { defined, isJsonObject, type JsonValue } from '../../../base/json.ts';
import type { CompiledCondition, ConditionTrace, Equality, Scope } from '../compiled-mapping.ts';
import type { MappingFacts } from '../finding-facts.ts';
import { hasDefault, nameOfVariable, operationOf } from './condition-check.ts';
import { compileRule, type CompiledRule, type RuleNode } from './rule.ts';
import {
  MISSING,
  ROOT,
  truthy,
  UNKNOWN,
  type RuleFrame,
  type RuleRecorder,
  type RuleValue,
} from './rule-value.ts';

/** Compiles a `when`: a JsonLogic rule, or the constants true and false. */
export function compileCondition(located: LocatedValue): {
  readonly condition?: CompiledCondition;
  readonly findings: readonly Finding[];
} {
  const { value } = located;
  if (typeof value !== 'boolean' && !isJsonObject(value)) return { findings: [notARule(located)] };
  const rule = compileRule(located);
  const { nodes, findings } = rule;
  if (findings.some(({ severity }) => severity === 'error')) return { findings };
  const condition: CompiledCondition = {
    at: located.place([]),
    rule: located.exact([]) as JsonValue,
    leaves: nodes.filter(({ leaf, constant }) => leaf && !constant).map(({ at }) => at),
    equalities: findEqualities(value),
    matches: (scope) => isTrue(rule.evaluate(startFrame(scope, undefined))),
    trace: (scope) => traceRule(rule, scope),
  };
  return { condition, findings };
}

/** What has a secret's name, compared with a text: `headers["x-gitlab-token"] == "…"`. It is not repeated. */
const comparesSecret = (text: string): boolean =>
  /(?:token|secret|password|passwd|api[-_]?key|authorization)["'\])]*\s*(?:[!=]==?|=|is\b|in\b|contains\b)/i.test(
    text,
  );

function notARule(located: LocatedValue): Finding {
  const { value } = located;
  const isSecret = typeof value === 'string' && comparesSecret(value);
  const at = located.place([]);
  return {
    severity: 'error',
    code: 'CONDITION_NOT_A_RULE',
    message: say`a condition is a rule such as {"===": [{"var": "action"}, "opened"]}, found ${describeValue(value, { secret: isSecret })}`,
    at,
    facts: { located, isSecret } satisfies MappingFacts['CONDITION_NOT_A_RULE'],
    ...(isSecret ? { hides: [{ start: at.start, end: at.end }] } : {}),
  };
}

function startFrame(scope: Scope, recorder: RuleRecorder | undefined): RuleFrame {
  return { scope, recorder, data: ROOT, spent: 0 };
}

function isTrue(value: RuleValue): boolean {
  return value !== UNKNOWN && truthy(value);
}

/** What the recorder keeps of one node until the evaluation is over. */
interface Visit {
  readonly node: number;
  readonly depth: number;
  value: RuleValue;
  found: JsonValue | undefined;
  missing: string | undefined;
  element: ConditionTrace['element'];
}

function traceRule({ evaluate, nodes }: CompiledRule, scope: Scope): ReturnType<CompiledCondition['trace']> {
  const visits: Visit[] = [];
  const matched = isTrue(evaluate(startFrame(scope, recordInto(visits))));
  const traced = new Map(visits.map((visit) => [visit.node, toTrace(nodes[visit.node], visit)]));
  const { failed, held } = findFailed(nodes, traced);
  return {
    matched,
    nodes: [...traced.values()].filter((trace) => trace !== undefined),
    held,
    failing: matched ? [] : findFailing(nodes, 0, scope),
    ...(matched || failed === undefined ? {} : { failed }),
  };
}

/** Adds a visit for each node that is entered, in that order. */
function recordInto(visits: Visit[]): RuleRecorder {
  const open: Visit[] = [];
  return {
    read(name, value) {
      const visit = open.at(-1);
      if (visit === undefined) return;
      if (value === MISSING) visit.missing ??= name;
      else if (visit.found === undefined) visit.found = value;
    },
    enter(node) {
      const nothing = { value: null, found: undefined, missing: undefined, element: undefined };
      const visit: Visit = { node, depth: open.length, ...nothing };
      visits.push(visit);
      open.push(visit);
    },
    leave(_node, value) {
      const visit = open.pop();
      if (visit !== undefined) visit.value = value;
    },
    decide(index, value) {
      const visit = open.at(-1);
      // With lists within lists, the outermost is noted last.
      if (visit !== undefined) visit.element = { index, value };
    },
  };
}

/** Conjuncts that do not hold; evaluation itself stops at the first. */
function findFailing(nodes: readonly RuleNode[], index: number, scope: Scope): readonly ConditionTrace[] {
  const node = nodes[index];
  if (node === undefined) return [];
  if (node.operator === 'and') return node.children.flatMap((child) => findFailing(nodes, child, scope));
  const visits: Visit[] = [];
  if (isTrue(node.evaluate(startFrame(scope, recordInto(visits))))) return [];
  const [visit] = visits;
  const trace = visit && toTrace(node, visit);
  return trace === undefined ? [] : [trace];
}

function toTrace(node: RuleNode | undefined, visit: Visit): ConditionTrace | undefined {
  if (node === undefined) return undefined;
  const { value, found, missing, element, depth } = visit;
  const result = value === UNKNOWN ? 'unknown' : truthy(value) ? 'true' : 'false';
  return {
    at: node.at,
    expression: node.expression,
    rule: node.rule,
    result,
    leaf: node.leaf,
    depth,
    ...defined({ found, expected: node.expected, missing, element }),
  };
}

/**
 * The node to blame for a condition that does not hold, and how many conjuncts held before it: down through `and` to
 * its first conjunct that is not true, and through `!` to what it negates when that carries the values.
 */
function findFailed(
  nodes: readonly RuleNode[],
  traced: ReadonlyMap<number, ConditionTrace | undefined>,
): { readonly failed?: ConditionTrace; readonly held: number } {
  let held = 0;
  let current = 0;
  for (;;) {
    const node = nodes[current];
    if (node?.operator !== 'and') break;
    const failing = node.children.find((child) => traced.get(child)?.result !== 'true');
    held += failing === undefined ? node.children.length : node.children.indexOf(failing);
    if (failing === undefined) break;
    current = failing;
  }
  const failed = traced.get(current);
  const [only] = nodes[current]?.children ?? [];
  const inner = nodes[current]?.operator === '!' && only !== undefined ? traced.get(only) : undefined;
  if (failed === undefined) return { held };
  return { held, failed: inner === undefined ? failed : { ...failed, ...valuesOf(inner) } };
}

/** What a negation shows of the rule that it negates. */
function valuesOf({ found, missing }: ConditionTrace): Pick<ConditionTrace, 'found' | 'missing'> {
  return { ...(found === undefined ? {} : { found }), ...(missing === undefined ? {} : { missing }) };
}

/** Equalities at the top or inside `and`s at the top; anything else may hold without them. */
function findEqualities(value: unknown): readonly Equality[] {
  const { operator, operands = [] } = operationOf(value) ?? {};
  if (operator === 'and') return operands.flatMap(findEqualities);
  if ((operator !== '===' && operator !== '==') || operands.length !== 2) return [];
  const literal = operands.find((operand) => typeof operand === 'string');
  // What is equal may be a default.
  if (operands.some(hasDefault)) return [];
  const name = operands.map(nameOfVariable).find((found) => found !== undefined);
  if (literal === undefined || name === undefined) return [];
  return [{ keys: name === '' ? [] : name.split('.'), literal, strict: operator === '===' }];
}
