/* The one walk over the comparisons of a condition that made its result: every rule on conditions reads it. */
import type { FindingSubject } from '../../../base/finding.ts';
import { isJsonObject } from '../../../base/json.ts';
import type { ConditionTrace, ConsideredMapping } from '../../../engine/mapping/mapping.ts';
import { namesRead, operationOf } from '../../../engine/mapping/facts.ts';

/** A leaf of a condition that had a part in its result. */
export interface DecidingLeaf {
  readonly node: ConditionTrace;
  /** Whether the negations above it turn its result round: their number is odd. */
  readonly negated: boolean;
}

/** A comparison that failed. */
export interface FailedPart extends DecidingLeaf {
  /** Not what failed first, but another part of the same `and`: it would fail next. */
  readonly isFurther: boolean;
}

/** Parts of one condition that are looked at. */
const MAX_PARTS = 20;

/** The comparisons that a mapping failed by: those of the part that failed, then the others. */
export function failedParts({ failed, nodes = [], parts = [] }: ConsideredMapping): readonly FailedPart[] {
  if (failed?.part !== 'when') return [];
  const own = decidingLeaves(nodes, failed.node);
  const further = failed.node.leaf
    ? [...decidingLeaves(nodes), ...parts.map((node) => ({ node, negated: false }))]
    : [];
  const seen = new Set(own.map(({ node }) => node.at));
  const others = further.filter(({ node }) => {
    const isNew = node.leaf && !seen.has(node.at);
    seen.add(node.at);
    return isNew;
  });
  return [
    ...own.map((leaf) => ({ ...leaf, isFurther: false })),
    ...others.map((leaf) => ({ ...leaf, isFurther: true })),
  ]
    .filter(({ node: { result }, negated }) => result !== (negated ? 'false' : 'true'))
    .slice(0, MAX_PARTS);
}

/** The leaves that made the result of a node of a condition; of the whole condition where none is named. */
export function decidingLeaves(
  nodes: readonly ConditionTrace[],
  of: ConditionTrace | undefined = nodes[0],
): readonly DecidingLeaf[] {
  if (of?.leaf === true) return isJsonObject(of.rule) ? [{ node: of, negated: false }] : [];
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

/** What a part of a condition reads. */
export function readBy({ rule }: Pick<ConditionTrace, 'rule'>): Pick<FindingSubject, 'paths'> {
  const paths = [...new Set(namesRead(rule))].filter((name) => name !== '');
  return paths.length === 0 ? {} : { paths };
}
