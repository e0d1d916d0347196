import { isJsonObject } from '../json.ts';
import type { ConditionTrace } from '../mapping/mapping.ts';

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
