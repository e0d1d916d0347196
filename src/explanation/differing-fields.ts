/* Which fields of a request are others in the one nearest to it: who sees two of them looks for what sets them apart. */
import type { FieldList } from '../advice/requests.ts';
import type { HookRequest } from '../request.ts';
import { compareBodies } from './compared-requests.ts';

/** With marks, where less than half of what is listed differs: bodies of two kinds have little in common. */
export function withDiffering(list: FieldList, now: HookRequest, others: readonly HookRequest[]): FieldList {
  const apartMs = (other: HookRequest): number => Math.abs(other.receivedAt - now.receivedAt);
  const [near] = others.filter(({ path }) => path === now.path).toSorted((a, b) => apartMs(a) - apartMs(b));
  if (near === undefined) return list;
  const different = new Set(compareBodies(near.payload, now.payload).different);
  const differ = list.fields
    .map(({ path }) => path)
    .filter((path) => different.has(path.replace(/^payload\./, '')));
  return differ.length === 0 || differ.length * 2 > list.fields.length
    ? list
    : { ...list, beside: { requestId: near.id, differ } };
}
