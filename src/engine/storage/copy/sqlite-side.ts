import { explainSqliteError } from '../sqlite/sqlite-errors.ts';
import {
  connect,
  createFile,
  examineFile,
  makeFolder,
  takePerformerLock,
} from '../sqlite/worker/database-file.ts';
import { SqliteStatements } from '../sqlite/worker/sqlite-statements.ts';
import { StorageError } from '../storage-error.ts';
import { CopySide } from './copy-store.ts';

/** Locks a file as a service does; a target is made where there is none. */
export function openSqliteSide(file: string, role: 'source' | 'target'): CopySide {
  const explain = (error: unknown) => explainSqliteError(error, file);
  try {
    if (examineFile(file) !== 'store') makeTarget(file, role);
    const lock = takePerformerLock(file);
    try {
      const database = connect(file, { fsync: true, mayMigrate: role === 'target' });
      const sql = new SqliteStatements(database);
      // Commands that change the store beside a service wait, too.
      if (role === 'source') sql.run('BEGIN IMMEDIATE');
      const close = (): void => {
        database.close();
        lock.release();
      };
      return new CopySide({ place: file, sql, explain, close });
    } catch (error) {
      lock.release();
      throw error;
    }
  } catch (error) {
    throw explain(error);
  }
}

function makeTarget(file: string, role: 'source' | 'target'): void {
  if (role === 'source')
    throw new StorageError('not_found', `${file}: there is no store; name the file of storage.url`);
  makeFolder(file);
  createFile(file);
}
