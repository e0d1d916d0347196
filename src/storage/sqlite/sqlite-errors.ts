import { statfsSync } from 'node:fs';
import { dirname } from 'node:path';
import { StorageError, type StorageErrorCode } from '../storage-error.ts';

/** Primary result codes of SQLite (sqlite.org/rescode.html). */
const SQLITE = {
  busy: 5,
  locked: 6,
  readonly: 8,
  ioerr: 10,
  corrupt: 11,
  full: 13,
  cantopen: 14,
  notadb: 26,
} as const;

/** Says what to do about an error of the engine on this file. */
export function explainSqliteError(error: unknown, file: string): StorageError {
  if (error instanceof StorageError) return error;
  const errcode = error instanceof Error && 'errcode' in error ? Number(error.errcode) & 0xff : -1;
  const reason = error instanceof Error ? error.message : String(error);
  const explain = (code: StorageErrorCode, text: string) =>
    new StorageError(code, `${file}: ${text}`, { cause: error });
  switch (errcode) {
    case SQLITE.full:
      return noRoom(file, error);
    case SQLITE.readonly:
      return explain(
        'read_only',
        `the store cannot be written (${reason}); make the file and its folder writable`,
      );
    case SQLITE.cantopen:
      return explain(
        'unwritable',
        `the store cannot be opened (${reason}); check that its folder exists and belongs to this user`,
      );
    case SQLITE.corrupt:
    case SQLITE.notadb:
      return explain(
        'corrupt',
        `the store is damaged (${reason}); bring back a copy of "sluice storage backup" with "sluice storage restore", or move the file away and start with an empty one`,
      );
    case SQLITE.busy:
    case SQLITE.locked:
      return explain('busy', 'another process holds the store; try again when its command has ended');
    case SQLITE.ioerr:
      if (isDiskFull(file)) return noRoom(file, error);
      return explain('failed', `the disk reports an error (${reason}); look at the system's log`);
    default:
      return explain('failed', reason);
  }
}

export function noRoom(file: string, cause?: unknown): StorageError {
  return new StorageError('disk_full', `${file}: no space is left for the store; free some on its disk`, {
    cause,
  });
}

/** Making the log's index on a full disk is reported as an input/output error. */
function isDiskFull(file: string): boolean {
  try {
    return statfsSync(dirname(file)).bavail === 0;
  } catch {
    return false;
  }
}
