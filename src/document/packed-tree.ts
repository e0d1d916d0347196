/** What a parser made of a text, as it goes from one thread to another: classes do not survive that, and become data. */
import { type Finding, Sentence } from '../finding.ts';
import { ExactNumber } from '../json.ts';
import type { ReadTree, TreeNode } from './tree.ts';

type Writable = { -readonly [Key in keyof TreeNode]: TreeNode[Key] };

/** The tree is changed, as nobody else has it. */
export function packed({ diagnostics, ...trees }: ReadTree): ReadTree {
  eachExact(trees, (exact) => ({ number: exact.toString() }) as never);
  const packSentence = (value: unknown): unknown =>
    value instanceof Sentence ? { sentence: Sentence.partsOf(value) } : undefined;
  return { ...trees, diagnostics: changed(diagnostics, packSentence) as readonly Finding[] };
}

export function unpacked({ diagnostics, ...trees }: ReadTree): ReadTree {
  eachExact(trees, (exact) => new ExactNumber((exact as never as { number: string }).number));
  const unpackSentence = (value: unknown): unknown =>
    typeof value === 'object' && value !== null && 'sentence' in value
      ? new Sentence(value.sentence as readonly string[])
      : undefined;
  return { ...trees, diagnostics: changed(diagnostics, unpackSentence) as readonly Finding[] };
}

/** The value with every part replaced for which `change` gives another. */
function changed(value: unknown, change: (part: unknown) => unknown): unknown {
  const other = change(value);
  if (other !== undefined || typeof value !== 'object' || value === null) return other ?? value;
  if (Array.isArray(value)) return value.map((part) => changed(part, change));
  return Object.fromEntries(Object.entries(value).map(([key, part]) => [key, changed(part, change)]));
}

/** Aliases make one node a part of several. */
function eachExact(
  { tree, partial }: Omit<ReadTree, 'diagnostics'>,
  change: (exact: ExactNumber) => ExactNumber,
): void {
  const seen = new Set<TreeNode>();
  const waiting = [tree, partial];
  while (waiting.length > 0) {
    const node = waiting.pop();
    if (node === undefined || seen.has(node)) continue;
    seen.add(node);
    if (node.exact !== undefined) (node as Writable).exact = change(node.exact);
    for (const item of node.items ?? []) waiting.push(item);
    for (const member of node.members?.values() ?? []) waiting.push(member.node);
  }
}
