import type { RunCompletion } from '../records.ts';
import { both, type Dialects } from './dialects.ts';
import type { Store } from './store.ts';

/** Transcripts: the last turns of every conversation that goes on. */

const INSERT_TURN = `INSERT INTO session_turns (owner, session_key, role, at, bytes, text)
  VALUES (?, ?, ?, ?, ?, ?)`;
/** The turns of a conversation that is given with a number. */
const GIVEN = 'unnest(?::text[], ?::text[], ?::bigint[]) AS given (owner, key, number)';
const THEIRS = 'turns.owner = given.owner AND turns.session_key = given.key';
const ITS = 'owner = ?1 AND session_key = ?2';
const TRIM: Dialects = {
  sqlite: `DELETE FROM session_turns INDEXED BY session_turns_of_session WHERE ${ITS} AND seq <= (
    SELECT seq FROM session_turns INDEXED BY session_turns_of_session WHERE ${ITS} ORDER BY seq DESC LIMIT 1 OFFSET ?3)`,
  postgres: `DELETE FROM session_turns WHERE seq = ANY (ARRAY(SELECT unnest(ARRAY(
    SELECT seq FROM session_turns AS turns WHERE ${THEIRS} ORDER BY seq DESC OFFSET number)) FROM ${GIVEN}))`,
};
const SAVE = both`INSERT INTO sessions (owner, key, turns, bytes, created_at, last_used_at) ${{
  sqlite: `SELECT ?1, ?2, count(*), coalesce(sum(bytes), 0), ?3, ?3 FROM session_turns WHERE ${ITS}`,
  postgres: `SELECT owner, key, many, size, number, number FROM ${GIVEN}, LATERAL (
    SELECT count(*) AS many, coalesce(sum(bytes), 0) AS size FROM session_turns AS turns WHERE ${THEIRS}) AS theirs`,
}} ON CONFLICT (owner, key) DO UPDATE SET turns = excluded.turns, bytes = excluded.bytes,
    last_used_at = excluded.last_used_at`;
/** Whether a transcript is there. */
export const FIND_SESSION = 'SELECT 1 FROM sessions WHERE owner = ? AND key = ?';
const REMOVE_TURNS = 'DELETE FROM session_turns WHERE owner = ? AND session_key = ?';
const REMOVE = 'DELETE FROM sessions WHERE owner = ? AND key = ?';

/** Without its row's number: what is counted, the caller counts. */
export const REMOVE_SESSION = [REMOVE_TURNS, REMOVE] as const;

export type NewTurns = NonNullable<RunCompletion['history']>;

interface Added extends NewTurns {
  readonly nowMs: number;
  /** It is the first of its conversation. */
  readonly isNew: boolean;
}

/** Adds turns to transcripts, each of another conversation: that meets nobody. `saveSessions` belongs to it. */
export function addTurns({ sql }: Store, added: readonly Added[]): void {
  const rows = added.flatMap(({ conversation: { owner, key }, turns }) =>
    turns.map(
      ({ role, text, at }) => [owner, key, role, Math.round(at), Buffer.byteLength(text), text] as const,
    ),
  );
  sql.postRows(INSERT_TURN, rows);
}

/** Forgets turns that are too many, and counts the rest. */
export function saveSessions({ sql, counters }: Store, added: readonly Added[]): void {
  const each = (numberOf: (one: Added) => number) =>
    added.map((one) => [one.conversation.owner, one.conversation.key, numberOf(one)] as const);
  const [kept, used] = [
    each(({ maxTurns }) => Math.max(0, maxTurns)),
    each(({ nowMs }) => Math.round(nowMs)),
  ];
  sql.postEach(TRIM, kept);
  sql.postEach(SAVE, used);
  for (const { conversation, isNew, isOnDisk = false } of added) {
    if (isNew) counters.sessions += 1;
    if (isOnDisk) sql.keepHere?.(conversation.owner, conversation.key);
  }
}
