import type { HeldWork, LapsedReplica, Succession } from '../records.ts';
import { both } from './dialects.ts';
import { askForHeartbeat } from './event-rows.ts';
import { left, leftEvents, MAIN } from './left-work.ts';
import { RUN_COLUMNS, type RunRow } from './rows.ts';
import { OUTBOX, RUN } from './states.ts';
import type { Store } from './store.ts';

/*
 * What becomes of the work of a process that is gone. Who claims a run, an outbox entry or events writes itself down as
 * their holder. A process that shares the store has a row in `replicas` as long as it lives; without that row nobody
 * holds what it held. A process that has the store for itself has none, and neither had those before it.
 */

const FORGET = 'DELETE FROM replicas WHERE id = ? AND lease_until = ?';
const LEFT = left('?2');
const LEFT_RUNS = both`SELECT ${RUN_COLUMNS} WHERE state = ${RUN.active} AND ${LEFT} ORDER BY runs.seq`;
const TAKE_RUNS = both`UPDATE runs SET holder = ?1 WHERE state = ${RUN.active} AND ${LEFT}`;
const FREE_ENTRIES = both`UPDATE outbox SET state = ${OUTBOX.queued}, due_at = 0, holder = NULL
  WHERE state = ${OUTBOX.active} AND ${LEFT}`;
const FREE_EVENTS = `UPDATE events SET holder = NULL WHERE ${leftEvents('?2')}`;
const LEADS = 'SELECT 1 FROM leaders WHERE name = ? AND holder = ?';
const LEAD = `INSERT INTO leaders (name, holder) VALUES (?1, ?2) ON CONFLICT (name) DO UPDATE SET holder = excluded.holder
  WHERE leaders.holder NOT IN (SELECT id FROM replicas)`;

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
