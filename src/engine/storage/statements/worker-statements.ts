import type { WorkerRecord } from '../records.ts';
import { LAPSED } from './plain-reads.ts';
import { RUN, RUN_COLUMNS, type RunRow } from './rows.ts';
import { countRun, findRunHead } from './run-rows.ts';
import { both, listed } from './statements.ts';
import type { Store } from './store.ts';
import { withEvents } from './gathering.ts';

/** Runs that workers carry. Nobody else touches one until its lease is over. */

const RENEW = both`UPDATE runs SET state = ${RUN.active}, worker_until = ?1,
  started_at = CASE WHEN worker_until > ?2 THEN started_at ELSE ?2 END WHERE seq = ?3`;
const FIND_END = 'SELECT worker_end AS "end" FROM runs WHERE seq = ?';
const FIND_LAPSED = both`SELECT ${RUN_COLUMNS} WHERE ${LAPSED} ORDER BY runs.seq`;
const TAKE_LAPSED = both`UPDATE runs SET worker_until = NULL, holder = ?2 WHERE ${LAPSED}`;
const ASK_TO_END = both`UPDATE runs SET worker_end = ?1 WHERE state = ${RUN.active} AND worker_until > 0
  AND worker_end IS NULL AND id IN ${listed('?2')}`;
const NOTE_WORKER = `INSERT INTO workers (runner, name, seen_at) VALUES (?, ?, ?)
  ON CONFLICT (runner, name) DO UPDATE SET seen_at = excluded.seen_at`;
const FORGET_WORKERS = `DELETE FROM workers WHERE runner = ?1 AND seen_at < (
  SELECT seen_at FROM workers WHERE runner = ?1 ORDER BY seen_at DESC LIMIT 1 OFFSET 99)`;

/**
 * Extends the lease of an attempt; undefined where its end is not taken any more. One whose lease was over is carried again
 * where its run waits and stands first in its conversation: the time in which its worker slept does not count. Who has
 * taken it over decides first. One that is to end is not extended, and `end` says why it is to.
 */
export function renewRun(
  store: Store,
  runId: string,
  { attempt, until, nowMs }: { readonly attempt: string; readonly until: number; readonly nowMs: number },
): { readonly end?: string } | undefined {
  const run = findRunHead(store, runId);
  if (run?.workerAttempt !== attempt || run.workerUntil === 0 || run.state === RUN.completed)
    return undefined;
  if (run.state !== RUN.ready && (run.state !== RUN.active || run.workerUntil === null)) return {};
  const end = store.sql.find<{ end: string | null }>(FIND_END, run.seq)?.end ?? undefined;
  if (end !== undefined) return { end };
  store.sql.post(RENEW, Math.round(until), Math.round(nowMs), run.seq);
  if (run.state === RUN.ready) countRun(store, run, RUN.active);
  return {};
}

/** Takes over the runs whose lease was over at a time; each is returned as its worker had it. */
export function takeLapsedRuns({ sql, holder }: Store, nowMs: number): RunRow[] {
  const runs = sql.all<RunRow>(FIND_LAPSED, Math.round(nowMs));
  if (runs.length > 0) sql.post(TAKE_LAPSED, Math.round(nowMs), holder);
  return withEvents(sql, runs);
}

/** Asks the workers that carry these runs to end them; returns how many these are. */
export function endCarriedRuns({ sql }: Store, runIds: readonly string[], why: string): number {
  return sql.run(ASK_TO_END, why, JSON.stringify(runIds));
}

/** Notes that a worker was heard of: the last hundred of a runner are kept. */
export function noteWorker({ sql }: Store, { runner, name, seenAt }: WorkerRecord): void {
  sql.post(NOTE_WORKER, runner, name, Math.round(seenAt));
  sql.post(FORGET_WORKERS, runner);
}
