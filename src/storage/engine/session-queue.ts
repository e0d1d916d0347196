import type { Gathering, NewRun } from '../prepared-request.ts';
import { RUN } from './states.ts';
import type { Statements } from './statements.ts';
import type { Store } from './store.ts';

/** The queue of every conversation: who is ready, who is behind whom. `sqlite/worker/migrations.ts` explains the states. */

const INSERT = `INSERT INTO runs (id, kind, state, session_key, owner, line, mapping_id, runner, bytes, accepted_at,
    due_at, gather_key, gather_until)
  VALUES (?, 'hook', ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`;
const INSERT_ACTION = 'INSERT INTO run_actions (seq, action) VALUES (?, ?)';
const HEAD = `SELECT seq, state FROM runs INDEXED BY runs_in_line
  WHERE line = ? AND state IN (${RUN.ready}, ${RUN.active}) AND state <= ${RUN.active}`;
const NEXT_BLOCKED = `SELECT seq FROM runs INDEXED BY runs_in_line
  WHERE line = ? AND state = ${RUN.blocked} AND state <= ${RUN.active} ORDER BY seq LIMIT 1`;
const ADOPT = 'UPDATE runs SET line = ? WHERE id = ? AND session_key = ? AND owner = ? AND line IS NULL';
const SET_STATE = 'UPDATE runs SET state = ? WHERE seq = ?';
const DUE = `SELECT seq, line AS queue FROM runs INDEXED BY runs_waiting
  WHERE state = ${RUN.waiting} AND due_at <= ? ORDER BY due_at, seq LIMIT ?`;

/** What a session key of its own starts with; the run's id follows. */
const OWN_KEY_PREFIX = 'hook:';

/** The queue a run stands in: its conversation as one text, or null where it has its key for itself. */
export type Queue = string | null;

/** Neither owners nor keys hold a line break. */
function queueOf(owner: string, sessionKey: string): string {
  return `${owner}\n${sessionKey}`;
}

/** Stores a new run at the end of its queue; one that gathers events waits until its time has come. */
export function insertRun(store: Store, run: NewRun, gathering?: Gathering): void {
  const { sql, counters } = store;
  const { id, sessionKey, owner, mappingId, runner, action, bytes, acceptedAt } = run;
  const queue = hasOwnKey(run) ? null : queueOf(owner, sessionKey);
  const joined = queue === null ? RUN.ready : join(store, run, queue);
  const state = gathering === undefined ? joined : RUN.waiting;
  const seq = sql.insert(
    INSERT,
    id,
    state,
    sessionKey,
    owner,
    queue,
    mappingId,
    runner,
    bytes,
    acceptedAt,
    gathering?.dueAt ?? acceptedAt,
    gathering?.key ?? null,
    gathering?.until ?? null,
  );
  sql.run(INSERT_ACTION, seq ?? null, action);
  counters.queuedRuns += 1;
  counters.runBytes += bytes;
}

/** Whether a run has its session key for itself, so that it stands in no queue. */
export function hasOwnKey({ id, sessionKey }: Pick<NewRun, 'id' | 'sessionKey'>): boolean {
  return sessionKey === OWN_KEY_PREFIX + id;
}

/** State of a run that joins a queue at its end. */
function join({ sql }: Store, { owner, sessionKey }: NewRun, queue: string): number {
  // Its owner names the key that a run has for itself: from now on that run stands in the queue too.
  if (sessionKey.startsWith(OWN_KEY_PREFIX)) {
    sql.run(ADOPT, queue, sessionKey.slice(OWN_KEY_PREFIX.length), sessionKey, owner);
  }
  return findHead(sql, queue) === undefined ? RUN.ready : RUN.blocked;
}

/** Lets the next run of a queue step up where none is ready or active. */
export function advance(store: Store, queue: Queue): void {
  if (queue === null || findHead(store.sql, queue) !== undefined) return;
  const next = store.sql.find<{ seq: number }>(NEXT_BLOCKED, queue);
  if (next !== undefined) store.sql.run(SET_STATE, RUN.ready, next.seq);
}

/** Puts a waiting run back into its queue, before those that came after it. */
export function makeDue(store: Store, { seq, queue }: { readonly seq: number; readonly queue: Queue }): void {
  const { sql } = store;
  const first = queue === null ? undefined : findHead(sql, queue);
  if (first === undefined) {
    sql.run(SET_STATE, RUN.ready, seq);
  } else if (first.state === RUN.ready && first.seq > seq) {
    sql.run(SET_STATE, RUN.blocked, first.seq);
    sql.run(SET_STATE, RUN.ready, seq);
  } else {
    sql.run(SET_STATE, RUN.blocked, seq);
  }
}

/** Makes waiting runs due whose time has come, at most `limit`. */
export function promoteDue(store: Store, nowMs: number, limit: number): void {
  for (const run of store.sql.all<{ seq: number; queue: Queue }>(DUE, nowMs, limit)) makeDue(store, run);
}

function findHead(
  sql: Statements,
  queue: string,
): { readonly seq: number; readonly state: number } | undefined {
  return sql.find(HEAD, queue);
}
