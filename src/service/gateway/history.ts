import { neutraliseReply } from '../../base/boundary/boundary.ts';
import type { SessionTurn } from '../../engine/storage/storage.ts';

export interface HistoryLimits {
  /** Stored texts, prompts and replies alike. */
  readonly maxTurns: number;
  readonly maxTokens: number;
}

/** Characters that make about one token of English; exact counts differ per model and are not needed to bound. */
const CHARS_PER_TOKEN = 4;

/**
 * The part of a conversation that goes along with a turn. The rule: whole exchanges (a prompt with its reply) are left
 * out, the oldest first, until at most `maxTurns` texts and about `maxTokens` tokens (characters / 4) are left. Replies
 * come back neutralised; prompts were when they were made.
 */
export function boundHistory(turns: readonly SessionTurn[], limits: HistoryLimits): readonly SessionTurn[] {
  let kept = turns.length;
  let count = 0;
  let tokens = 0;
  for (let index = turns.length - 1; index >= 0; index -= 1) {
    const turn = turns[index];
    if (turn === undefined) break;
    count += 1;
    tokens += Math.ceil(turn.text.length / CHARS_PER_TOKEN);
    if (count > limits.maxTurns || tokens > limits.maxTokens) break;
    if (turn.role === 'user') kept = index;
  }
  return turns
    .slice(kept)
    .map((turn) => (turn.role === 'user' ? turn : { ...turn, text: neutraliseReply(turn.text) }));
}
