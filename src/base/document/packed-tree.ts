/** What a parser made of a text, as it goes from one thread to another: classes and calls do not survive that. */
import { Sentence } from '../finding.ts';
import { ExactNumber } from '../json.ts';
import type { ReadTree, TreeNode } from './tree.ts';

type WritableNode = { -readonly [Key in keyof TreeNode]: TreeNode[Key] };
/** A class or a call as data, or back; undefined for what stays. `inner` goes on with the parts. */
type NodeChange = (value: object, inner: (part: unknown) => unknown) => unknown;

/** The tree is changed, as nobody else has it. */
export function packed({ findings, ...trees }: ReadTree): ReadTree {
  eachExact(trees, (exact) => ({ number: exact.toString() }) as never);
  return { ...trees, findings: changed(findings, pack) };
}

export function unpacked({ findings, ...trees }: ReadTree): ReadTree {
  eachExact(trees, (exact) => new ExactNumber((exact as never as { number: string }).number));
  return { ...trees, findings: changed(findings, unpack) };
}

const pack: NodeChange = (value) => {
  if (value instanceof Sentence) return { sentence: Sentence.partsOf(value) };
  // A list that is asked for, such as all places where the parser stumbled.
  return typeof value === 'function' ? { called: (value as () => unknown)() } : undefined;
};

const unpack: NodeChange = (value, inner) => {
  if ('sentence' in value) return new Sentence(value.sentence as readonly string[]);
  return 'called' in value ? () => inner(value.called) : undefined;
};

/** A copy with every part changed; parts may hold each other. */
function changed<Value>(whole: Value, change: NodeChange): Value {
  const copies = new Map<unknown, unknown>();
  const inner = (value: unknown): unknown => {
    if (value === null || (typeof value !== 'object' && typeof value !== 'function')) return value;
    if (copies.has(value)) return copies.get(value);
    const other = change(value, inner) ?? value;
    const isFinal = typeof other === 'function' || other instanceof Sentence;
    const copy: unknown = isFinal ? other : Array.isArray(other) ? [] : {};
    copies.set(value, copy);
    if (!isFinal)
      for (const [key, part] of Object.entries(other)) Object.assign(copy as object, { [key]: inner(part) });
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
