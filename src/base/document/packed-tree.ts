/** What a parser made of a text, as it goes from one thread to another: classes do not survive that. */
import { Sentence } from '../finding.ts';
import { ExactNumber } from '../json.ts';
import type { ReadTree, TreeNode } from './tree.ts';

type WritableNode = { -readonly [Key in keyof TreeNode]: TreeNode[Key] };
/** The tree is changed, as nobody else has it. */
export function packed({ findings, ...trees }: ReadTree): ReadTree {
  eachExact(trees, (exact) => ({ number: exact.toString() }) as never);
  return { ...trees, findings: changed(findings, pack) };
}

export function unpacked({ findings, ...trees }: ReadTree): ReadTree {
  eachExact(trees, (exact) => new ExactNumber((exact as never as { number: string }).number));
  return { ...trees, findings: changed(findings, unpack) };
}

const pack = (value: object): unknown =>
  value instanceof Sentence ? { sentence: Sentence.partsOf(value) } : undefined;

const unpack = (value: object): unknown =>
  'sentence' in value ? new Sentence(value.sentence as readonly string[]) : undefined;

/** A copy with every part changed; several findings share their source. */
function changed<Value>(whole: Value, change: (value: object) => unknown): Value {
  const copies = new Map<unknown, unknown>();
  const inner = (value: unknown): unknown => {
    if (value === null || typeof value !== 'object') return value;
    const known = copies.get(value) ?? change(value);
    if (known !== undefined) return known;
    const parts = Object.entries(value).map(([key, part]) => [key, inner(part)] as const);
    const copy = Array.isArray(value) ? parts.map(([, part]) => part) : Object.fromEntries(parts);
    copies.set(value, copy);
    return copy;
  };
  return inner(whole) as Value;
}

/** Aliases make one node a part of several. */
function eachExact(
  { tree, partial }: Omit<ReadTree, 'findings'>,
  change: (exact: ExactNumber) => ExactNumber,
): void {
  const seen = new Set<TreeNode>();
  const waiting = [tree, partial];
  while (waiting.length > 0) {
    const node = waiting.pop();
    if (node === undefined || seen.has(node)) continue;
    seen.add(node);
    if (node.exact !== undefined) (node as WritableNode).exact = change(node.exact);
    for (const item of node.items ?? []) waiting.push(item);
    for (const member of node.members?.values() ?? []) waiting.push(member.node);
  }
}
