import { createHash } from 'node:crypto';
import type { Conversation } from '../../engine/storage/storage.ts';

/**
 * A UUID (version 8, RFC 9562) that is always the same for a conversation, for agents that name sessions by UUID. Keys
 * without an owner, and conversations from before there were owners, have the id of the key alone.
 */
export function sessionIdOf(
  { owner, key }: Conversation,
  { fromKeyOnly }: { readonly fromKeyOnly: boolean },
): string {
  const name = fromKeyOnly || owner === 'shared' ? key : `${owner}\n${key}`;
  const hash = createHash('sha256').update(`sluice:session:${name}`).digest();
  hash[6] = ((hash[6] ?? 0) & 0x0f) | 0x80;
  hash[8] = ((hash[8] ?? 0) & 0x3f) | 0x80;
  const hex = hash.toString('hex', 0, 16);
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join('-');
}
