import type { HeldWork, LapsedReplica, Succession } from '../records.ts';
import { both, type Dialects, listed } from './dialects.ts';
import { askForHeartbeat } from './event-rows.ts';
import { RUN_COLUMNS, type RunRow } from './rows.ts';
import { EVENT, OUTBOX, RUN } from './states.ts';
import type { Question } from './statements.ts';
import type { Store } from './store.ts';

/*
 * What becomes of the work of a process that is gone. Who claims a run, an outbox entry or events writes itself down as
 * their holder. A process that shares the store has a row in `replicas` as long as it lives; without that row nobody
 * holds what it held. A process that has the store for itself has none, and neither had those before it.
 */

const FORGET = 'DELETE FROM replicas WHERE id = ? AND lease_until = ?';
/** Of a holder that is gone, or of this process, which does not know of it: the answer to its claim was lost. */
const left = (held: string): Dialects =>
  both`(holder IS NULL OR holder = ?1 OR holder NOT IN (SELECT id FROM replicas)) AND id NOT IN ${listed(held)}`;
const LEFT = left('?2');
/** Of events none is named: one turn takes all of its. */
const leftEvents = (isTurnTaken: string): string => `state = ${EVENT.claimed} AND holder IS NOT NULL
  AND (holder <> ?1 OR ${isTurnTaken} = 0) AND (holder = ?1 OR holder NOT IN (SELECT id FROM replicas))`;
const LEFT_RUNS = both`SELECT ${RUN_COLUMNS} WHERE state = ${RUN.active} AND ${LEFT} ORDER BY runs.seq`;
const TAKE_RUNS = both`UPDATE runs SET holder = ?1 WHERE state = ${RUN.active} AND ${LEFT}`;
const FREE_ENTRIES = both`UPDATE outbox SET state = ${OUTBOX.queued}, due_at = 0, holder = NULL
  WHERE state = ${OUTBOX.active} AND ${LEFT}`;
const FREE_EVENTS = `UPDATE events SET holder = NULL WHERE ${leftEvents('?2')}`;
const LEADS = 'SELECT 1 FROM leaders WHERE name = ? AND holder = ?';
const LEAD = `INSERT INTO leaders (name, holder) VALUES (?1, ?2) ON CONFLICT (name) DO UPDATE SET holder = excluded.holder
  WHERE leaders.holder NOT IN (SELECT id FROM replicas)`;

/** One row where nothing was left, and somebody leads: whether it is this process. */
const NOTHING_LEFT = both`SELECT holder = ?1 AS leads FROM leaders JOIN replicas ON replicas.id = holder WHERE name = ?5 AND NOT EXISTS (
    SELECT 1 FROM runs WHERE state = ${RUN.active} AND ${left('?2')}
    UNION ALL SELECT 1 FROM outbox WHERE state = ${OUTBOX.active} AND ${left('?3')}
    UNION ALL SELECT 1 FROM events WHERE ${leftEvents('?4')})`;

/** There is one main session, and one process that takes its turns and sends its deliveries. */
const MAIN = 'main';

/** Asks whether there is anything to take over; no row where there is. */
export function leftQuestion(holder: string, { runs, outbox, isTurnTaken }: HeldWork): Question {
  return [NOTHING_LEFT, holder, JSON.stringify(runs), JSON.stringify(outbox), isTurnTaken ? 1 : 0, MAIN];
}

/**
 * Takes over what others left: their runs are held by this process from now on, their outbox entries are due, and a
 * turn that was cut off asks for a heartbeat. `held` is what this process is working on.
 */
export function takeOver(
  store: Store,
  held: HeldWork,
  lapsed: readonly LapsedReplica[],
): Omit<Succession, 'runs'> & { readonly runs: RunRow[] } {
  const { sql, counters, holder } = store;
  for (const { id, leaseUntil } of lapsed) sql.post(FORGET, id, leaseUntil);
  const known = JSON.stringify(held.runs);
  const runs = sql.all<RunRow>(LEFT_RUNS, holder, known);
  if (runs.length > 0) sql.post(TAKE_RUNS, holder, known);
  counters.queuedOutbox += sql.run(FREE_ENTRIES, holder, JSON.stringify(held.outbox));
  if (sql.run(FREE_EVENTS, holder, held.isTurnTaken ? 1 : 0) > 0) askForHeartbeat(store, 0);
  return { runs, isLeader: lead(store) };
}

function lead({ sql, holder }: Store): boolean {
  return sql.find(LEADS, MAIN, holder) !== undefined || sql.run(LEAD, MAIN, holder) > 0;
}
