import {
  type Backlog,
  type HeldRunner,
  type KeptFile,
  type KeptGeneration,
  type KeptPart,
  type KeptRequest,
  type LeftOut,
  type ListQuery,
  type QueueSelection,
  type RetryRows,
  type RunnerHold,
  type SessionRecord,
  type WorkChange,
  type WorkPlan,
} from '../records.ts';
import { both, by, listed, type Sql } from './dialects.ts';
import {
  EVENT_COLUMNS,
  type EventRow,
  OUTBOX_COLUMNS,
  type OutboxRow,
  RUN_COLUMNS,
  type RunRow,
  type Table,
} from './rows.ts';
import { withEvents } from './gathering.ts';
import { readCounters } from './counters.ts';
import { findBroken } from './invariants.ts';
import { STRANGER } from './journal.ts';
import { operationOf, PLAIN_READS } from './plain-reads.ts';
import { atMost, listRows } from './row-queries.ts';
import { EVENT, OUTBOX, RUN } from './states.ts';
import type { Statements } from './statements.ts';
import type { Store } from './store.ts';
import {
  type Choice,
  type ChoiceOptions,
  chosenRows,
  countRows,
  firstRows,
  heldRows,
  leftOutRows,
} from './work-choices.ts';

/** Everything that only reads. Called between transactions, so nothing uncommitted is ever seen. */

/** Rows that `retry` and `drop` look at in one step. */
const STEP_ROWS = 200;
/** Runs that a plan names. */
const MAX_PLANNED = 1_000;
const RUN_BY_ID = `SELECT ${RUN_COLUMNS} WHERE id = ?`;
const ENDED = both`SELECT ${RUN_COLUMNS} WHERE state >= ${RUN.completed} AND id IN ${listed('?')}`;
const SESSIONS = `SELECT owner, key, turns, bytes, created_at AS "createdAt", last_used_at AS "lastUsedAt" FROM sessions
  WHERE (CAST(?1 AS TEXT) IS NULL OR key = ?1) AND (CAST(?2 AS TEXT) IS NULL OR owner = ?2) ORDER BY last_used_at DESC, key, owner LIMIT ?3`;
const DECISIONS = `SELECT decision FROM decisions WHERE (CAST(?1 AS TEXT) IS NULL OR mapping_id = ?1) AND (CAST(?2 AS TEXT) IS NULL OR outcome = ?2
  OR (?2 = 'rejected' AND outcome = '${STRANGER}')) ORDER BY seq DESC LIMIT ?3`;
const DECISION = 'SELECT decision FROM decisions WHERE request_id = ? ORDER BY seq DESC LIMIT 1';
const KEPT = `SELECT request_id AS "requestId", received_at AS "receivedAt", kind, path, request AS json FROM kept_requests
  WHERE request_id = ? ORDER BY seq DESC LIMIT 1`;
const NEWEST_KEPT = `SELECT request_id AS "requestId", received_at AS "receivedAt", kind, path, request AS json FROM kept_requests
  WHERE (CAST(?1 AS TEXT) IS NULL OR kind = ?1) ORDER BY seq DESC LIMIT ?2`;
const KEPT_SIZES = `SELECT seq, bytes FROM kept_requests WHERE seq < ? AND received_at >= ? AND received_at < ?
  ORDER BY seq DESC LIMIT 200`;
const KEPT_PART = `SELECT request_id AS "requestId", received_at AS "receivedAt", kind, path, substr(request, 1, ?) AS json
  FROM kept_requests WHERE seq < ? AND seq >= ? AND received_at >= ? AND received_at < ? ORDER BY seq DESC`;
const GENERATION = 'SELECT files FROM generations WHERE id = ?';
const FILES = both`SELECT hash, content FROM generation_files WHERE hash IN ${listed('?')}`;
/** Runs that gather events wait as long as their mapping says, unless they were stored at a later time than it is. */
const nextRetry = (totals: string): Sql => both`SELECT min(at) AS at FROM (
  SELECT (SELECT min(due_at) FROM runs ${by('runs_waiting')} WHERE state = ${RUN.waiting}
    AND (gather_until IS NULL OR attempts > 0 OR accepted_at > ?)) AS at
  UNION ALL SELECT (SELECT min(due_at) FROM outbox ${by('outbox_next')} WHERE state = ${OUTBOX.queued} AND behind = 0)
  UNION ALL SELECT heartbeat_at FROM ${totals}) AS due`;
const HOLDS = `SELECT runner, model, since, code, message, retry_at AS "retryAt", tries FROM runner_holds
  ORDER BY since, runner, model`;
const WAITING_FOR = both`SELECT count(*) AS count FROM runs ${by('runs_queued')}
  WHERE state <= ${RUN.waiting} AND runner = ?`;
const OLDEST_QUEUED = both`SELECT accepted_at AS at FROM runs ${by('runs_queued')} WHERE state <= ${RUN.waiting}
  ORDER BY seq LIMIT 1`;
/** The first that arrived of each kind; a heap of dead work costs no more than one. */
const OLDEST_DEAD = both`SELECT min(at) AS at FROM (
  SELECT (SELECT ended_at FROM runs ${by('runs_dead')} WHERE state = ${RUN.dead} ORDER BY seq LIMIT 1) AS at
  UNION ALL SELECT (SELECT ended_at FROM outbox ${by('outbox_dead')} WHERE state = ${OUTBOX.dead}
    ORDER BY seq LIMIT 1)
  UNION ALL SELECT (SELECT ended_at FROM events ${by('events_dead')} WHERE state = ${EVENT.dead}
    ORDER BY seq LIMIT 1)) AS dead`;

export function listRuns({ sql }: Store, query: ListQuery): RunRow[] {
  return listRows(sql, { table: 'runs', columns: RUN_COLUMNS, query }, [
    ['kind', query.kind],
    ['mapping_id', query.mappingId],
    ['session_key', query.sessionKey],
    ['line', query.line],
  ]);
}

export function listOutbox({ sql }: Store, query: ListQuery): OutboxRow[] {
  return listRows(sql, { table: 'outbox', columns: OUTBOX_COLUMNS, query }, [
    ['mapping_id', query.mappingId],
    ['session_key', query.sessionKey],
    ['run_id', query.runId],
    ['id', query.id],
  ]);
}

export function listEvents({ sql }: Store, query: ListQuery): EventRow[] {
  return listRows(sql, { table: 'events', columns: EVENT_COLUMNS, query }, [
    ['mapping_id', query.mappingId],
    ['id', query.id],
  ]);
}

/** With the runs that wait for each runner; those without a runner of their own wait for the default one. */
export function listHolds({ sql }: Store, defaultRunner: string): readonly HeldRunner[] {
  return sql.all<RunnerHold & { model: string }>(HOLDS).map(({ model, ...hold }) => {
    const own = sql.find<{ count: number }>(WAITING_FOR, hold.runner)?.count ?? 0;
    const unnamed =
      hold.runner === defaultRunner ? (sql.find<{ count: number }>(WAITING_FOR, '')?.count ?? 0) : 0;
    return { ...hold, ...(model === '' ? {} : { model }), waiting: own + unnamed };
  });
}

export function findRun({ sql }: Store, runId: string): RunRow | undefined {
  const row = sql.find<RunRow>(RUN_BY_ID, runId);
  return row && withEvents(sql, [row])[0];
}

/** Of these runs those that have ended. */
export function findEndedRuns({ sql }: Store, runIds: readonly string[]): RunRow[] {
  return sql.all(ENDED, JSON.stringify(runIds));
}

export { findAsked, findUnapproved } from './asking-runs.ts';
export { oldestAmong } from './row-queries.ts';
export const findReservation = operationOf(PLAIN_READS.findReservation);
export const findConversation = operationOf(PLAIN_READS.findConversation);
export const nextDueAt = operationOf(PLAIN_READS.nextDueAt);
export const findHeartbeatAt = operationOf(PLAIN_READS.findHeartbeatAt);

export function listSessions({ sql }: Store, query: ListQuery): SessionRecord[] {
  return sql.all(SESSIONS, query.sessionKey ?? null, query.owner ?? null, atMost(query.limit));
}

/** As JSON text. */
export function findLastTarget({ sql }: Store): string | undefined {
  return sql.find<{ target: string }>('SELECT target FROM last_target')?.target;
}

/** As JSON texts. */
export function listDecisions({ sql }: Store, query: ListQuery): string[] {
  const { mappingId = null, state = null, limit } = query;
  return sql
    .all<{ decision: string }>(DECISIONS, mappingId, state, atMost(limit))
    .map(({ decision }) => decision);
}

/** As JSON text. */
export function findDecision({ sql }: Store, requestId: string): string | undefined {
  return sql.find<{ decision: string }>(DECISION, requestId)?.decision;
}

export function findKeptRequest({ sql }: Store, requestId: string): KeptRequest | undefined {
  return sql.find(KEPT, requestId);
}

export function listKeptRequests(
  { sql }: Store,
  limit: number,
  kind: KeptRequest['kind'] | null = null,
): KeptRequest[] {
  return sql.all(NEWEST_KEPT, kind, limit);
}

export function readKept(
  { sql }: Store,
  { before = Number.MAX_SAFE_INTEGER, from, to, maxBytes }: KeptPart,
): { rows: KeptRequest[]; next?: number } {
  let left = maxBytes;
  const sizes = sql.all<{ seq: number; bytes: number }>(KEPT_SIZES, before, from, to);
  const part = sizes.filter(({ bytes }, index) => (left -= index === 0 ? Math.min(bytes, left) : bytes) >= 0);
  const next = part.at(-1)?.seq;
  if (next === undefined) return { rows: [] };
  return { rows: sql.all(KEPT_PART, maxBytes, before, next, from, to), next };
}

/** The next rows that a change of a selection would change, of each table. */
function selectRows(
  sql: Statements,
  selection: QueueSelection,
  { choices, limit }: { readonly choices: readonly Choice[]; readonly limit: number },
): RetryRows {
  const of = (table: Table): readonly string[] => firstRows(sql, selection, { table, choices, limit });
  return { runs: of('runs'), outbox: of('outbox'), events: of('events') };
}

/** What `retryRows` would change next. What ends after `nowMs` was begun meanwhile. */
export function selectRetry(
  { sql }: Store,
  selection: QueueSelection,
  { nowMs, limit = STEP_ROWS }: { readonly nowMs: number; readonly limit?: number },
): RetryRows {
  return selectRows(sql, selection, { choices: chosenRows('retry', selection, { nowMs }), limit });
}

/** What `dropRows` would change next: runs as a whole, since what they post is made from them. */
export function selectDrop({ sql }: Store, selection: QueueSelection) {
  const choices = chosenRows('drop', selection, { nowMs: 0 });
  const { runs, ...rest } = selectRows(sql, selection, { choices, limit: STEP_ROWS });
  return { runs: runs.flatMap((id) => sql.all<RunRow>(RUN_BY_ID, id)), ...rest };
}

/** What a change of a selection would do, and what it leaves out. */
export function planWork(
  { sql }: Store,
  change: WorkChange,
  { selection, ...options }: { readonly selection: QueueSelection } & ChoiceOptions,
): WorkPlan {
  const choices = chosenRows(change, selection, options);
  const all = change === 'retry' ? [...choices, heldRows(options)] : choices;
  const count = (of: readonly Choice[]): number =>
    of.reduce((sum, choice) => sum + countRows(sql, selection, choice), 0);
  // One that is named may be limited, and its agent away.
  const most = selection.kind === 'ids' ? selection.ids.length : Infinity;
  const countOf = (table: Table): number =>
    Math.min(most, count(all.filter((choice) => choice.table === table)));
  const counts = { runs: countOf('runs'), outbox: countOf('outbox'), events: countOf('events') };
  const groups = Map.groupBy(leftOutRows(change, selection, options), ([reason]) => reason);
  const leftOut = [...groups].map(([reason, found]) => ({
    reason,
    count: count(found.map(([, choice]) => choice)),
  }));
  return {
    ...counts,
    runIds: firstRows(sql, selection, { table: 'runs', choices: all, limit: MAX_PLANNED }),
    leftOut: withoutDoubles(leftOut, {
      selection,
      counts,
      held: all === choices ? 0 : count([heldRows(options)]),
    }),
  };
}

/** What is due is counted once: also what is limited, or whose agent is tried, is due. Of ids all are accounted for. */
function withoutDoubles(
  leftOut: readonly LeftOut[],
  {
    selection,
    counts,
    held,
  }: {
    readonly selection: QueueSelection;
    readonly counts: Readonly<Record<Table, number>>;
    readonly held: number;
  },
): readonly LeftOut[] {
  const limited = leftOut.find(({ reason }) => reason === 'limited')?.count ?? 0;
  const parts = leftOut.map(({ reason, count }) => ({
    reason,
    count: reason === 'due' ? Math.max(0, count - limited - held) : count,
  }));
  const known = [...Object.values(counts), ...parts.map(({ count }) => count)].reduce((a, b) => a + b, 0);
  const rest = selection.kind === 'ids' ? Math.max(0, new Set(selection.ids).size - known) : 0;
  return [...parts, { reason: 'other' as const, count: rest }].filter(({ count }) => count > 0);
}

export function nextRetryAt({ sql }: Store, nowMs: number): number | undefined {
  return sql.find<{ at: number | null }>(nextRetry(sql.totals), nowMs)?.at ?? undefined;
}

/** What is claimed is bounded, as each performer holds so many at most. */
const ACTIVE_OUTBOX = both`SELECT CAST(count(*) AS INTEGER) AS count FROM outbox ${by('outbox_active')}
  WHERE state = ${OUTBOX.active}`;

export function backlog({ sql }: Store): Backlog {
  const { queuedRuns, activeRuns, deadRuns, queuedOutbox, deadOutbox, ...more } = readCounters(sql);
  const oldest = sql.find<{ at: number }>(OLDEST_QUEUED);
  const dead = sql.find<{ at: number | null }>(OLDEST_DEAD)?.at ?? undefined;
  return {
    queuedRuns,
    activeRuns,
    deadRuns,
    queuedOutbox,
    activeOutbox: sql.find<{ count: number }>(ACTIVE_OUTBOX)?.count ?? 0,
    deadOutbox,
    pendingEvents: more.pendingEvents,
    deadEvents: more.deadEvents,
    bytes: more.runBytes,
    ...(oldest !== undefined && { oldestQueuedAt: oldest.at }),
    ...(dead !== undefined && { oldestDeadAt: dead }),
  };
}

/** What does not fit together in the rows; empty where all is well. */
export function findBrokenRows({ sql }: Store): readonly string[] {
  return findBroken(sql);
}

export function findGeneration({ sql }: Store, id: string): KeptGeneration | undefined {
  const row = sql.find<{ files: string }>(GENERATION, id);
  if (row === undefined) return undefined;
  const files = JSON.parse(row.files) as readonly Omit<KeptFile, 'content'>[];
  const hashes = JSON.stringify(files.map(({ hash }) => hash));
  const contents = new Map(
    sql.all<{ hash: string; content: string }>(FILES, hashes).map(({ hash, content }) => [hash, content]),
  );
  return { id, files: files.map((file) => ({ ...file, content: contents.get(file.hash) ?? '' })) };
}
