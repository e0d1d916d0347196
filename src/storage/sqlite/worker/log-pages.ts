import type { DatabaseSync } from 'node:sqlite';

/** The version of SQLite that can tell how far checkpoints are without making one. */
const COUNTS_SINCE = [3, 51] as const;

/** Whether pages of the log can be counted; older versions would make a checkpoint instead. */
export function canCountPages(database: DatabaseSync): boolean {
  const { version } = database.prepare('SELECT sqlite_version() AS version').get() as { version: string };
  const [major = 0, minor = 0] = version.split('.').map(Number);
  return major > COUNTS_SINCE[0] || (major === COUNTS_SINCE[0] && minor >= COUNTS_SINCE[1]);
}

/**
 * Makes what counts the pages in the log that are not yet copied into the store; takes some microseconds. SQLite is
 * asked: to read its files would break them, as closing a file ends all locks that this process has on it
 * (sqlite.org/howtocorrupt.html, "Posix advisory locks canceled by a separate thread doing close()").
 */
export function createPageCounter(database: DatabaseSync): () => number {
  const statement = database.prepare('PRAGMA wal_checkpoint(NOOP)');
  return () => {
    const { log, checkpointed } = statement.get() as { log: number; checkpointed: number };
    return log - checkpointed;
  };
}
