import type { ConversationOwner } from '../../base/action.ts';

/** What names a conversation: its owner and its key. */
export interface Conversation {
  /** `unknown`: a stored session of an older version whose runs were already removed. Nobody can join it. */
  readonly owner: ConversationOwner | 'unknown';
  readonly key: string;
}

/** A conversation as a turn goes on with it. */
export interface StoredConversation {
  /** Oldest first; empty for a new one. */
  readonly turns: readonly SessionTurn[];
  /** True where it began before conversations had owners: its session id is still made from the key alone. */
  readonly hasKeyOnlyId: boolean;
}

export interface SessionTurn {
  readonly role: 'user' | 'assistant';
  readonly text: string;
  readonly at: number;
}

export interface SessionRecord extends Conversation {
  readonly turns: number;
  readonly bytes: number;
  readonly createdAt: number;
  readonly lastUsedAt: number;
}
