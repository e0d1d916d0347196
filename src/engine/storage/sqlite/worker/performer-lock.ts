import { closeSync, existsSync, openSync, rmSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { StorageError } from '../../storage-error.ts';

export interface PerformerLock {
  release(): void;
  /** Releases, and takes away a lock file that was not there before: for a start that failed. */
  undo(): void;
}

/**
 * One service performs from a store. The lock is an exclusive transaction that is never ended, on a file of its own:
 * the kernel frees it when the process goes, however it goes, and the store itself stays open to the command line.
 * @throws StorageError `locked`
 */
export function takePerformerLock(file: string): PerformerLock {
  const lockFile = `${file}.lock`;
  const isNew = !existsSync(lockFile);
  closeSync(openSync(lockFile, 'a', 0o600));
  const database = lockWhole(lockFile, file);
  let isHeld = true;
  const release = () => {
    if (isHeld) database.close();
    isHeld = false;
  };
  return {
    release,
    undo() {
      if (isNew) rmSync(lockFile, { force: true });
      release();
    },
  };
}

function lockWhole(lockFile: string, file: string): DatabaseSync {
  const database = new DatabaseSync(lockFile, { timeout: 0 });
  try {
    database.exec('PRAGMA journal_mode = MEMORY');
    database.exec('BEGIN EXCLUSIVE');
    return database;
  } catch (error) {
    database.close();
    throw new StorageError(
      'locked',
      `${file}: another Sluice service is using this store; stop it first, or give this one a storage.url of its own`,
      { cause: error },
    );
  }
}
