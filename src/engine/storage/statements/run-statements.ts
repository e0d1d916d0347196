import type {
  AttemptFailure,
  ClaimRunsOptions,
  ProcessMark,
  RunCompletion,
  RunDeadLetter,
} from '../records.ts';
import { both, listed } from './dialects.ts';
import { RUN_COLUMNS, type RunHead, type RunRow } from './rows.ts';
import { findApproval } from './asking-runs.ts';
import { findClaimable, type Claimable } from './claimable-runs.ts';
import { withEvents } from './gathering.ts';
import { forgetStart, HourlyRoom, noteStarts } from './hourly-room.ts';
import { addCost } from './cost-rows.ts';
import { completeRuns } from './complete-runs.ts';
import { insertCallback } from './outbox-rows.ts';
import { keepEnding } from './earlier-endings.ts';
import { countRun, endRuns, findRunHead, isHeld } from './run-rows.ts';
import { advance, makeDue } from './session-queue.ts';
import { RUN } from './states.ts';
import type { Store } from './store.ts';

const ACTIVATE = both`UPDATE runs SET state = ${RUN.active}, attempts = attempts + 1, holder = ?, started_at = ?,
  gather_key = NULL, pgid = NULL, start_ticks = NULL WHERE seq IN ${listed('?', 'bigint')}`;
const RECORDS = both`SELECT ${RUN_COLUMNS} WHERE runs.seq IN ${listed('?', 'bigint')} ORDER BY runs.seq`;
const PROCESS = `UPDATE runs SET pgid = ?, start_ticks = ? WHERE id = ? AND state = ${RUN.active} AND holder = ?`;
const REQUEUE = `UPDATE runs SET state = ${RUN.waiting}, attempts = attempts - ?, due_at = ?, error_code = ?, error_message = ?, pgid = NULL,
  start_ticks = NULL WHERE seq = ?`;

export function claimRuns(store: Store, options: ClaimRunsOptions): RunRow[] {
  const { sql, counters, holder } = store;
  const hourly = new HourlyRoom(sql, options.limits, options.nowMs);
  const claimed = findClaimable(store, options, hourly);
  if (claimed.length === 0) return [];
  const seqs = JSON.stringify(claimed.map(({ seq }) => seq));
  // The clock went on while others wrote.
  const startedAt = Math.round(options.nowMs + (sql.waitedMs ?? 0));
  sql.post(ACTIVATE, holder, startedAt, seqs);
  noteStarts(sql, limitedOf(claimed, hourly), options.nowMs);
  counters.queuedRuns -= claimed.length;
  counters.activeRuns += claimed.length;
  const known = claimed.flatMap(({ row }) => (row === undefined ? [] : [begun(row, startedAt)]));
  return withEvents(sql, known.length > 0 ? known : sql.all<RunRow>(RECORDS, seqs));
}

/** As `ACTIVATE` leaves it. */
function begun(row: RunRow, startedAt: number): RunRow {
  return { ...row, state: RUN.active, attempts: row.attempts + 1, startedAt, pgid: null, startTicks: null };
}

/** Of claimed runs those whose mappings have limits. */
function limitedOf(claimed: readonly Claimable[], hourly: HourlyRoom): readonly number[] {
  return claimed.flatMap(({ seq, mappingId }) =>
    mappingId !== undefined && hourly.isLimited(mappingId) ? [seq] : [],
  );
}

export function recordProcess({ sql, holder }: Store, runId: string, mark: ProcessMark): void {
  sql.post(PROCESS, mark.pgid, mark.startTicks, runId, holder);
}

function findHeldRun(store: Store, runId: string): RunHead | undefined {
  const run = findRunHead(store, runId);
  return isHeld(store, run) ? run : undefined;
}

export function completeRun(store: Store, completion: RunCompletion): boolean {
  return completeRuns(store, [completion])[0] === true;
}

export function requeueRun(store: Store, runId: string, failure: AttemptFailure): boolean {
  const run = findHeldRun(store, runId);
  if (run === undefined) return false;
  const { retryAt, code, message, isHeld = false, hasBegun = false, usage, runner, nowMs } = failure;
  if (!hasBegun) forgetStart(store.sql, run.seq);
  keepEnding(store, run, failure);
  addCost(store, { mappingId: run.mappingId, runner, usage, nowMs });
  store.sql.post(REQUEUE, isHeld ? 1 : 0, Math.round(retryAt), code, message, run.seq);
  countRun(store, run, RUN.waiting);
  advance(store, run.queue);
  if (failure.retryAt <= failure.nowMs) makeDue(store, run);
  return true;
}

export function deadLetterRun(store: Store, runId: string, deadLetter: RunDeadLetter): boolean {
  const run = findRunHead(store, runId);
  if (run === undefined || run.state > RUN.active) return false;
  if (run.state === RUN.active && run.holder !== store.holder) return false;
  // Somebody decided at the last moment: an approved run begins, and a denied one is given up for that.
  const decided = run.state === RUN.active ? undefined : findApproval(store, run)?.decision;
  if (decided !== undefined && decided !== deadLetter.error.code) return false;
  endRuns(store, [[run, { ...deadLetter, state: RUN.dead, outcome: null }]]);
  const { callback, nowMs } = deadLetter;
  if (callback !== undefined) insertCallback(store, callback, { ...run, runId, nowMs });
  return true;
}
