import type {
  AttemptFailure,
  ClaimRunsOptions,
  Conversation,
  OwnWork,
  LapsedReplica,
  ProcessMark,
  RunCompletion,
  RunDeadLetter,
  Succession,
} from '../records.ts';
import { findApproval } from './approvals.ts';
import { type Claimable, findClaimable } from './claimable-runs.ts';
import { both, listed } from './statements.ts';
import { forgetAdded } from './conversation-rows.ts';
import { askForHeartbeat } from './event-rows.ts';
import { withEvents } from './gathering.ts';
import { addCost, forgetStart, HourlyCapacity, noteStarts } from './hourly-capacity.ts';
import { left, leftEvents, leftRuns, MAIN } from './plain-reads.ts';
import { OUTBOX, RUN, RUN_COLUMNS, type RunHead, type RunRow } from './rows.ts';
import {
  completeRuns,
  countRun,
  endAttempt,
  endRuns,
  findRunHead,
  isHeld,
  keepEnding,
  REMOVE_SESSION,
} from './run-rows.ts';
import { advance, makeDue } from './session-queue.ts';
import type { Store } from './store.ts';

const ACTIVATE = both`UPDATE runs SET state = ${RUN.active}, attempts = attempts + 1, holder = ?, started_at = ?,
  worker = ?, worker_attempt = ?, worker_until = ?, worker_end = NULL, worker_access = ?, gather_key = NULL, pgid = NULL, start_ticks = NULL WHERE seq IN ${listed('?', 'bigint')}`;
const RECORDS = both`SELECT ${RUN_COLUMNS} WHERE runs.seq IN ${listed('?', 'bigint')} ORDER BY runs.seq`;
const CARRIED = `SELECT ${RUN_COLUMNS} WHERE state = ${RUN.active} AND worker_attempt = ? AND worker_until > 0
  AND coalesce(nullif(runner, ''), ?) = ?`;
const PROCESS = `UPDATE runs SET pgid = ?, start_ticks = ? WHERE id = ? AND state = ${RUN.active} AND holder = ?`;
const REQUEUE = `UPDATE runs SET state = ${RUN.waiting}, attempts = attempts - ?, due_at = ?, error_code = ?, error_message = ?, pgid = NULL,
  start_ticks = NULL WHERE seq = ?`;

export function claimRuns(store: Store, options: ClaimRunsOptions): RunRow[] {
  const { sql, counters, holder } = store;
  const { worker = null, attempt = null, until = null, access = null, runner = '' } = options.worker ?? {};
  const { defaultRunner = '' } = options;
  const before = attempt === null ? [] : sql.all<RunRow>(CARRIED, attempt, defaultRunner, runner);
  if (before.length > 0) return withEvents(sql, before);
  const hourly = new HourlyCapacity(sql, options.limits, options.nowMs);
  const claimed = findClaimable(store, options, hourly);
  if (claimed.length === 0) return [];
  const seqs = JSON.stringify(claimed.map(({ seq }) => seq));
  // The clock went on while others wrote.
  const startedAt = Math.round(options.nowMs + (sql.waitedMs ?? 0));
  sql.post(ACTIVATE, holder, startedAt, worker, attempt, until, access, seqs);
  noteStarts(sql, limitedOf(claimed, hourly), options.nowMs);
  counters.queuedRuns -= claimed.length;
  counters.activeRuns += claimed.length;
  const known = claimed.flatMap(({ row }) => (row === undefined ? [] : [begun(row, startedAt)]));
  return withEvents(sql, known.length > 0 ? known : sql.all<RunRow>(RECORDS, seqs));
}

/** As `ACTIVATE` leaves it. */
function begun(row: RunRow, startedAt: number): RunRow {
  const carried = {
    worker: null,
    workerAttempt: null,
    workerUntil: null,
    workerEnd: null,
    workerAccess: null,
  };
  return {
    ...row,
    ...carried,
    state: RUN.active,
    attempts: row.attempts + 1,
    startedAt,
    pgid: null,
    startTicks: null,
  };
}

/** The claimed runs whose mappings have limits. */
function limitedOf(claimed: readonly Claimable[], hourly: HourlyCapacity): readonly number[] {
  return claimed.flatMap(({ seq, mappingId }) =>
    mappingId !== undefined && hourly.isLimited(mappingId) ? [seq] : [],
  );
}

/** Records the process group of the current attempt, so that the next start can end a survivor. */
export function recordProcess({ sql, holder }: Store, runId: string, mark: ProcessMark): void {
  sql.post(PROCESS, mark.pgid, mark.startTicks, runId, holder);
}

function findHeldRun(store: Store, runId: string, attempt?: string): RunHead | undefined {
  const run = findRunHead(store, runId);
  return isHeld(store, run, attempt) ? run : undefined;
}

/**
 * In one transaction: outcome and reply, history, summary event, delivery and callback rows. Returns false, and
 * changes nothing, where the run is not active (any more): a run ends once and posts one summary.
 */
export function completeRun(store: Store, completion: RunCompletion): boolean {
  return completeRuns(store, [completion])[0] === true;
}

/**
 * Puts an active run back (`active -> queued`) with its error and the time of its next attempt; false where it is not active. One
 * that is due at once goes before those of its session key that came after it.
 */
export function requeueRun(store: Store, runId: string, failure: AttemptFailure): boolean {
  const run = findHeldRun(store, runId, failure.attempt);
  if (run === undefined || run.state > RUN.active) return false;
  const { retryAt, code, message, isDelayed = false, hasBegun = false, usage, runner, nowMs } = failure;
  if (!hasBegun) forgetStart(store.sql, run.seq);
  keepEnding(store, run, failure);
  addCost(store, { mappingId: run.mappingId, runner, usage, nowMs });
  endAttempt(store, run, failure.attempt);
  store.sql.post(REQUEUE, isDelayed ? 1 : 0, Math.round(retryAt), code, message, run.seq);
  countRun(store, run, RUN.waiting);
  advance(store, run.queue);
  if (failure.retryAt <= failure.nowMs) makeDue(store, run);
  return true;
}

/** Gives a queued or active run up (`-> dead`), with its summary event; false where it has ended already. */
export function deadLetterRun(store: Store, runId: string, deadLetter: RunDeadLetter): boolean {
  const run = findRunHead(store, runId);
  if (run === undefined || run.state > RUN.active) return false;
  const { attempt } = deadLetter;
  if ((run.state === RUN.active || attempt !== undefined) && !isHeld(store, run, attempt)) return false;
  endAttempt(store, run, attempt);
  // Somebody decided at the last moment: an approved run begins, and a denied one is given up for that.
  const approval = findApproval(store, run);
  const { decision: decided } = (run.state === RUN.active ? undefined : approval) ?? {};
  if (decided !== undefined && decided !== deadLetter.error.code) return false;
  if (approval !== undefined && approval.decision !== 'approved') forgetAdded(store, runId);
  endRuns(store, [[run, { ...deadLetter, state: RUN.dead, outcome: null }]]);
  return true;
}

/*
 * What becomes of the work of a process that is gone. Who claims a run, an outbox entry or events writes itself down as
 * their holder. A process that shares the store has a row in `replicas` as long as it lives; without that row nobody
 * owns what it owned. A process that has the store for itself has none, and neither had those before it.
 */

const FORGET = 'DELETE FROM replicas WHERE id = ? AND lease_until = ?';
const LEFT = leftRuns('?2');
const LEFT_ENTRIES = left('?2');
const LEFT_RUNS = both`SELECT ${RUN_COLUMNS} WHERE state = ${RUN.active} AND ${LEFT} ORDER BY runs.seq`;
const TAKE_RUNS = both`UPDATE runs SET holder = ?1 WHERE state = ${RUN.active} AND ${LEFT}`;
const FREE_ENTRIES = both`UPDATE outbox SET state = ${OUTBOX.queued}, due_at = 0, holder = NULL
  WHERE state = ${OUTBOX.active} AND ${LEFT_ENTRIES}`;
const FREE_EVENTS = `UPDATE events SET holder = NULL WHERE ${leftEvents('?2')}`;
const LEADS = 'SELECT 1 FROM leaders WHERE name = ? AND holder = ?';
const LEAD = `INSERT INTO leaders (name, holder) VALUES (?1, ?2) ON CONFLICT (name) DO UPDATE SET holder = excluded.holder
  WHERE leaders.holder NOT IN (SELECT id FROM replicas)`;

/**
 * Takes over what others left: their runs belong to this process from now on, their outbox entries are due, and a
 * turn that was cut off asks for a heartbeat. `held` is what this process is working on.
 */
export function takeOver(
  store: Store,
  held: OwnWork,
  lapsed: readonly LapsedReplica[],
): Omit<Succession, 'runs'> & { readonly runs: RunRow[] } {
  const { sql, counters, holder } = store;
  for (const { id, leaseUntil } of lapsed) sql.post(FORGET, id, leaseUntil);
  const known = JSON.stringify(held.runs);
  const runs = sql.all<RunRow>(LEFT_RUNS, holder, known);
  if (runs.length > 0) sql.post(TAKE_RUNS, holder, known);
  counters.queuedOutbox += sql.run(FREE_ENTRIES, holder, JSON.stringify(held.outbox));
  if (sql.run(FREE_EVENTS, holder, held.isTurnTaken ? 1 : 0) > 0) askForHeartbeat(store, 0);
  return { runs, isLeader: lead(store, MAIN) };
}

function lead({ sql, holder }: Store, name: string): boolean {
  return sql.find(LEADS, name, holder) !== undefined || sql.run(LEAD, name, holder) > 0;
}

/*
 * What senders are asked for again. Of several services one does it for a path, as long as it lives.
 */

const KEEP_RECOVERY = `INSERT INTO recoveries (path, state) VALUES (?1, ?2)
  ON CONFLICT (path) DO UPDATE SET state = excluded.state,
    wanted = CASE WHEN recoveries.wanted = ?3 THEN '' ELSE recoveries.wanted END`;
const WANT_RECOVERY = `INSERT INTO recoveries (path, wanted) VALUES (?, ?)
  ON CONFLICT (path) DO UPDATE SET wanted = excluded.wanted`;

/** Takes the recovery of a path, where no service that lives has it; says whether this one has it. */
export function leadRecovery(store: Store, path: string): boolean {
  return lead(store, `recovery of ${path}`);
}

/** Keeps how far the recovery of a path is; what was `wanted` is then done. */
export function keepRecovery({ sql }: Store, path: string, state: string, wanted = ''): void {
  sql.post(KEEP_RECOVERY, path, state, wanted);
}

/** Notes what somebody wants of the recovery of a path. */
export function wantRecovery({ sql }: Store, path: string, wanted: string): void {
  sql.post(WANT_RECOVERY, path, wanted);
}

export function clearSession({ sql, counters }: Store, { owner, key }: Conversation): boolean {
  const [removeTurns, remove] = REMOVE_SESSION;
  sql.post(removeTurns, owner, key);
  const isRemoved = sql.run(remove, owner, key) > 0;
  if (isRemoved) counters.sessions -= 1;
  return isRemoved;
}

export { saveLastTarget } from './outbox-rows.ts';
export { addAgentKey, addConversationKey, decideStart, endUnbegun } from './waiting-events.ts';
