import type { Finding, Place, SourceText } from '../finding.ts';
import type { LocatedValue, Path } from './located.ts';
import type { ExactNumber } from '../json.ts';
import { scalarOffsets, type ScalarText } from './scalar-offsets.ts';

/** One part of a parsed document with its range in the file, whatever the format. */
export interface TreeNode {
  readonly start: number;
  readonly end: number;
  readonly value: unknown;
  /** Set for a number that a double cannot hold; `value` is then the nearest double. */
  readonly exact?: ExactNumber;
  readonly members?: ReadonlyMap<string, Member>;
  readonly items?: readonly TreeNode[];
  /** Where a text's characters stand. */
  readonly text?: ScalarText;
}

export interface Member {
  readonly start: number;
  readonly end: number;
  readonly node: TreeNode;
}

export interface ReadTree {
  readonly tree?: TreeNode;
  /** What could be read of a broken text: good enough to know where its secrets stand. */
  readonly partial?: TreeNode;
  readonly findings: readonly Finding[];
}

/** The offsets of the text asked for last: a template asks for many places of one text in a row. */
interface OffsetCache {
  node?: TreeNode;
  offsets?: Int32Array;
}

export function locate(
  source: SourceText,
  node: TreeNode,
  path: Path = [],
  cache: OffsetCache = {},
): LocatedValue {
  return {
    value: node.value,
    path,
    place(inner, what = 'value') {
      const found = walk(node, inner);
      const range = what === 'key' ? (found.key ?? found.node) : found.node;
      return { source, start: range.start, end: range.end };
    },
    at(inner) {
      const found = walk(node, inner);
      const whole = [...path, ...inner];
      if (found.complete) return locate(source, found.node, whole, cache);
      return locate(source, { start: found.node.start, end: found.node.end, value: undefined }, whole);
    },
    exact(inner) {
      const found = walk(node, inner);
      return found.complete ? exactValue(found.node) : undefined;
    },
    scalarOffset(inner, offsetInValue) {
      const found = walk(node, inner);
      const { text, start, value } = found.node;
      if (!found.complete || text === undefined || typeof value !== 'string') return start;
      if (cache.node !== found.node) {
        cache.node = found.node;
        cache.offsets = scalarOffsets(source.text, value, text);
      }
      return cache.offsets?.[Math.max(0, Math.min(offsetInValue, value.length))] ?? start;
    },
  };
}

/** The value with exact numbers; the node's own value where it holds none. */
function exactValue(node: TreeNode): unknown {
  if (node.exact !== undefined) return node.exact;
  if (node.items !== undefined) {
    const items = node.items.map(exactValue);
    return items.some((item, index) => item !== node.items?.[index]?.value) ? items : node.value;
  }
  if (node.members === undefined) return node.value;
  const entries = [...node.members].map(([key, member]) => [key, exactValue(member.node)] as const);
  const differs = entries.some(([key, value]) => value !== node.members?.get(key)?.node.value);
  return differs ? Object.fromEntries(entries) : node.value;
}

/** Where a key is written; undefined where it is not, as one that has its default. */
export function placeIfWritten(root: LocatedValue, path: Path): Place | undefined {
  return root.at(path).value === undefined ? undefined : root.place(path);
}

/** The place of a part of the text at `path`, from offsets in its value. */
export function placeWithin(root: LocatedValue, path: Path, start: number, end: number): Place {
  const { source } = root.place(path);
  const from = root.scalarOffset(path, start);
  return { source, start: from, end: Math.max(from, root.scalarOffset(path, end)) };
}

interface NodeMatch {
  readonly node: TreeNode;
  readonly key: { readonly start: number; readonly end: number } | undefined;
  readonly complete: boolean;
}

function walk(root: TreeNode, path: Path): NodeMatch {
  let node = root;
  let key: NodeMatch['key'];
  for (const step of path) {
    const member = node.members?.get(String(step));
    const next = member?.node ?? (typeof step === 'number' ? node.items?.[step] : undefined);
    if (next === undefined) return { node, key, complete: false };
    key = member;
    node = next;
  }
  return { node, key, complete: true };
}
