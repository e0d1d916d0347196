import type { Gathering, NewRun } from '../prepared-request.ts';
import { IS_CLAIMED_WHEN_DUE, RUN } from './rows.ts';
import { both, by, type Dialects, LAST_SEQ, type Sql, type Statements } from './statements.ts';
import type { Store } from './store.ts';

/** The queue of every conversation: who is ready, who is behind whom. `first-tables.ts` explains the states. */

/** Runs of a `line`, as one conversation's queue is called here, that have not ended. For SQLite, whose index is named. */
const ofLine = (line: string): string =>
  `FROM runs INDEXED BY runs_in_line WHERE line = ${line} AND state <= ${RUN.active}`;
/**
 * The first run of a line in a state, or in the states up to `last`, or null; for PostgreSQL. The order of the rows makes
 * it take the index of runs that have not ended: the other index of a line has all runs that the line ever had.
 */
export const firstOf = (line: string, state: number, last = state): string =>
  `(SELECT seq FROM runs WHERE line = ${line} AND state >= ${state} AND state <= ${last} ORDER BY state, seq LIMIT 1)`;
/**
 * Whether a run of the line is ready or active: where none is, the next one may be made ready. For a list of states SQLite
 * would make a table each time.
 */
export const hasHead = (line: string): Dialects => ({
  sqlite: `(EXISTS (SELECT 1 ${ofLine(line)} AND state = ${RUN.ready})
    OR EXISTS (SELECT 1 ${ofLine(line)} AND state = ${RUN.active}))`,
  postgres: `(coalesce(${firstOf(line, RUN.ready)}, ${firstOf(line, RUN.active)}) IS NOT NULL)`,
});
const HAS_HEAD = hasHead('?1');
/** Each value that is bound costs about as much as a column more. */
const insertion = (
  state: Sql | number,
  gathering = '?8, NULL, NULL',
): Sql => both`INSERT INTO runs (line, state, id, kind, session_key, owner, mapping_id, runner, bytes, accepted_at,
    due_at, gather_key, gather_until)
  VALUES (?1, ${state}, ?2, 'hook', ?3, ?4, ?5, ?6, ?7, ?8, ${gathering})`;
const INSERT_ALONE = insertion(RUN.ready);
const INSERT_IN_LINE = insertion(both`CASE WHEN ${HAS_HEAD} THEN ${RUN.blocked} ELSE ${RUN.ready} END`);
/** The run has arrived, and a claim puts it into its queue: due before all others, whatever the clocks say. */
const INSERT_ARRIVED = insertion(RUN.waiting, '0, NULL, NULL');
const INSERT_GATHERING = insertion(RUN.waiting, '?9, ?10, ?11');
const INSERT_ACTION = both`INSERT INTO run_actions (seq, action) VALUES (${LAST_SEQ}, ?)`;
const STEP_UP: Dialects = {
  sqlite: `UPDATE runs SET state = ${RUN.ready}
    WHERE seq = (SELECT seq ${ofLine('?1')} AND state = ${RUN.blocked} ORDER BY seq LIMIT 1) AND NOT ${HAS_HEAD.sqlite}`,
  postgres: `UPDATE runs SET state = ${RUN.ready} WHERE seq = ANY (ARRAY(
    SELECT CASE WHEN NOT ${hasHead('given').postgres} THEN ${firstOf('given', RUN.blocked)} END FROM unnest(?::text[]) AS given))`,
};
const STEP_BACK: Dialects = {
  sqlite: `UPDATE runs INDEXED BY runs_in_line SET state = ${RUN.blocked}
    WHERE line = ?1 AND state = ${RUN.ready} AND state <= ${RUN.active} AND seq > ?2`,
  postgres: `UPDATE runs SET state = ${RUN.blocked} WHERE seq = ${firstOf('?1', RUN.ready)} AND seq > ?2`,
};
const STEP_IN = both`UPDATE runs SET state = CASE WHEN ${HAS_HEAD} THEN ${RUN.blocked} ELSE ${RUN.ready} END WHERE seq = ?2`;
const MAKE_READY = `UPDATE runs SET state = ${RUN.ready} WHERE seq = ?`;
const SET_KEY = 'UPDATE runs SET max_runs_key = ? WHERE id = ?';
const ADOPT = 'UPDATE runs SET line = ? WHERE id = ? AND session_key = ? AND owner = ? AND line IS NULL';
/** Waiting runs whose time has come, the longest due first. */
export const DUE = both`SELECT seq, line AS queue FROM runs ${by('runs_waiting')}
  WHERE state = ${RUN.waiting} AND due_at <= ? AND ${IS_CLAIMED_WHEN_DUE} ORDER BY due_at, seq LIMIT ?`;

/** What a session key of its own starts with; the run's id follows. */
const OWN_KEY_PREFIX = 'hook:';

/** The queue a run stands in: its conversation as one text, or null where it has its key for itself. */
export type Queue = string | null;

/** Neither owners nor keys hold a line break. */
export function queueOf(owner: string, sessionKey: string): string {
  return `${owner}\n${sessionKey}`;
}

/** Stores a new run at the end of its queue; one that gathers events waits until its time has come. */
export function insertRun(store: Store, run: NewRun, gathering?: Gathering): void {
  const { sql, counters } = store;
  const { id, sessionKey, owner, mappingId, runner, action, bytes, acceptedAt, maxRunsKey } = run;
  const queue = hasOwnKey(run) ? null : queueOf(owner, sessionKey);
  if (queue !== null) adoptNamesake(store, run, queue);
  const inLine = sql.placeDue === undefined ? INSERT_IN_LINE : INSERT_ARRIVED;
  const alone = queue === null ? INSERT_ALONE : inLine;
  const values = [queue, id, sessionKey, owner, mappingId, runner, bytes, acceptedAt] as const;
  if (gathering === undefined) sql.post(alone, ...values);
  else sql.post(INSERT_GATHERING, ...values, gathering.dueAt, gathering.key, gathering.until);
  postAction(sql, action);
  // Few have one, and each value of an insertion costs.
  if (maxRunsKey !== undefined) sql.post(SET_KEY, maxRunsKey, id);
  counters.queuedRuns += 1;
  counters.runBytes += bytes;
}

/** The action of the run that was inserted just before: what PostgreSQL answers depends on the statement before it. */
export function postAction(sql: Statements, action: string): void {
  sql.post(INSERT_ACTION, action);
}

/** Whether a run has its session key for itself, so that it stands in no queue. */
export function hasOwnKey({ id, sessionKey }: Pick<NewRun, 'id' | 'sessionKey'>): boolean {
  return sessionKey === OWN_KEY_PREFIX + id;
}

/** Whether a run names the key that another one has for itself. No id holds a colon, as `hook:github:…` does. */
export function isNamesake(run: Pick<NewRun, 'id' | 'sessionKey'>): boolean {
  const { sessionKey } = run;
  if (sessionKey.lastIndexOf(':') !== OWN_KEY_PREFIX.length - 1 || hasOwnKey(run)) return false;
  return sessionKey.startsWith(OWN_KEY_PREFIX);
}

/** A key that a run has for itself, named by its owner: from now on that run stands in the queue too. */
export function adoptNamesake(
  { sql }: Store,
  run: Pick<NewRun, 'id' | 'owner' | 'sessionKey'>,
  queue: string,
): void {
  if (!isNamesake(run)) return;
  const { owner, sessionKey } = run;
  sql.post(ADOPT, queue, sessionKey.slice(OWN_KEY_PREFIX.length), sessionKey, owner);
}

/** Lets the next run of each queue step up where none is ready or active. */
export function advance({ sql }: Store, ...queues: readonly Queue[]): void {
  sql.postEach(
    STEP_UP,
    queues.flatMap((queue) => (queue === null ? [] : [[queue]])),
  );
}

export interface WaitingRun {
  readonly seq: number;
  readonly queue: Queue;
}

/** Puts a waiting run back into its queue, before those that came after it. */
export function makeDue({ sql }: Store, { seq, queue }: WaitingRun): void {
  if (queue === null) {
    sql.post(MAKE_READY, seq);
  } else {
    sql.post(STEP_BACK, queue, seq);
    sql.post(STEP_IN, queue, seq);
  }
}
