import { defined, isJsonObject, valueAt, type JsonValue } from '../../../base/json.ts';
import type { ConditionTrace } from '../../../engine/mapping/mapping.ts';
import { namesRead, operationOf } from '../../../engine/mapping/facts.ts';

/** Leaves of one condition that are told of. */
const MAX_LEAVES = 5;

/** The leaf that failed, or those of the connective that did, as far as they were asked. */
export function leavesBelow(
  failed: ConditionTrace,
  nodes: readonly ConditionTrace[],
): readonly ConditionTrace[] {
  if (failed.leaf) return [failed];
  const from = nodes.findIndex(({ at }) => at === failed.at);
  const behind = nodes.slice(from + 1);
  const end = behind.findIndex(({ depth }) => depth <= failed.depth);
  return (end === -1 ? behind : behind.slice(0, end))
    .filter(({ leaf, rule }) => leaf && isJsonObject(rule))
    .slice(0, MAX_LEAVES);
}

/** The comparisons that made a condition hold, in the order they were asked in; of an `or` the part that held. */
export function leavesThatHold(nodes: readonly ConditionTrace[]): readonly ConditionTrace[] {
  return leavesThatHoldBelow(0, nodes);
}

function leavesThatHoldBelow(index: number, nodes: readonly ConditionTrace[]): readonly ConditionTrace[] {
  const node = nodes[index];
  if (node === undefined || !isJsonObject(node.rule)) return [];
  if (node.leaf) return [node];
  const children = childrenOf(index, nodes);
  const operator = operationOf(node.rule)?.operator;
  if (operator === 'or') {
    const first = children.find((child) => nodes[child]?.result === 'true');
    return first === undefined ? [] : leavesThatHoldBelow(first, nodes);
  }
  if (operator !== '!') return children.flatMap((child) => leavesThatHoldBelow(child, nodes));
  const [inner] = children.flatMap((child) => nodes[child] ?? []);
  if (inner?.leaf !== true) return leavesBelow(node, nodes);
  const { found, missing } = inner;
  return [
    {
      ...node,
      ...defined({ found, missing }),
    },
  ];
}

/** A leaf of a condition that had a part in its result. */
export interface DecidingLeaf {
  readonly node: ConditionTrace;
  /** Whether the negations above it turn its result round: their number is odd. */
  readonly negated: boolean;
}

/** The leaves that made the result of a node of a condition; of the whole condition where none is named. */
export function decidingLeaves(
  nodes: readonly ConditionTrace[],
  of: ConditionTrace | undefined = nodes[0],
): readonly DecidingLeaf[] {
  if (of?.leaf === true) return [{ node: of, negated: false }];
  const index = nodes.findIndex(({ at }) => at === of?.at);
  return index === -1 ? [] : decidingBelow(index, nodes, false);
}

function decidingBelow(
  index: number,
  nodes: readonly ConditionTrace[],
  negated: boolean,
): readonly DecidingLeaf[] {
  const node = nodes[index];
  if (node === undefined || !isJsonObject(node.rule)) return [];
  if (node.leaf) return [{ node, negated }];
  const isTurned = operationOf(node.rule)?.operator === '!' ? !negated : negated;
  return decidingOf(node, childrenOf(index, nodes), nodes).flatMap((child) =>
    decidingBelow(child, nodes, isTurned),
  );
}

/** An `or` that holds does so by the one part that holds, an `and` that does not by those that do not. */
function decidingOf(
  node: ConditionTrace,
  children: readonly number[],
  nodes: readonly ConditionTrace[],
): readonly number[] {
  const holds = (child: number): boolean => nodes[child]?.result === 'true';
  const operator = operationOf(node.rule)?.operator;
  if (operator === 'or' && node.result === 'true') return children.filter(holds).slice(0, 1);
  return operator === 'and' && node.result !== 'true' ? children.filter((child) => !holds(child)) : children;
}

/** Where the nodes right below one stand. */
function childrenOf(index: number, nodes: readonly ConditionTrace[]): readonly number[] {
  const depth = nodes[index]?.depth ?? 0;
  const children: number[] = [];
  for (let at = index + 1; at < nodes.length; at += 1) {
    const below = nodes[at]?.depth ?? 0;
    if (below <= depth) break;
    if (below === depth + 1) children.push(at);
  }
  return children;
}

/** What the rule of `some` or `none` read of the element that decided it. */
export function fieldsOfElement({
  rule,
  element,
}: ConditionTrace): readonly { readonly name: string; readonly found: JsonValue }[] {
  const inner = operationOf(rule)?.operands[1];
  if (element === undefined || inner === undefined) return [];
  return [...new Set(namesRead(inner))].slice(0, MAX_LEAVES).flatMap((name) => {
    const found = name === '' ? undefined : valueAt(element.value, name.split('.'));
    return found === undefined ? [] : [{ name, found }];
  });
}
