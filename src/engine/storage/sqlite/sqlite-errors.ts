import { statfsSync } from 'node:fs';
import { dirname } from 'node:path';
import { messageOf } from '../../../base/errors.ts';
import { StorageError, type StorageErrorCode } from '../storage-error.ts';

/** Primary result codes of SQLite (sqlite.org/rescode.html). */
const IOERR = 10;
const FULL = 13;

/** Where the file itself is broken. */
export const GO_BACK =
  'bring back a copy of "sluice storage backup" with "sluice storage restore", or move the file away and start with an empty one';

/** Says what to do about an error of the engine on this file. */
export function explainSqliteError(error: unknown, file: string): StorageError {
  if (error instanceof StorageError) return error;
  const errcode = error instanceof Error && 'errcode' in error ? Number(error.errcode) & 0xff : -1;
  const isFull = errcode === FULL || (errcode === IOERR && isDiskFull(file));
  if (isFull) return diskFull(file, error);
  const [code, text] = MEANINGS[errcode] ?? FAILED;
  return new StorageError(code, `${file}: ${text(messageOf(error))}`, { cause: error });
}

type SqliteMeaning = readonly [code: StorageErrorCode, text: (reason: string) => string];

const FAILED: SqliteMeaning = ['failed', (reason) => reason];
const CORRUPT: SqliteMeaning = ['corrupt', (reason) => `the store is damaged (${reason}); ${GO_BACK}`];
const BUSY: SqliteMeaning = ['busy', () => 'another process holds the store; end it, or try again later'];

/** Busy and locked, read only, an error of the disk, corrupt, cannot open, no database. */
const MEANINGS: Readonly<Record<number, SqliteMeaning>> = {
  5: BUSY,
  6: BUSY,
  8: [
    'read_only',
    (reason) => `the store cannot be written (${reason}); make the file and its folder writable`,
  ],
  [IOERR]: ['failed', (reason) => `the disk reports an error (${reason}); look at the system's log`],
  11: CORRUPT,
  14: [
    'unwritable',
    (reason) =>
      `the store cannot be opened (${reason}); check that its folder exists and belongs to this user`,
  ],
  26: CORRUPT,
};

export function diskFull(file: string, cause?: unknown): StorageError {
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
