import type { ListQuery, QueueSelection } from '../records.ts';
import { both, listed, type Sql } from './dialects.ts';
import { type Table, stateRange } from './rows.ts';
import type { Statements } from './statements.ts';

/** Rows that `retry` and `drop` look at in one step. */
const STEP_ROWS = 200;

interface Listing {
  readonly table: Table;
  readonly columns: string;
  readonly query: ListQuery;
}

/** Newest first. State bounds are literals, so that the partial indexes of the schema can serve them. */
export function listRows<Row>(
  sql: Statements,
  { table, columns, query }: Listing,
  wanted: readonly (readonly [column: string, value: string | undefined])[],
): Row[] {
  const conditions: string[] = [];
  if (query.state !== undefined) {
    const range = stateRange(table, query.state);
    if (range === undefined) return [];
    const [from, to] = range;
    conditions.push(from === to ? `state = ${from}` : `state <= ${to}`);
  }
  const given = wanted.flatMap(([column, value]) => (value === undefined ? [] : [{ column, value }]));
  conditions.push(...given.map(({ column }) => `${column} = ?`));
  const { before, among } = query;
  const newest =
    before === undefined ? `SELECT max(seq) + 1 FROM ${table}` : `SELECT seq FROM ${table} WHERE id = ?`;
  if (before !== undefined) conditions.push(`${table}.seq < (${newest})`);
  if (among !== undefined) conditions.push(`${table}.seq >= (${newest}) - ${atMost(among)}`);
  const where = conditions.length === 0 ? '' : `WHERE ${conditions.join(' AND ')}`;
  const text = `SELECT ${columns} ${where} ORDER BY ${table}.seq DESC LIMIT ?`;
  const starts = before === undefined ? [] : among === undefined ? [before] : [before, before];
  const values = [...given.map(({ value }) => value), ...starts];
  return sql.all<Row>(text, ...values, atMost(query.limit));
}

interface Choice {
  readonly table: Table;
  readonly states: string;
  readonly and?: { readonly text: string; readonly value: number };
  readonly limit?: number;
}

/** Ids of a selection's next rows in one table. */
export function selectIds(
  sql: Statements,
  selection: QueueSelection,
  { table, states, and, limit = STEP_ROWS }: Choice,
): string[] {
  const [condition, ...given] = conditionOf(selection);
  const found = and === undefined ? states : `${states} AND ${and.text}`;
  const text = both`SELECT id FROM ${table} WHERE ${found} AND ${condition} ORDER BY seq LIMIT ?`;
  const values = and === undefined ? given : [and.value, ...given];
  return sql.all<{ id: string }>(text, ...values, limit).map(({ id }) => id);
}

/** What a selection says of the rows of one table, with the values of its places. */
export function conditionOf(selection: QueueSelection): Condition {
  switch (selection.kind) {
    case 'ids':
      return [both`id IN ${listed('?')}`, JSON.stringify(selection.ids)];
    case 'mapping':
      return withError(['mapping_id = ?', selection.mappingId], selection.errorCode);
    case 'all':
      return withError(['true'], selection.errorCode);
  }
}

type Condition = [condition: Sql, ...values: string[]];

function withError([condition, ...values]: Condition, errorCode: string | undefined): Condition {
  return errorCode === undefined
    ? [condition, ...values]
    : [both`${condition} AND error_code = ?`, ...values, errorCode];
}

/** A number SQLite takes as a limit; a negative one would mean none. */
export function atMost(limit: number): number {
  return Math.min(Math.max(Math.trunc(limit), 0), Number.MAX_SAFE_INTEGER);
}
