import type { LeftOutWork, QueueSelection, RetryRows, WorkChange, WorkPlan } from '../records.ts';
import { conditionOf } from './row-queries.ts';
import {
  ASKING,
  CHECKING,
  ENDED_BADLY,
  EVENT,
  FAILED_RUN,
  IS_CLAIMED_WHEN_DUE,
  OUTBOX,
  RUN,
  RUN_BY_ID,
  type RunRow,
  type Table,
} from './rows.ts';
import { both, by, type SqlQuestion, type Sql, type SqlValue, type Statements } from './statements.ts';
import type { Store } from './store.ts';

/** Which rows a change of a selection would change, which it leaves out, and why: in one place for plan and change. */

/** Rows of one table in some states. */
interface Choice {
  readonly table: Table;
  readonly where: Sql | string;
  readonly values?: readonly SqlValue[];
  /** Where SQLite would walk through the whole table otherwise, as the rows are wanted in its order. */
  readonly index?: string;
}

/** At what time, and which runner runs have that name none. */
export interface ChoiceOptions {
  readonly nowMs: number;
  readonly defaultRunner?: string;
}

/** Rows that `retry` and `drop` look at in one step. */
const STEP_ROWS = 200;
const MAX_PLANNED = 10_000;
const REFUSED = "error_code IN ('denied', 'not_approved')";
const DEAD_RUN = `state = ${RUN.dead}`;
const DUE = `state <= ${RUN.waiting} AND state <= ${RUN.ready}`;
const WAITING = `state = ${RUN.waiting} AND ${IS_CLAIMED_WHEN_DUE}`;
const ASKED = `state = ${RUN.waiting} AND gather_key = '${ASKING}'`;
/** Whether the account may start it is not known, or it may not. */
const UNDECIDED = `state = ${RUN.waiting} AND gather_key = '${CHECKING}'`;
const NOT_ALLOWED = `${ENDED_BADLY} AND error_code = 'not_allowed'`;
/** The mark of a service at work; one that is named goes on also where only the starts of its mapping are known. */
const MARKED = `${DUE} AND exempt = 0 AND mapping_id IN (SELECT mapping_id FROM limited_mappings)`;
const LIMITED = `${DUE} AND exempt = 0
  AND mapping_id IN (SELECT mapping_id FROM run_starts UNION SELECT mapping_id FROM limited_mappings)`;
const HELD = `${DUE} AND (runner IN (SELECT runner FROM runner_holds WHERE retry_at > ?)
  OR (runner = '' AND EXISTS (SELECT 1 FROM runner_holds WHERE runner = ? AND retry_at > ?)))`;

/** One row is named: what is denied or limited is begun so, and in no other way. */
const isNamed = (selection: QueueSelection): boolean =>
  selection.kind === 'ids' && selection.ids.length === 1;

const rows = (table: Table, where: Sql | string, ...values: SqlValue[]): Choice => ({ table, where, values });
const waiting = (where: string, ...values: SqlValue[]): Choice => ({
  ...rows('runs', where, ...values),
  index: 'runs_waiting',
});
const unsent = (where = 'true', ...values: SqlValue[]): Choice => ({
  ...rows('outbox', `state = ${OUTBOX.queued} AND ${where}`, ...values),
  index: 'outbox_queued',
});
const UNDER_WAY: Choice = { ...rows('runs', `state = ${RUN.active}`), index: 'runs_active' };

function chosenRows(
  change: WorkChange,
  selection: QueueSelection,
  { nowMs }: ChoiceOptions,
): readonly Choice[] {
  const now = Math.round(nowMs);
  switch (change) {
    case 'retry':
      return [
        rows('runs', `${DEAD_RUN}${isNamed(selection) ? '' : ` AND NOT ${REFUSED}`} AND ended_at <= ?`, now),
        rows('runs', `${FAILED_RUN} AND ended_at <= ?`, now),
        waiting(`${WAITING} AND due_at > ?`, now),
        ...(isNamed(selection) ? [rows('runs', LIMITED), waiting(UNDECIDED), rows('runs', NOT_ALLOWED)] : []),
        rows('outbox', `state = ${OUTBOX.dead} AND ended_at <= ?`, now),
        unsent('due_at > ?', now),
        rows('events', `state = ${EVENT.dead}`),
      ];
    case 'drop':
      return [
        rows('runs', `state <= ${RUN.waiting}`),
        rows('runs', DEAD_RUN),
        unsent(),
        rows('outbox', `state = ${OUTBOX.dead}`),
        rows('events', `state = ${EVENT.dead}`),
        ...(selection.kind === 'ids' ? [rows('events', `state = ${EVENT.pending}`)] : []),
      ];
    case 'approve':
    case 'deny':
      return [waiting(ASKED)];
    case 'cancel':
      return [UNDER_WAY];
  }
}

/** Due runs whose agent is away: a retry lets it be tried. */
const heldRows = ({ nowMs, defaultRunner = '' }: ChoiceOptions): Choice =>
  rows('runs', HELD, Math.round(nowMs), defaultRunner, Math.round(nowMs));

/** What a change leaves out of a selection, by why. */
function leftOutRows(
  change: WorkChange,
  selection: QueueSelection,
  { nowMs }: ChoiceOptions,
): readonly (readonly [LeftOutWork['reason'], Choice])[] {
  const active = ['active', UNDER_WAY] as const;
  if (change === 'drop') return [active, ['active', rows('outbox', `state = ${OUTBOX.active}`)]];
  if (change !== 'retry') return [];
  return [
    ...(isNamed(selection)
      ? []
      : ([
          ['refused', rows('runs', `${DEAD_RUN} AND ${REFUSED}`)],
          ['refused', waiting(UNDECIDED)],
          ['refused', rows('runs', NOT_ALLOWED)],
          ['limited', rows('runs', MARKED)],
        ] as const)),
    ['asking', waiting(ASKED)],
    ['due', rows('runs', DUE)],
    ['due', waiting(`${WAITING} AND due_at <= ?`, Math.round(nowMs))],
    ['due', unsent('due_at <= ?', Math.round(nowMs))],
    active,
    ['active', rows('outbox', `state = ${OUTBOX.active}`)],
  ];
}

/** Asks for the rows of a choice that a selection has; undefined where it has none of the table. */
function questionOf(
  selection: QueueSelection,
  { table, where, values = [], index }: Choice,
  columns: string,
): SqlQuestion | undefined {
  const [condition, ...given] = conditionOf(selection, table) ?? [];
  if (condition === undefined) return undefined;
  // What is named is found by its id.
  const hint = index === undefined || selection.kind === 'ids' ? '' : by(index);
  return [both`SELECT ${columns} FROM ${table} ${hint} WHERE ${where} AND ${condition}`, ...values, ...given];
}

/** The first rows of some choices in one table, in the order in which they came. */
function firstRows(
  sql: Statements,
  selection: QueueSelection,
  { choices, limit }: { readonly choices: readonly Choice[]; readonly limit: number },
): (table: Table) => readonly string[] {
  return (table) => {
    const found = choices.flatMap((choice) => {
      const question = choice.table === table ? questionOf(selection, choice, 'seq, id') : undefined;
      if (question === undefined) return [];
      const [text, ...values] = question;
      return sql.all<{ readonly seq: number; readonly id: string }>(
        both`${text} ORDER BY seq LIMIT ?`,
        ...values,
        limit,
      );
    });
    const inOrder = found.toSorted((a, b) => a.seq - b.seq).slice(0, limit);
    return inOrder.map(({ id }) => id);
  };
}

/** How many rows of some choices a selection has. */
function countRows(sql: Statements, selection: QueueSelection, choices: readonly Choice[]): number {
  const counts = choices.map((choice) => {
    const question = questionOf(selection, choice, 'count(*) AS count');
    return question === undefined ? 0 : (sql.find<{ count: number }>(...question)?.count ?? 0);
  });
  return counts.reduce((sum, each) => sum + each, 0);
}

/** What `retry` would begin next. What ends after `nowMs` was begun meanwhile. */
export function selectRetry({ sql }: Store, selection: QueueSelection, { nowMs }: ChoiceOptions): RetryRows {
  const choices = chosenRows('retry', selection, { nowMs });
  const of = firstRows(sql, selection, { choices, limit: STEP_ROWS });
  return { runs: of('runs'), outbox: of('outbox'), events: of('events') };
}

/** What `dropRows` would change next: runs as a whole, since what they post is made from them. */
export function selectDrop({ sql }: Store, selection: QueueSelection) {
  const choices = chosenRows('drop', selection, { nowMs: 0 });
  const of = firstRows(sql, selection, { choices, limit: STEP_ROWS });
  const runs = of('runs').flatMap((id) => sql.all<RunRow>(RUN_BY_ID, id));
  return { runs, outbox: of('outbox'), events: of('events') };
}

/** What a change of a selection would do to how many, and what it leaves out. */
export function planWork(
  { sql }: Store,
  change: WorkChange,
  { selection, ...options }: { readonly selection: QueueSelection } & ChoiceOptions,
): WorkPlan {
  const held = change === 'retry' ? [heldRows(options)] : [];
  const choices = [...chosenRows(change, selection, options), ...held];
  const count = (of: readonly Choice[]): number => countRows(sql, selection, of);
  const ids = selection.kind === 'ids' ? selection.ids : undefined;
  // One that is named may be limited, and its agent away.
  const countOf = (table: Table): number =>
    Math.min(ids?.length ?? Infinity, count(choices.filter((choice) => choice.table === table)));
  const first = firstRows(sql, selection, { choices, limit: MAX_PLANNED });
  const counts = { runs: countOf('runs'), outbox: countOf('outbox'), events: countOf('events') };
  const groups = Map.groupBy(leftOutRows(change, selection, options), ([reason]) => reason);
  const left = new Map<LeftOutWork['reason'], number>(
    [...groups].map(([reason, found]) => [reason, count(found.map(([, choice]) => choice))]),
  );
  // What is due is counted once: also what is limited, or whose agent is tried, is due.
  const due = left.get('due') ?? 0;
  left.set('due', Math.max(0, due - (left.get('limited') ?? 0) - count(held)));
  const known = [...Object.values(counts), ...left.values()].reduce((a, b) => a + b, 0);
  // Every id is accounted for.
  left.set('other', ids === undefined ? 0 : new Set(ids).size - known);
  return {
    ...counts,
    ids: [...new Set((['runs', 'outbox', 'events'] as const).flatMap(first))].slice(0, MAX_PLANNED),
    leftOut: [...left].flatMap(([reason, many]) => (many > 0 ? [{ reason, count: many }] : [])),
  };
}
