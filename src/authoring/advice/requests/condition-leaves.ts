/** Walks the comparisons that made the result of a condition. Every rule on conditions reads this walk. */
import type { FindingSubject } from '../../../base/finding.ts';
import { isJsonObject } from '../../../base/json.ts';
import type { ConditionTrace, ConsideredMapping } from '../../../engine/mapping/mapping.ts';
import { namesRead, operationOf } from '../../../engine/mapping/facts.ts';

const MAX_PARTS = 20;

export const failedParts = ({ failed, nodes = [] }: ConsideredMapping): readonly ConditionTrace[] =>
  failed?.part === 'when' ? decidingLeaves(nodes, failed.node).slice(0, MAX_PARTS) : [];

/** Returns the leaves that made the result of a node, or of the whole condition where no node is named. */
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

/** An `or` holds because of the one part that holds. An `and` fails because of the parts that fail. */
function decidingOf(node: ConditionTrace, children: readonly ConditionTrace[]): readonly ConditionTrace[] {
  const holds = ({ result }: ConditionTrace): boolean => result === 'true';
  const operator = operationOf(node.rule)?.operator;
  if (operator === 'or' && holds(node)) return children.filter(holds).slice(0, 1);
  return operator === 'and' && !holds(node) ? children.filter((child) => !holds(child)) : children;
}

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

export function readBy({ rule }: Pick<ConditionTrace, 'rule'>): Pick<FindingSubject, 'paths'> {
  const paths = [...new Set(namesRead(rule))].filter((name) => name !== '');
  return paths.length === 0 ? {} : { paths };
}
