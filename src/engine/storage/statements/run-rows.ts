import type { AgentRun, RunCompletion, SummaryEvent } from '../records.ts';
import { addCost } from './cost-rows.ts';
import { insertSummary } from './event-rows.ts';
import type { Dialects } from './dialects.ts';
import type { RunHead } from './rows.ts';
import { advance } from './session-queue.ts';
import { RUN } from './states.ts';
import type { Store } from './store.ts';

/** A `RunHead`. */
export const FIND_HEAD = `SELECT seq, id, state, session_key AS "sessionKey", line AS queue, mapping_id AS "mappingId", bytes,
  holder
  FROM runs WHERE id = ?`;
const END: Dialects = {
  sqlite: `UPDATE runs SET state = ?, outcome = ?, reply = ?, error_code = ?, error_message = ?, usage = ?, ended_at = ?,
  pgid = NULL, start_ticks = NULL WHERE seq = ?`,
  postgres: `UPDATE runs SET state = given.state, outcome = given.outcome, reply = given.reply, error_code = given.code,
    error_message = given.message, usage = given.used, ended_at = given.at, pgid = NULL, start_ticks = NULL
  FROM unnest(?::integer[], ?::text[], ?::text[], ?::text[], ?::text[], ?::text[], ?::bigint[], ?::bigint[])
    AS given (state, outcome, reply, code, message, used, at, run) WHERE seq = run AND seq = ANY (?8)`,
};
const INSERT_HEARTBEAT = `INSERT INTO runs (id, kind, state, session_key, owner, mapping_id, runner, bytes, attempts,
    accepted_at, due_at, started_at, ended_at, outcome, reply, error_code, error_message, usage)
  VALUES (?, 'heartbeat', ${RUN.completed}, ?, ?, ?, ?, 0, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (id) DO NOTHING`;
const INSERT_ACTION = 'INSERT INTO run_actions (seq, action) VALUES (?, ?)';

export function findRunHead({ sql }: Store, runId: string): RunHead | undefined {
  return sql.find<RunHead>(FIND_HEAD, runId);
}

/** A run that is active in the hands of this process; another one may have taken it over. */
export function isHeld({ holder }: Store, run: RunHead | undefined): run is RunHead {
  return run?.state === RUN.active && run.holder === holder;
}

interface RunEnd extends Pick<RunCompletion, 'error' | 'usage' | 'runner'> {
  readonly state: number;
  readonly outcome: string | null;
  readonly reply?: string;
  readonly summary?: SummaryEvent | undefined;
  readonly nowMs: number;
}

/** The one place where runs end: their queues go on, their summaries are posted, both with the end itself. */
export function endRuns(store: Store, ends: readonly (readonly [RunHead, RunEnd])[]): void {
  store.sql.postEach(
    END,
    ends.map(([{ seq }, { state, outcome, reply = null, error, usage, nowMs }]) => [
      state,
      outcome,
      reply,
      error?.code ?? null,
      error?.message ?? null,
      usage === undefined ? null : JSON.stringify(usage),
      Math.round(nowMs),
      seq,
    ]),
  );
  advance(store, ...ends.map(([{ queue }]) => queue));
  for (const [run, { state, usage, runner, summary, nowMs }] of ends) {
    countRun(store, run, state);
    addCost(store, { mappingId: run.mappingId, runner, usage, nowMs });
    if (summary !== undefined) insertSummary(store, summary, { runId: run.id, nowMs });
  }
}

/** Moves a run from its state to another in the counters. */
export function countRun(store: Store, run: RunHead, to: number): void {
  countState(store, { state: run.state, bytes: run.bytes }, -1);
  countState(store, { state: to, bytes: run.bytes }, 1);
}

function countState(
  { counters }: Store,
  { state, bytes }: { readonly state: number; readonly bytes: number },
  by: 1 | -1,
): void {
  if (state <= RUN.waiting) counters.queuedRuns += by;
  if (state === RUN.active) counters.activeRuns += by;
  if (state <= RUN.active) counters.runBytes += by * bytes;
  if (state >= RUN.completed) counters.endedRuns += by;
  if (state === RUN.dead) counters.deadRuns += by;
}

/** Stores a turn of the main session that has ended; nothing where it is stored already. */
export function insertHeartbeat(store: Store, run: AgentRun, runner?: string): void {
  const { sql, counters } = store;
  const { action, lastError, usage } = run;
  const seq = sql.insert(
    INSERT_HEARTBEAT,
    run.id,
    action.sessionKey,
    action.owner,
    action.origin.mappingId ?? '',
    action.runner ?? '',
    run.attempts,
    Math.round(run.acceptedAt),
    Math.round(run.dueAt),
    run.startedAt === undefined ? null : Math.round(run.startedAt),
    Math.round(run.endedAt ?? run.acceptedAt),
    run.outcome ?? 'ok',
    run.reply ?? null,
    lastError?.code ?? null,
    lastError?.message ?? null,
    usage === undefined ? null : JSON.stringify(usage),
  );
  if (seq === undefined) return;
  sql.post(INSERT_ACTION, seq, JSON.stringify(action));
  counters.endedRuns += 1;
  addCost(store, { mappingId: '', runner, usage, nowMs: run.endedAt ?? run.acceptedAt });
}
