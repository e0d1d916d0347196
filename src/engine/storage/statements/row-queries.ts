import type { ListQuery, QueueSelection } from '../records.ts';
import { stateRange, type Table } from './rows.ts';
import { both, listed, type Sql, type SqlValue, type Statements } from './statements.ts';
import type { Store } from './store.ts';

/** Newest first. State bounds are literals, so that the partial indexes of the schema can serve them. */
export function listRows<Row>(
  sql: Statements,
  { table, columns, query }: { readonly table: Table; readonly columns: string; readonly query: ListQuery },
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
  const newest = endOf(table, before);
  if (before !== undefined) conditions.push(`${table}.seq < (${newest})`);
  if (among !== undefined) conditions.push(`${table}.seq >= (${newest}) - ${atMost(among)}`);
  const where = conditions.length === 0 ? '' : `WHERE ${conditions.join(' AND ')}`;
  const text = `SELECT ${columns} ${where} ORDER BY ${table}.seq DESC LIMIT ?`;
  const starts = before === undefined ? [] : among === undefined ? [before] : [before, before];
  const values = [...given.map(({ value }) => value), ...starts];
  return sql.all<Row>(text, ...values, atMost(query.limit));
}

/** Behind the newest row, or the newest of those before an entry. */
const endOf = (table: Table, before: string | undefined): string =>
  `SELECT max(seq) + 1 FROM ${table}${before === undefined ? '' : ` WHERE seq < (SELECT seq FROM ${table} WHERE id = ?)`}`;

/**
 * The id of the oldest entry that a list with these `before` and `among` looks at, where there are older ones: what to
 * ask as `before` for those. The rest of the query does not matter.
 */
export function oldestAmong(
  { sql }: Store,
  table: 'runs' | 'outbox',
  { before, among }: Pick<ListQuery, 'before' | 'among'>,
): string | undefined {
  if (among === undefined) return undefined;
  const text = `SELECT id FROM ${table} WHERE seq > (SELECT max(seq) FROM ${table}
    WHERE seq < (${endOf(table, before)}) - ${atMost(among)}) ORDER BY seq LIMIT 1`;
  return sql.find<{ id: string }>(text, ...(before === undefined ? [] : [before]))?.id;
}

/** What a selection says of the rows of one table, with the values of its places; undefined where it has none of it. */
export function conditionOf(selection: QueueSelection, table: Table): RowCondition | undefined {
  if (selection.kind === 'ids') return [both`id IN ${listed('?')}`, JSON.stringify(selection.ids)];
  const { of, state, errorCode, until } = selection;
  const range = state === undefined ? undefined : stateRange(table, state);
  if ((of !== undefined && of !== table) || (state !== undefined && range === undefined)) return undefined;
  const parts: readonly (readonly [text: string, value?: SqlValue])[] = [
    selection.kind === 'mapping' ? ['mapping_id = ?', selection.mappingId] : ['true'],
    ...(range === undefined ? [] : ([[`state BETWEEN ${range[0]} AND ${range[1]}`]] as const)),
    ...(errorCode === undefined ? [] : ([['error_code = ?', errorCode]] as const)),
    ...(until === undefined
      ? []
      : ([[`${table === 'runs' ? 'accepted_at' : 'created_at'} <= ?`, Math.round(until)]] as const)),
  ];
  return [
    parts.map(([text]) => text).join(' AND '),
    ...parts.flatMap(([, value]) => (value === undefined ? [] : [value])),
  ];
}

type RowCondition = readonly [condition: Sql, ...values: SqlValue[]];

/** A number SQLite takes as a limit; a negative one would mean none. */
export function atMost(limit: number): number {
  return Math.min(Math.max(Math.trunc(limit), 0), Number.MAX_SAFE_INTEGER);
}
