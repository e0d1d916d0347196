import { OUTBOX, RUN } from './rows.ts';
import { hasHead } from './session-queue.ts';
import { both, type Sql, type Statements } from './statements.ts';
import { columnOf, COUNTED_ROWS } from './store.ts';

/** What `first-tables.ts` promises about the rows: each entry counts the rows that break it. */
const invariants = (totals: string): readonly (readonly [finding: string, text: Sql])[] => [
  [
    'conversations with more than one ready or active run',
    `SELECT count(*) AS broken FROM (SELECT 1 FROM runs WHERE state IN (${RUN.ready}, ${RUN.active})
       GROUP BY owner, session_key HAVING count(*) > 1) AS crowded`,
  ],
  [
    'blocked runs with no run before them',
    both`SELECT count(*) AS broken FROM runs AS behind WHERE state = ${RUN.blocked} AND NOT ${hasHead('behind.line')}`,
  ],
  [
    'deliveries that wait for no earlier one',
    `SELECT count(*) AS broken FROM outbox AS waiting WHERE state = ${OUTBOX.queued} AND behind = 1 AND NOT EXISTS (
       SELECT 1 FROM outbox WHERE recipient = waiting.recipient AND state <= ${OUTBOX.active} AND behind = 0)`,
  ],
  [
    'runs that a worker carries and that are not active',
    `SELECT count(*) AS broken FROM runs WHERE worker_until > 0 AND state <> ${RUN.active}`,
  ],
  [
    'runs without an action',
    'SELECT count(*) AS broken FROM runs WHERE seq NOT IN (SELECT seq FROM run_actions)',
  ],
  [
    'actions without a run',
    'SELECT count(*) AS broken FROM run_actions WHERE seq NOT IN (SELECT seq FROM runs)',
  ],
  [
    'gathered events without their run, or a wrong number of them',
    `SELECT (SELECT count(*) FROM run_events WHERE run_seq NOT IN (SELECT seq FROM runs))
       + (SELECT count(*) FROM runs WHERE gathered <> (SELECT coalesce(max(position) + 1, 0) FROM run_events WHERE run_seq = runs.seq)) AS broken`,
  ],
  [
    'events that wait for a conversation without their run, or their keys without them',
    `SELECT (SELECT count(*) FROM waiting_events WHERE run_id NOT IN (SELECT id FROM runs WHERE state = ${RUN.waiting}))
       + (SELECT count(*) FROM waited_keys WHERE run_id NOT IN (SELECT run_id FROM waiting_events)) AS broken`,
  ],
  ...COUNTED_ROWS.map(([field, table, rows]) => {
    const column = columnOf(field);
    const text = `SELECT abs((SELECT ${column} FROM ${totals}) - (SELECT count(*) FROM ${table} WHERE ${rows})) AS broken`;
    return [`difference of the counter ${column}`, text] as const;
  }),
  [
    'difference of the counter run_bytes',
    `SELECT abs((SELECT run_bytes FROM ${totals})
       - (SELECT coalesce(sum(bytes), 0) FROM runs WHERE state <= ${RUN.active})) AS broken`,
  ],
];

/** What does not fit together; empty where all is well. */
export function findBroken(sql: Statements): readonly string[] {
  return invariants(sql.totals).flatMap(([finding, text]) => {
    const { broken } = sql.find<{ readonly broken: number }>(text) ?? { broken: 0 };
    return broken === 0 ? [] : [`${finding}: ${broken}`];
  });
}
