import type { Conversation, SessionTurn, StoredConversation } from '../records.ts';
import type { Question } from './statements.ts';

const HISTORY = 'SELECT role, text, at FROM session_turns WHERE owner = ? AND session_key = ? ORDER BY seq';
const KEY_ONLY_ID = 'SELECT key_only_id AS isKeyOnly FROM sessions WHERE owner = ? AND key = ?';

export function conversationQuestions({ owner, key }: Conversation): readonly Question[] {
  return [
    [KEY_ONLY_ID, owner, key],
    [HISTORY, owner, key],
  ];
}

/** What was asked is answered by. */
export function conversationOf(answers: readonly (readonly object[])[]): StoredConversation {
  const [sessions, turns] = answers as [{ readonly isKeyOnly: number }[], SessionTurn[]];
  return { turns, hasKeyOnlyId: sessions[0]?.isKeyOnly === 1 };
}
