import type { ConversationOwner } from '../../base/action.ts';
import type { ConversationKey } from '../../base/conversation.ts';

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
  /** By which it is known (`conversation` of a mapping). */
  readonly keys: readonly ConversationKey[];
}

/** A key to be added to a conversation: `conversation` is its session key or another one that it has. */
export interface NewConversationKey {
  readonly owner: Conversation['owner'];
  readonly conversation: string;
  readonly key: string;
  /** As `ConversationKey` has it. */
  readonly addedBy: string;
  readonly runId: string;
  readonly nowMs: number;
  readonly until: number;
}

/** `taken`: another conversation has the key, and keeps it; `none`: there is no such conversation. */
export type KeyResult = 'added' | 'known' | 'taken' | 'none';

/** What the agent of a run adds keys with. */
export interface AgentAccess {
  /** The line that stands in what it opens. */
  readonly mark: string;
  /** Good for the conversation of the run, until its turn ends. */
  readonly token: string;
}

/**
 * `over`: the turn of the token has ended, or nobody here made it; `not_allowed`: keys of its agent begin otherwise;
 * `full`: it has added as many as one run may.
 */
export interface AgentKeyAnswer {
  readonly result: KeyResult | 'over' | 'not_allowed' | 'full';
  /** With what the keys begin that it may add; only where this one may not be. */
  readonly may?: readonly string[];
}

/** The error of a run whose conversation ended before it began, or while it was under way. */
export const SUPERSEDED = {
  code: 'superseded',
  message: 'its conversation has ended (conversation.end of a mapping)',
} as const;
/** The code of an event that began no conversation, and found none in its time. */
export const NO_CONVERSATION = 'no_conversation';

/** Whether a run that ended with an error has not failed: it was not to begin. */
export const isSkipped = (error: { readonly code: string } | null | undefined): boolean =>
  [SUPERSEDED.code, NO_CONVERSATION].some((code) => code === error?.code);
