import type { RunCompletion } from '../../records.ts';
import type { Store } from './store.ts';

/** Transcripts: the last turns of every session that goes on. */

const INSERT_TURN = 'INSERT INTO session_turns (session_key, role, at, bytes, text) VALUES (?, ?, ?, ?, ?)';
const CUT = `SELECT seq FROM session_turns INDEXED BY session_turns_of_key WHERE session_key = ?
  ORDER BY seq DESC LIMIT 1 OFFSET ?`;
const TRIM = 'DELETE FROM session_turns INDEXED BY session_turns_of_key WHERE session_key = ? AND seq <= ?';
const SIZE = `SELECT count(*) AS turns, coalesce(sum(bytes), 0) AS bytes FROM session_turns WHERE session_key = ?`;
const SAVE = `INSERT INTO sessions (key, turns, bytes, created_at, last_used_at) VALUES (?, ?, ?, ?, ?)
  ON CONFLICT (key) DO UPDATE SET turns = excluded.turns, bytes = excluded.bytes,
    last_used_at = excluded.last_used_at`;
const FIND = 'SELECT 1 FROM sessions WHERE key = ?';
const REMOVE_TURNS = 'DELETE FROM session_turns WHERE session_key = ?';
const REMOVE = 'DELETE FROM sessions WHERE key = ?';

export function appendHistory(
  { sql, counters }: Store,
  { sessionKey, turns, maxTurns }: NonNullable<RunCompletion['history']>,
  nowMs: number,
): void {
  for (const { role, text, at } of turns) {
    sql.run(INSERT_TURN, sessionKey, role, Math.round(at), Buffer.byteLength(text), text);
  }
  const cut = sql.find<{ seq: number }>(CUT, sessionKey, Math.max(0, maxTurns));
  if (cut !== undefined) sql.run(TRIM, sessionKey, cut.seq);
  const size = sql.find<{ turns: number; bytes: number }>(SIZE, sessionKey) ?? { turns: 0, bytes: 0 };
  const now = Math.round(nowMs);
  if (sql.find(FIND, sessionKey) === undefined) counters.sessions += 1;
  sql.run(SAVE, sessionKey, size.turns, size.bytes, now, now);
}

export function removeSession({ sql, counters }: Store, sessionKey: string): boolean {
  sql.run(REMOVE_TURNS, sessionKey);
  const isRemoved = sql.run(REMOVE, sessionKey) > 0;
  if (isRemoved) counters.sessions -= 1;
  return isRemoved;
}
