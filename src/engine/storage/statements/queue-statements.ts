import {
  ALL_MAPPINGS,
  type RunPosts,
  DROPPED,
  type LimitedMapping,
  type QueueSelection,
  type RetryRows,
  type RunnerHold,
} from '../records.ts';
import { both } from './statements.ts';
import { askForHeartbeat, countEvent, type EventHead, withdrawSummary } from './event-rows.ts';
import { type OutboxPosition, stepIn, stepUp } from './outbox-rows.ts';
import { conditionOf } from './row-queries.ts';
import { EVENT, OUTBOX, RUN } from './rows.ts';
import { countRun, earlierOf, endRuns, findRunHead } from './run-rows.ts';
import { makeDue } from './session-queue.ts';
import { beginUnasked, forgetWaiting } from './waiting-events.ts';
import { countMove, type Store } from './store.ts';

/** What an operator does to work that waits or was given up: start it again, or take it off the queue. */

const HURRY_RUN = 'UPDATE runs SET due_at = ? WHERE seq = ?';
const REVIVE_RUN = `UPDATE runs SET state = ${RUN.waiting}, due_at = ?, attempts = 0, outcome = NULL, ended_at = NULL,
  reply = NULL, usage = NULL, approval = NULL, exempt = 0, earlier = ? WHERE seq = ?`;
const FORGET_ATTEMPT = 'UPDATE runs SET worker_attempt = NULL WHERE seq = ?';
const EXEMPT_RUN = 'UPDATE runs SET exempt = 1 WHERE seq = ?';
const FIND_ENTRY = 'SELECT seq, state, recipient FROM outbox WHERE id = ?';
const HURRY_ENTRY = 'UPDATE outbox SET due_at = ? WHERE seq = ?';
const REVIVE_ENTRY = `UPDATE outbox SET state = ${OUTBOX.queued}, due_at = ?, attempts = 0, ended_at = NULL
  WHERE seq = ?`;
const DROP_ENTRY = `UPDATE outbox SET state = ${OUTBOX.skipped}, error_code = ?, error_message = ?, target = NULL,
  ended_at = ? WHERE seq = ?`;
const FIND_EVENT = 'SELECT seq, state, kind FROM events WHERE id = ?';
const REVIVE_EVENT = `UPDATE events SET state = ${EVENT.pending}, attempts = 0, ended_at = NULL WHERE seq = ?`;
const DROP_EVENT = `UPDATE events SET state = ${EVENT.consumed}, ended_at = ? WHERE seq = ?`;

const HELD_RUNNERS = 'SELECT DISTINCT runner FROM runner_holds WHERE retry_at > ?';
const HURRY_HOLDS = 'UPDATE runner_holds SET retry_at = ? WHERE runner = ? AND retry_at > ?';

export interface DroppedRows extends Omit<RetryRows, 'runs'> {
  readonly runs: readonly (readonly [runId: string, ending: RunPosts])[];
}

export { decideApproval } from './approvals.ts';

/** Returns how many rows it made due. */
export function retryRows(store: Store, { runs, outbox, events }: RetryRows, nowMs: number): number {
  return (
    count(runs, (id) => retryRun(store, id, nowMs)) +
    count(outbox, (id) => retryEntry(store, id, nowMs)) +
    count(events, (id) => retryEvent(store, id, nowMs))
  );
}

/**
 * Lets the agents be tried now that selected runs wait for. Returns how many runs stand ready for them: they wait
 * for nothing else. Runs without a runner of their own wait for the default one.
 */
export function hurryHolds(
  { sql }: Store,
  selection: QueueSelection,
  { nowMs, defaultRunner }: { readonly nowMs: number; readonly defaultRunner: string },
): number {
  const now = Math.round(nowMs);
  const found = conditionOf(selection, 'runs');
  if (found === undefined) return 0;
  const [condition, ...values] = found;
  const selected = both`SELECT count(*) AS runs, coalesce(sum(CASE WHEN state <= ${RUN.ready} THEN 1 ELSE 0 END), 0) AS ready
    FROM runs WHERE state <= ${RUN.waiting} AND runner IN (?, ?) AND ${condition}`;
  let total = 0;
  for (const { runner } of sql.all<{ runner: string }>(HELD_RUNNERS, now)) {
    const unnamed = runner === defaultRunner ? '' : runner;
    const waiting = sql.find<{ runs: number; ready: number }>(selected, runner, unnamed, ...values);
    if (waiting === undefined || waiting.runs === 0) continue;
    sql.post(HURRY_HOLDS, now, runner, now);
    total += waiting.ready;
  }
  return total;
}

/** Returns how many rows it dropped. */
export function dropRows(store: Store, { runs, outbox, events }: DroppedRows, nowMs: number): number {
  return (
    count(runs, ([id, ending]) => dropRun(store, id, { ending, nowMs })) +
    count(outbox, (id) => dropEntry(store, id, nowMs)) +
    count(events, (id) => dropEvent(store, id, nowMs))
  );
}

function count<Item>(items: readonly Item[], change: (item: Item) => boolean): number {
  let changed = 0;
  for (const item of items) if (change(item)) changed += 1;
  return changed;
}

function retryRun(store: Store, runId: string, nowMs: number): boolean {
  if (beginUnasked(store, runId, nowMs)) return true;
  const run = findRunHead(store, runId);
  if (run?.state === RUN.waiting) {
    store.sql.post(HURRY_RUN, Math.round(nowMs), run.seq);
  } else if (run !== undefined && run.state >= RUN.completed) {
    const earlier = earlierOf(store, run);
    if (earlier === undefined) return false;
    store.sql.post(REVIVE_RUN, Math.round(nowMs), earlier, run.seq);
    countRun(store, run, RUN.waiting);
    // The next end of the run posts a summary, so an unread one would be a second.
    withdrawSummary(store, runId);
  } else if (run !== undefined && run.state <= RUN.ready) {
    store.sql.post(EXEMPT_RUN, run.seq);
    return true;
  } else {
    return false;
  }
  makeDue(store, run);
  return true;
}

function dropRun(
  store: Store,
  runId: string,
  { ending, nowMs }: { readonly ending: RunPosts; readonly nowMs: number },
): boolean {
  const run = findRunHead(store, runId);
  if (run === undefined || run.state === RUN.active || run.state === RUN.completed) return false;
  if (run.state === RUN.dead) withdrawSummary(store, runId);
  // A late end of the worker that had it is not taken any more.
  if (run.workerAttempt !== null) store.sql.post(FORGET_ATTEMPT, run.seq);
  if (run.state === RUN.waiting) forgetWaiting(store, runId);
  endRuns(store, [[run, { ...ending, state: RUN.completed, outcome: 'error', error: DROPPED, nowMs }]]);
  return true;
}

type EntryHead = OutboxPosition & { readonly state: number };

function retryEntry(store: Store, id: string, nowMs: number): boolean {
  const { sql } = store;
  const entry = sql.find<EntryHead>(FIND_ENTRY, id);
  if (entry?.state === OUTBOX.queued) {
    sql.post(HURRY_ENTRY, Math.round(nowMs), entry.seq);
  } else if (entry?.state === OUTBOX.dead) {
    sql.post(REVIVE_ENTRY, Math.round(nowMs), entry.seq);
    stepIn(store, entry);
    countMove(store, 'outbox', { from: entry.state, to: OUTBOX.queued });
  } else {
    return false;
  }
  return true;
}

function dropEntry(store: Store, id: string, nowMs: number): boolean {
  const { sql } = store;
  const entry = sql.find<EntryHead>(FIND_ENTRY, id);
  if (entry?.state !== OUTBOX.queued && entry?.state !== OUTBOX.dead) return false;
  sql.post(DROP_ENTRY, DROPPED.code, DROPPED.message, Math.round(nowMs), entry.seq);
  stepUp(store, entry);
  countMove(store, 'outbox', { from: entry.state, to: OUTBOX.skipped });
  return true;
}

function retryEvent(store: Store, id: string, nowMs: number): boolean {
  const event = store.sql.find<EventHead>(FIND_EVENT, id);
  if (event?.state !== EVENT.dead) return false;
  store.sql.post(REVIVE_EVENT, event.seq);
  countEvent(store, event, EVENT.pending);
  askForHeartbeat(store, nowMs);
  return true;
}

function dropEvent(store: Store, id: string, nowMs: number): boolean {
  const event = store.sql.find<EventHead>(FIND_EVENT, id);
  if (event?.state !== EVENT.dead && event?.state !== EVENT.pending) return false;
  store.sql.post(DROP_EVENT, Math.round(nowMs), event.seq);
  countEvent(store, event, EVENT.consumed);
  return true;
}

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

/** Begins no further run of the mapping, of a runner (`pauseOfRunner`), or with `ALL_MAPPINGS` of any; false where they are paused already. */
export function pauseRuns({ sql }: Store, mappingId: string, nowMs: number): boolean {
  return sql.run(PAUSE, mappingId, Math.round(nowMs)) > 0;
}

/** Ends the pause of a mapping or a runner, or with `ALL_MAPPINGS` every pause there is. Returns how many ended. */
export function resumeRuns({ sql }: Store, mappingId: string): number {
  return mappingId === ALL_MAPPINGS ? sql.run(RESUME_ALL) : sql.run(RESUME, mappingId);
}

/** Notes that runs of a mapping wait for its limits; returns since when they do. */
export function markLimited({ sql }: Store, limited: LimitedMapping, nowMs: number): number {
  const { mappingId, reason, waiting, until = null } = limited;
  const now = Math.round(nowMs);
  sql.post(MARK, mappingId, now, now, reason, waiting, until);
  return sql.find<{ since: number }>(MARKED, mappingId)?.since ?? nowMs;
}

/** Removes marks that were last set before a time; returns the mappings that had them. */
export function unmarkLimited({ sql }: Store, beforeMs: number): readonly string[] {
  const well = sql.all<{ mappingId: string }>(WELL, Math.round(beforeMs));
  if (well.length > 0) sql.post(UNMARK, Math.round(beforeMs));
  return well.map(({ mappingId }) => mappingId);
}

const SAVE = `INSERT INTO runner_holds (runner, model, since, code, message, retry_at, tries) VALUES (?, ?, ?, ?, ?, ?, ?)
  ON CONFLICT (runner, model) DO UPDATE SET code = excluded.code, message = excluded.message,
    retry_at = excluded.retry_at, tries = excluded.tries`;
const REMOVE = 'DELETE FROM runner_holds WHERE runner = ? AND model = ?';

/** Writes a hold down; one of the same runner and model keeps its `since`. */
export function saveHold({ sql }: Store, hold: RunnerHold): void {
  const { runner, model = '', since, code, message, retryAt, tries } = hold;
  sql.post(SAVE, runner, model, Math.round(since), code, message, Math.round(retryAt), tries);
}

export function removeHold({ sql }: Store, runner: string, model?: string): boolean {
  return sql.run(REMOVE, runner, model ?? '') > 0;
}
