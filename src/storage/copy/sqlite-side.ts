import type { DatabaseSync } from 'node:sqlite';
import { findBroken } from '../engine/invariants.ts';
import type { SqlValue } from '../engine/statements.ts';
import { explainSqliteError } from '../sqlite/sqlite-errors.ts';
import { connect, createFile, examineFile, makeFolder } from '../sqlite/worker/database-file.ts';
import { takePerformerLock } from '../sqlite/worker/performer-lock.ts';
import { SqliteStatements } from '../sqlite/worker/sqlite-statements.ts';
import { StorageError } from '../storage-error.ts';
import { COPIED_TABLES, type CopiedRow, type CopyPosition, type CopySide } from './copied-tables.ts';

const NO_OWNERS = { mappings: {}, sharedPrefixes: [] };

/** Locks a file as a service does; a target is made where there is none. */
export function openSqliteSide(file: string, role: 'source' | 'target'): CopySide {
  try {
    if (examineFile(file) !== 'store') makeTarget(file, role);
    const lock = takePerformerLock(file);
    try {
      const database = connect(file, { fsync: true, mayMigrate: role === 'target', owners: NO_OWNERS });
      // Commands that change the store beside a service wait, too.
      if (role === 'source') database.exec('BEGIN IMMEDIATE');
      return sideOf(database, file, () => lock.release());
    } catch (error) {
      lock.release();
      throw error;
    }
  } catch (error) {
    throw explainSqliteError(error, file);
  }
}

function makeTarget(file: string, role: 'source' | 'target'): void {
  if (role === 'source')
    throw new StorageError('not_found', `${file}: there is no store; name the file of storage.url`);
  makeFolder(file);
  createFile(file);
}

function sideOf(database: DatabaseSync, place: string, release: () => void): CopySide {
  const sql = new SqliteStatements(database);
  const count = (table: string): number =>
    sql.find<{ count: number }>(`SELECT count(*) AS count FROM ${table}`)?.count ?? 0;
  const save = (position: CopyPosition): void => {
    sql.run('UPDATE store_copy SET position = ?', JSON.stringify(position));
  };
  const inTransaction = (change: () => void): void => {
    database.exec('BEGIN IMMEDIATE');
    try {
      change();
      database.exec('COMMIT');
    } catch (error) {
      if (database.isTransaction) database.exec('ROLLBACK');
      throw explainSqliteError(error, place);
    }
  };
  return {
    place,
    read: async (table, after, limit) => readRows(sql, table, { after, limit }),
    count: async (table) => count(table),
    findCopy: async () => {
      const row = sql.find<{ source: string; position: string }>('SELECT source, position FROM store_copy');
      return row && { source: row.source, position: JSON.parse(row.position) as CopyPosition };
    },
    begin: async (source, position) =>
      inTransaction(() => {
        for (const table of Object.keys(COPIED_TABLES)) sql.run(`DELETE FROM ${table}`);
        sql.run('DELETE FROM store_copy');
        sql.run(
          'INSERT INTO store_copy (one, source, position) VALUES (1, ?, ?)',
          source,
          JSON.stringify(position),
        );
      }),
    write: async (table, rows, position) =>
      inTransaction(() => {
        for (const row of rows) insertRow(sql, table, row);
        save(position);
      }),
    verify: async () => findBroken(sql),
    finish: async () => inTransaction(() => sql.run('DELETE FROM store_copy')),
    close: async () => {
      database.close();
      release();
    },
  };
}

function readRows(
  sql: SqliteStatements,
  table: string,
  { after, limit }: { readonly after: readonly SqlValue[] | undefined; readonly limit: number },
): CopiedRow[] {
  const keys = (COPIED_TABLES[table] ?? []).join(', ');
  const behind = after === undefined ? '' : `WHERE (${keys}) > (${after.map(() => '?').join(', ')})`;
  return sql.all<CopiedRow>(
    `SELECT * FROM ${table} ${behind} ORDER BY ${keys} LIMIT ?`,
    ...(after ?? []),
    limit,
  );
}

function insertRow(sql: SqliteStatements, table: string, row: CopiedRow): void {
  const columns = Object.keys(row);
  const marks = columns.map(() => '?').join(', ');
  sql.run(`INSERT INTO ${table} (${columns.join(', ')}) VALUES (${marks})`, ...Object.values(row));
}
