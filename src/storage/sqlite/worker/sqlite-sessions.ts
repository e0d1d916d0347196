import type { DatabaseSync } from 'node:sqlite';
import type { RunCompletion } from '../../records.ts';
import type { Counters } from './sqlite-counters.ts';

export interface SessionTable {
  append(history: NonNullable<RunCompletion['history']>, nowMs: number): void;
  clear(sessionKey: string): boolean;
}

/** Transcripts: the last turns of every session that goes on. */
export function openSessions(database: DatabaseSync, counters: Counters): SessionTable {
  const sql = {
    insertTurn: database.prepare(
      'INSERT INTO session_turns (session_key, role, at, bytes, text) VALUES (?, ?, ?, ?, ?)',
    ),
    cut: database.prepare(
      `SELECT seq FROM session_turns INDEXED BY session_turns_of_key WHERE session_key = ?
       ORDER BY seq DESC LIMIT 1 OFFSET ?`,
    ),
    trim: database.prepare(
      'DELETE FROM session_turns INDEXED BY session_turns_of_key WHERE session_key = ? AND seq <= ?',
    ),
    size: database.prepare(
      `SELECT count(*) AS turns, coalesce(sum(bytes), 0) AS bytes FROM session_turns WHERE session_key = ?`,
    ),
    save: database.prepare(
      `INSERT INTO sessions (key, turns, bytes, created_at, last_used_at) VALUES (?, ?, ?, ?, ?)
       ON CONFLICT (key) DO UPDATE SET turns = excluded.turns, bytes = excluded.bytes,
         last_used_at = excluded.last_used_at`,
    ),
    find: database.prepare('SELECT 1 FROM sessions WHERE key = ?'),
    removeTurns: database.prepare('DELETE FROM session_turns WHERE session_key = ?'),
    remove: database.prepare('DELETE FROM sessions WHERE key = ?'),
  };
  return {
    append({ sessionKey, turns, maxTurns }, nowMs) {
      for (const { role, text, at } of turns) {
        sql.insertTurn.run(sessionKey, role, Math.round(at), Buffer.byteLength(text), text);
      }
      const cut = sql.cut.get(sessionKey, Math.max(0, maxTurns)) as { readonly seq: number } | undefined;
      if (cut !== undefined) sql.trim.run(sessionKey, cut.seq);
      const size = sql.size.get(sessionKey) as { readonly turns: number; readonly bytes: number };
      const now = Math.round(nowMs);
      if (sql.find.get(sessionKey) === undefined) counters.sessions += 1;
      sql.save.run(sessionKey, size.turns, size.bytes, now, now);
    },
    clear(sessionKey) {
      sql.removeTurns.run(sessionKey);
      const isRemoved = sql.remove.run(sessionKey).changes > 0;
      if (isRemoved) counters.sessions -= 1;
      return isRemoved;
    },
  };
}
