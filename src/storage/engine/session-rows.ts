import type { Conversation, RunCompletion } from '../records.ts';
import type { Store } from './store.ts';

/** Transcripts: the last turns of every conversation that goes on. */

const INSERT_TURN = `INSERT INTO session_turns (owner, session_key, role, at, bytes, text)
  VALUES (?, ?, ?, ?, ?, ?)`;
const CUT = `SELECT seq FROM session_turns INDEXED BY session_turns_of_session WHERE owner = ? AND session_key = ?
  ORDER BY seq DESC LIMIT 1 OFFSET ?`;
const TRIM = `DELETE FROM session_turns INDEXED BY session_turns_of_session
  WHERE owner = ? AND session_key = ? AND seq <= ?`;
const SIZE = `SELECT count(*) AS turns, coalesce(sum(bytes), 0) AS bytes FROM session_turns
  WHERE owner = ? AND session_key = ?`;
const SAVE = `INSERT INTO sessions (owner, key, turns, bytes, created_at, last_used_at) VALUES (?, ?, ?, ?, ?, ?)
  ON CONFLICT (owner, key) DO UPDATE SET turns = excluded.turns, bytes = excluded.bytes,
    last_used_at = excluded.last_used_at`;
const FIND = 'SELECT 1 FROM sessions WHERE owner = ? AND key = ?';
const REMOVE_TURNS = 'DELETE FROM session_turns WHERE owner = ? AND session_key = ?';
const REMOVE = 'DELETE FROM sessions WHERE owner = ? AND key = ?';

export function appendHistory(
  { sql, counters }: Store,
  { conversation, turns, maxTurns }: NonNullable<RunCompletion['history']>,
  nowMs: number,
): void {
  const { owner, key } = conversation;
  for (const { role, text, at } of turns) {
    sql.run(INSERT_TURN, owner, key, role, Math.round(at), Buffer.byteLength(text), text);
  }
  const cut = sql.find<{ seq: number }>(CUT, owner, key, Math.max(0, maxTurns));
  if (cut !== undefined) sql.run(TRIM, owner, key, cut.seq);
  const size = sql.find<{ turns: number; bytes: number }>(SIZE, owner, key) ?? { turns: 0, bytes: 0 };
  const now = Math.round(nowMs);
  if (sql.find(FIND, owner, key) === undefined) counters.sessions += 1;
  sql.run(SAVE, owner, key, size.turns, size.bytes, now, now);
}

export function removeSession({ sql, counters }: Store, { owner, key }: Conversation): boolean {
  sql.run(REMOVE_TURNS, owner, key);
  const isRemoved = sql.run(REMOVE, owner, key) > 0;
  if (isRemoved) counters.sessions -= 1;
  return isRemoved;
}
