import { ALL_MAPPINGS, type LimitedMapping, type RunnerHold } from '../records.ts';
import type { Store } from './store.ts';

const PAUSE =
  'INSERT INTO queue_pauses (mapping_id, since) VALUES (?, ?) ON CONFLICT (mapping_id) DO NOTHING';
const RESUME = 'DELETE FROM queue_pauses WHERE mapping_id = ?';
const RESUME_ALL = 'DELETE FROM queue_pauses';
const MARKED = 'SELECT since FROM limited_mappings WHERE mapping_id = ?';
const MARK = `INSERT INTO limited_mappings (mapping_id, since, last_at, reason, waiting, free_at)
  VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT (mapping_id) DO UPDATE SET last_at = excluded.last_at,
    reason = excluded.reason, waiting = excluded.waiting, free_at = excluded.free_at`;
const WELL = 'SELECT mapping_id AS "mappingId" FROM limited_mappings WHERE last_at < ?';
const UNMARK = 'DELETE FROM limited_mappings WHERE last_at < ?';

/** Begins no further run of the mapping, or of any; false where that is so already. */
export function pauseRuns({ sql }: Store, mappingId: string, nowMs: number): boolean {
  return sql.run(PAUSE, mappingId, Math.round(nowMs)) > 0;
}

/** Ends the pause of a mapping, or with `ALL_MAPPINGS` every pause there is. Returns how many ended. */
export function resumeRuns({ sql }: Store, mappingId: string): number {
  return mappingId === ALL_MAPPINGS ? sql.run(RESUME_ALL) : sql.run(RESUME, mappingId);
}

/** Notes that runs of a mapping wait for its limits. Returns since when, so that it is told once. */
export function markLimited({ sql }: Store, limited: LimitedMapping, nowMs: number): number {
  const { mappingId, reason, waiting, until = null } = limited;
  const now = Math.round(nowMs);
  sql.post(MARK, mappingId, now, now, reason, waiting, until);
  return sql.find<{ since: number }>(MARKED, mappingId)?.since ?? nowMs;
}

/** Takes away what was marked last before a time: these mappings are well again. */
export function unmarkLimited({ sql }: Store, beforeMs: number): readonly string[] {
  const well = sql.all<{ mappingId: string }>(WELL, Math.round(beforeMs));
  if (well.length > 0) sql.post(UNMARK, Math.round(beforeMs));
  return well.map(({ mappingId }) => mappingId);
}

const SAVE = `INSERT INTO runner_holds (runner, model, since, code, message, retry_at, tries) VALUES (?, ?, ?, ?, ?, ?, ?)
  ON CONFLICT (runner, model) DO UPDATE SET code = excluded.code, message = excluded.message,
    retry_at = excluded.retry_at, tries = excluded.tries`;
const REMOVE = 'DELETE FROM runner_holds WHERE runner = ? AND model = ?';

export function saveHold({ sql }: Store, hold: RunnerHold): void {
  const { runner, model = '', since, code, message, retryAt, tries } = hold;
  sql.post(SAVE, runner, model, Math.round(since), code, message, Math.round(retryAt), tries);
}

export function removeHold({ sql }: Store, runner: string, model?: string): boolean {
  return sql.run(REMOVE, runner, model ?? '') > 0;
}
