/** Walks the comparisons that made the result of a condition. Every rule on conditions reads this walk. */
import type { Finding, FindingSubject, Sentence } from '../../../base/finding.ts';
import { isJsonObject } from '../../../base/json.ts';
import type { ConditionTrace, ConsideredMapping } from '../../../engine/mapping/mapping.ts';
import { namesRead, operationOf } from '../../../engine/mapping/facts.ts';
import { type NoteCode, requestFinding } from './findings.ts';

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
  const children = index === -1 ? [] : childrenOf(index, nodes);
  return decidingOf(of, children).flatMap((child) => decidingLeaves(nodes, child));
}

/** An `or` holds because of the one part that holds. An `and` fails because of the parts that fail. */
function decidingOf(node: ConditionTrace, children: readonly ConditionTrace[]): readonly ConditionTrace[] {
  const holds = ({ result }: ConditionTrace): boolean => result === 'true';
  const operator = operationOf(node.rule)?.operator;
  if (operator === 'or' && holds(node)) return children.filter(holds).slice(0, 1);
  return operator === 'and' && !holds(node) ? children.filter((child) => !holds(child)) : children;
}

function childrenOf(index: number, nodes: readonly ConditionTrace[]): readonly ConditionTrace[] {
  const depth = nodes[index]?.depth ?? 0;
  const end = nodes.findIndex((node, at) => at > index && node.depth <= depth);
  return nodes.slice(index + 1, end === -1 ? undefined : end).filter((node) => node.depth === depth + 1);
}

/** Makes a finding about a comparison, with its place and the paths that it reads. */
export function ofNode(
  code: NoteCode,
  { at, rule }: ConditionTrace,
  message: Sentence,
  about: Pick<FindingSubject, 'mapping'> = {},
): Finding {
  const paths = [...new Set(namesRead(rule))].filter((name) => name !== '');
  return requestFinding(code, message, { at, ...about, ...(paths.length > 0 && { paths }) });
}
