/* The one walk over the comparisons of a condition that made its result: every rule on conditions reads it. */
import type { FindingSubject } from '../../../base/finding.ts';
import { isJsonObject } from '../../../base/json.ts';
import type { ConditionTrace, ConsideredMapping } from '../../../engine/mapping/mapping.ts';
import { namesRead, operationOf } from '../../../engine/mapping/facts.ts';

/** Parts of one condition that are looked at. */
const MAX_PARTS = 20;

/** The comparisons that a mapping failed by. */
export const failedParts = ({ failed, nodes = [] }: ConsideredMapping): readonly ConditionTrace[] =>
  failed?.part === 'when' ? decidingLeaves(nodes, failed.node).slice(0, MAX_PARTS) : [];

/** The leaves that made the result of a node of a condition; of the whole condition where none is named. */
export function decidingLeaves(
  nodes: readonly ConditionTrace[],
  of: ConditionTrace | undefined = nodes[0],
): readonly ConditionTrace[] {
  if (of === undefined || !isJsonObject(of.rule)) return [];
  if (of.leaf) return [of];
  const index = nodes.findIndex(({ at }) => at === of.at);
  const children = index === -1 ? [] : childrenOf(index, nodes).flatMap((at) => nodes[at] ?? []);
  return decidingOf(of, children).flatMap((child) => decidingLeaves(nodes, child));
}

/** An `or` that holds does so by the one part that holds, an `and` that does not by those that do not. */
function decidingOf(node: ConditionTrace, children: readonly ConditionTrace[]): readonly ConditionTrace[] {
  const holds = ({ result }: ConditionTrace): boolean => result === 'true';
  const operator = operationOf(node.rule)?.operator;
  if (operator === 'or' && holds(node)) return children.filter(holds).slice(0, 1);
  return operator === 'and' && !holds(node) ? children.filter((child) => !holds(child)) : children;
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

/** What a part of a condition reads. */
export function readBy({ rule }: Pick<ConditionTrace, 'rule'>): Pick<FindingSubject, 'paths'> {
  const paths = [...new Set(namesRead(rule))].filter((name) => name !== '');
  return paths.length === 0 ? {} : { paths };
}
