import type { RunCompletion } from '../records.ts';
import { both, by } from './dialects.ts';
import type { Store } from './store.ts';

/** Transcripts: the last turns of every conversation that goes on. */

const INSERT_TURN = `INSERT INTO session_turns (owner, session_key, role, at, bytes, text)
  VALUES (?, ?, ?, ?, ?, ?)`;
const TRIM = both`DELETE FROM session_turns ${by('session_turns_of_session')}
  WHERE owner = ?1 AND session_key = ?2 AND seq <= (SELECT seq FROM session_turns ${by('session_turns_of_session')}
    WHERE owner = ?1 AND session_key = ?2 ORDER BY seq DESC LIMIT 1 OFFSET ?3)`;
const SAVE = `INSERT INTO sessions (owner, key, turns, bytes, created_at, last_used_at)
  SELECT ?1, ?2, count(*), coalesce(sum(bytes), 0), ?3, ?3 FROM session_turns WHERE owner = ?1 AND session_key = ?2
  ON CONFLICT (owner, key) DO UPDATE SET turns = excluded.turns, bytes = excluded.bytes,
    last_used_at = excluded.last_used_at`;
/** Whether a transcript is there. */
export const FIND_SESSION = 'SELECT 1 FROM sessions WHERE owner = ? AND key = ?';
const REMOVE_TURNS = 'DELETE FROM session_turns WHERE owner = ? AND session_key = ?';
const REMOVE = 'DELETE FROM sessions WHERE owner = ? AND key = ?';

/** Without its row's number: what is counted, the caller counts. */
export const REMOVE_SESSION = [REMOVE_TURNS, REMOVE] as const;

export type NewTurns = NonNullable<RunCompletion['history']>;

/** Adds turns to a transcript; `isNew` where it is the first of its conversation. */
export function appendHistory(
  { sql, counters }: Store,
  { conversation, turns, maxTurns, isOnDisk = false }: NewTurns,
  { nowMs, isNew }: { readonly nowMs: number; readonly isNew: boolean },
): void {
  const { owner, key } = conversation;
  const rows = turns.map(
    ({ role, text, at }) => [owner, key, role, Math.round(at), Buffer.byteLength(text), text] as const,
  );
  sql.postRows(INSERT_TURN, rows);
  sql.post(TRIM, owner, key, Math.max(0, maxTurns));
  if (isNew) counters.sessions += 1;
  sql.post(SAVE, owner, key, Math.round(nowMs));
  if (isOnDisk) sql.keepHere?.(owner, key);
}
