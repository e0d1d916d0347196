import { existsSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { newestVersion } from '../statements/migrations.ts';
import type { StoreStatus } from '../store-status.ts';
import { explainSqliteError } from './sqlite-errors.ts';
import { examineFile } from './worker/database-file.ts';
import { takePerformerLock } from './worker/performer-lock.ts';

/** Looks at a file without changing it; @throws StorageError where it is no store that this Sluice can use. */
export function sqliteStatus(file: string): StoreStatus {
  const newest = newestVersion('sqlite');
  const status = { engine: 'sqlite', place: file, newest, services: [] } as const;
  try {
    if (examineFile(file) !== 'store') return { ...status, version: 0 };
    const database = new DatabaseSync(file, { readOnly: true, timeout: 5000 });
    try {
      const version = Number(Object.values(database.prepare('PRAGMA user_version').get() ?? {})[0]);
      const copyOf = version < newest ? undefined : copySource(database);
      const services = isPerformed(file) ? [{ id: 'performer', role: 'all' }] : [];
      return { ...status, version, services, ...(copyOf === undefined ? {} : { copyOf }) };
    } finally {
      database.close();
    }
  } catch (error) {
    throw explainSqliteError(error, file);
  }
}

function copySource(database: DatabaseSync): string | undefined {
  const row = database.prepare('SELECT source FROM store_copy').get();
  return row === undefined ? undefined : String(row['source']);
}

/** Whether a service holds the lock. */
function isPerformed(file: string): boolean {
  if (!existsSync(`${file}.lock`)) return false;
  try {
    takePerformerLock(file).release();
    return false;
  } catch {
    return true;
  }
}
