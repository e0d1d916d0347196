import type { SqlValue } from '../../engine/statements.ts';

/**
 * The operations are written in SQLite's dialect, kept to what PostgreSQL knows too. These are the differences: names of
 * indexes are hints, parameters are numbered, names with capitals are quoted, and three functions are called otherwise.
 */
export function toPostgres(text: string): string {
  let position = 0;
  return DIFFERENCES.reduce((changed, [found, wanted]) => changed.replaceAll(found, wanted), text).replaceAll(
    /\?(\d*)/g,
    (_, number: string) => `$${number === '' ? (position += 1) : number}`,
  );
}

/** In this order; the parameters, which come last, are numbered by themselves. */
const DIFFERENCES: readonly (readonly [found: RegExp | string, wanted: string])[] = [
  [/\bINDEXED BY \w+/g, ''],
  [
    /\bseq IN \(SELECT value FROM json_each\((\?\d*)\)\)/g,
    'seq IN (SELECT json_array_elements_text($1::json)::bigint)',
  ],
  [/IN \(SELECT value FROM json_each\((\?\d*)\)\)/g, 'IN (SELECT json_array_elements_text($1::json))'],
  ['char(10)', 'chr(10)'],
  ['last_insert_rowid()', 'lastval()'],
  [/\bAS ([a-z]+[A-Z]\w*)/g, 'AS "$1"'],
  // Nothing else says what a parameter is that is only compared with null.
  [/\?(\d+) IS NULL/g, '?$1::text IS NULL'],
];

/** PostgreSQL holds no NUL in a text: it and the escape itself are written as two characters. */
const ESCAPE = '\u{10FFFF}';

export function escapeText(text: string): string {
  if (!text.includes('\0') && !text.includes(ESCAPE)) return text;
  return text.replaceAll(ESCAPE, `${ESCAPE}1`).replaceAll('\0', `${ESCAPE}0`);
}

function unescapeText(text: string): string {
  if (!text.includes(ESCAPE)) return text;
  return text.replaceAll(`${ESCAPE}0`, '\0').replaceAll(`${ESCAPE}1`, ESCAPE);
}

export function toParameter(value: SqlValue): SqlValue {
  if (typeof value === 'string') return escapeText(value);
  // Every number of the schema is whole; a time that comes in may have a fraction.
  return typeof value === 'number' ? Math.floor(value) : value;
}

/** The rows of an answer, their texts as they were. */
export function rowsOf(rows: readonly object[] = []): object[] {
  return rows.map(unescapeRow);
}

export function unescapeRow(row: object): object {
  for (const [key, value] of Object.entries(row)) {
    if (typeof value === 'string') (row as Record<string, unknown>)[key] = unescapeText(value);
  }
  return row;
}
