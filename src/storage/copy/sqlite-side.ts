import type { DatabaseSync } from 'node:sqlite';
import { findBroken } from '../engine/invariants.ts';
import type { SqlValue } from '../engine/statements.ts';
import { explainSqliteError } from '../sqlite/sqlite-errors.ts';
import { connect, createFile, examineFile, makeFolder } from '../sqlite/worker/database-file.ts';
import { type PerformerLock, takePerformerLock } from '../sqlite/worker/performer-lock.ts';
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
      return new SqliteSide(database, file, lock);
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

class SqliteSide implements CopySide {
  readonly place: string;
  readonly #database: DatabaseSync;
  readonly #lock: PerformerLock;
  readonly #sql: SqliteStatements;

  constructor(database: DatabaseSync, place: string, lock: PerformerLock) {
    this.place = place;
    this.#database = database;
    this.#lock = lock;
    this.#sql = new SqliteStatements(database);
  }

  async read(table: string, after: readonly SqlValue[] | undefined, limit: number): Promise<CopiedRow[]> {
    return readRows(this.#sql, table, { after, limit });
  }

  async count(table: string): Promise<number> {
    return this.#sql.find<{ count: number }>(`SELECT count(*) AS count FROM ${table}`)?.count ?? 0;
  }

  async findCopy(): Promise<{ readonly source: string; readonly position: CopyPosition } | undefined> {
    const text = 'SELECT source, position FROM store_copy';
    const row = this.#sql.find<{ source: string; position: string }>(text);
    return row && { source: row.source, position: JSON.parse(row.position) as CopyPosition };
  }

  async begin(source: string, position: CopyPosition): Promise<void> {
    const insert = 'INSERT INTO store_copy (one, source, position) VALUES (1, ?, ?)';
    this.#inTransaction((sql) => {
      for (const table of Object.keys(COPIED_TABLES)) sql.run(`DELETE FROM ${table}`);
      sql.run('DELETE FROM store_copy');
      sql.run(insert, source, JSON.stringify(position));
    });
  }

  async write(table: string, rows: readonly CopiedRow[], position: CopyPosition): Promise<void> {
    this.#inTransaction((sql) => {
      for (const row of rows) insertRow(sql, table, row);
      sql.run('UPDATE store_copy SET position = ?', JSON.stringify(position));
    });
  }

  async verify(): Promise<readonly string[]> {
    return findBroken(this.#sql);
  }

  async finish(): Promise<void> {
    this.#inTransaction((sql) => sql.run('DELETE FROM store_copy'));
  }

  async close(): Promise<void> {
    this.#database.close();
    this.#lock.release();
  }

  #inTransaction(change: (sql: SqliteStatements) => void): void {
    const database = this.#database;
    database.exec('BEGIN IMMEDIATE');
    try {
      change(this.#sql);
      database.exec('COMMIT');
    } catch (error) {
      if (database.isTransaction) database.exec('ROLLBACK');
      throw explainSqliteError(error, this.place);
    }
  }
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
