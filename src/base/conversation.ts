/** To which conversation an event comes, and by which keys conversations are known. */

/** What a mapping says of the conversations of its events. */
export interface ConversationWish {
  /** Set where an event begins none: it comes to one that there is, or waits for it. */
  readonly start?: false;
  /** An event ends its conversation: after its own run, or at once and without one. */
  readonly end?: 'after' | 'now';
  /** Set where the prompt asks the agent to put its mark into what it opens. */
  readonly mark?: true;
  /** How long it is known by a key that no event names any more. */
  readonly keySeconds: number;
  /** How long an event that begins none waits for one. */
  readonly waitSeconds: number;
}

/** From a mapping's `conversation`; rendered for one event. */
export interface EventConversation extends ConversationWish {
  /** By which it is known, beside its session key. */
  readonly keys?: readonly string[];
  /** With what the keys begin that its agent may add. */
  readonly agentKeys?: readonly string[];
  /** The marks in what the event tells of, where who wrote it caused the event and may start it; not yet proved. */
  readonly marks?: readonly FoundMark[];
  /** Set where the account that caused the event is not listened to: all that counts is its mark. */
  readonly isOwn?: true;
  /** What the store found; absent before. */
  readonly found?: FoundConversation;
}

/** A mark as it stands in a text, before anybody has proved it. */
export interface FoundMark {
  readonly runId: string;
  readonly mac: string;
}

/** To which conversation an event came. */
export interface FoundConversation {
  /** Absent where the event began it. */
  readonly by?: ConversationKey;
  /** Keys of the event that other conversations have: these keep them. */
  readonly taken?: readonly string[];
  /** Keys that gave way, as a conversation has only so many. */
  readonly forgotten?: readonly string[];
  /** Why no mark of the event counts. */
  readonly markNot?: string;
}

export interface ConversationKey {
  readonly key: string;
  /** `mapping ID`, `agent in run ID`, or `operator`. */
  readonly addedBy: string;
  /** Milliseconds since the epoch. */
  readonly until: number;
}

/** The keys that an event is looked for by, in their order. */
export const conversationKeysOf = ({
  sessionKey,
  conversation,
}: {
  readonly sessionKey: string;
  readonly conversation?: EventConversation | undefined;
}): readonly string[] => [...new Set([sessionKey, ...(conversation?.keys ?? [])])];
