import { newestVersion } from '../../statements/migrations.ts';
import { IS_CLAIMED_WHEN_DUE, RUN, RUN_FIELDS } from '../../statements/rows.ts';
import { firstOf } from '../../statements/session-queue.ts';

export const sinceMs = (time: string): string =>
  `floor(extract(epoch FROM clock_timestamp() - ${time}) * 1000)`;

/**
 * Puts due runs into their queues, all at once. Of each queue the first in order of arrival is ready, where none is active:
 * one that has come back before it, or the one that was ready and came first. All others stand behind.
 */
export const PLACE = `WITH due AS (
  SELECT seq, line FROM runs WHERE state = ${RUN.waiting} AND due_at <= ?1 AND ${IS_CLAIMED_WHEN_DUE}
  ORDER BY due_at, seq LIMIT ?2
), heads AS (
  SELECT line, first, ${firstOf('lines.line', RUN.active)} IS NOT NULL AS busy,
    ${firstOf('lines.line', RUN.ready)} AS ready
  FROM (SELECT line, min(seq) AS first FROM due WHERE line IS NOT NULL GROUP BY line) AS lines
), placed AS (
  SELECT seq, CASE WHEN line IS NULL OR (NOT busy AND seq = first AND (ready IS NULL OR first < ready))
    THEN ${RUN.ready} ELSE ${RUN.blocked} END AS state FROM due LEFT JOIN heads USING (line)
  UNION ALL SELECT ready, ${RUN.blocked} FROM heads WHERE NOT busy AND first < ready
) UPDATE runs SET state = placed.state, due_at = CASE WHEN due_at = 0 THEN accepted_at ELSE due_at END
  FROM placed WHERE runs.seq = placed.seq`;
const BEFORE = `SELECT * FROM runs WHERE state = ${RUN.active} AND holder = ?2 AND claim = ?4`;
/**
 * Claims the first ready runs, with the counting of it. The clock goes on while the lock is waited for. Where a mapping is
 * paused, it claims nothing. Asked again under the id of a claim whose answer was lost, it says what that one has claimed.
 */
export const claimStatement = (notElsewhere: string): string => `WITH ready AS (
  SELECT seq FROM runs WHERE state = ${RUN.ready} AND NOT EXISTS (SELECT 1 FROM queue_pauses)
    AND NOT EXISTS (${BEFORE}) ${notElsewhere} ORDER BY seq LIMIT ?1
), claimed AS (
  UPDATE runs SET state = ${RUN.active}, attempts = attempts + 1, holder = ?2, claim = ?4, gather_key = NULL, pgid = NULL,
    start_ticks = NULL, worker = NULL, worker_attempt = NULL, worker_until = NULL, worker_end = NULL,
    started_at = ?3 + ${sinceMs('transaction_timestamp()')}::bigint
  FROM ready WHERE runs.seq = ready.seq RETURNING runs.*
), counted AS (
  UPDATE counters SET queued_runs = queued_runs - many, active_runs = active_runs + many
  FROM (SELECT count(*)::integer AS many FROM claimed) AS claims WHERE many > 0
) SELECT ${RUN_FIELDS}, session_key AS "sessionKey", line AS queue, mapping_id AS "mappingId", bytes, holder,
  EXISTS (SELECT 1 FROM sessions WHERE sessions.owner = runs.owner AND key = session_key) AS "hasSession"
FROM (SELECT * FROM claimed UNION ALL ${BEFORE}) AS runs JOIN run_actions ON run_actions.seq = runs.seq ORDER BY runs.seq`;

/** A place is the id of a folder, so several services may have the same one. */
export const notElsewhere = (place: string): string => `AND NOT EXISTS (
  SELECT 1 FROM kept_conversations AS kept JOIN replicas USING (place) WHERE replicas.role <> 'front'
    AND kept.owner = runs.owner AND kept.key = runs.session_key AND place <> '${place}')`;
export const KEEP = `INSERT INTO kept_conversations (owner, key, place) VALUES (?, ?, ?)
  ON CONFLICT (owner, key) DO UPDATE SET place = excluded.place WHERE kept_conversations.place <> excluded.place`;

export const PAUSED = 'SELECT 1 FROM queue_pauses LIMIT 1';

/** Fails, and the transaction with it, where the schema is not the known one, or the store is not as it was presumed. */
const failing = (condition: string): string =>
  `SELECT 1 / (CASE WHEN (SELECT version FROM sluice_schema) <= ${newestVersion('postgres')} AND ${condition}
    THEN 1 ELSE 0 END)`;
export const GUARD = failing('true');
export const BELIEVED = failing(`?2 = (
    SELECT count(*) FROM json_to_recordset(?1::json) AS head (id text, queue text) JOIN runs USING (id)
    WHERE state = ${RUN.active} AND holder = ?3 AND line IS NOT DISTINCT FROM queue
  ) AND NOT EXISTS (
    SELECT 1 FROM json_to_recordset(?4::json) AS known (owner text, key text, "isThere" boolean)
    LEFT JOIN sessions USING (owner, key) WHERE "isThere" <> (turns IS NOT NULL)
  )`);
