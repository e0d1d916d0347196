import type { DatabaseSync } from 'node:sqlite';

/** The version of SQLite that can tell how far checkpoints are without making one. */
const COUNTS_SINCE = [3, 51] as const;

/** Pages in the log, and how many of them are copied into the store. */
export interface LogPages {
  readonly log: number;
  readonly checkpointed: number;
}

/** Undefined where the store cannot be asked: this SQLite would make a checkpoint, or the store is being replaced. */
export type CountPages = () => LogPages | undefined;

/**
 * Makes what counts the pages in the log; takes some microseconds. SQLite is asked: to read its files would break them,
 * as closing a file ends all locks that this process has on it (sqlite.org/howtocorrupt.html, "Posix advisory locks
 * canceled by a separate thread doing close()").
 */
export function createPageCounter(database: DatabaseSync): CountPages {
  const { version } = database.prepare('SELECT sqlite_version() AS version').get() as { version: string };
  const [major = 0, minor = 0] = version.split('.').map(Number);
  if (major < COUNTS_SINCE[0] || (major === COUNTS_SINCE[0] && minor < COUNTS_SINCE[1]))
    return () => undefined;
  const statement = database.prepare('PRAGMA wal_checkpoint(NOOP)');
  return () => {
    try {
      return statement.get() as object as LogPages;
    } catch {
      return undefined;
    }
  };
}
