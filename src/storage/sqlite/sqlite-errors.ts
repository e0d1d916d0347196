import { statfsSync } from 'node:fs';
import { dirname } from 'node:path';
import { HookError, type HookErrorCode } from '../../errors.ts';
import { StorageError, type StorageErrorCode } from '../storage-error.ts';

/** An error on its way between threads. */
export interface SerializedError {
  readonly family: 'hook' | 'storage';
  readonly code: string;
  readonly message: string;
  readonly retryAfterSeconds?: number;
}

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
      return explain('disk_full', 'no space is left for the store; free some on its disk');
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
        `the store is damaged (${reason}); restore a copy made by "sluice storage backup", or move the file away and start with an empty one`,
      );
    case SQLITE.busy:
    case SQLITE.locked:
      return explain('busy', 'another process holds the store; try again when its command has ended');
    case SQLITE.ioerr:
      if (isDiskFull(file))
        return explain('disk_full', 'no space is left for the store; free some on its disk');
      return explain('failed', `the disk reports an error (${reason}); look at the system's log`);
    default:
      return explain('failed', reason);
  }
}

/** Making the log's index on a full disk is reported as an input/output error. */
function isDiskFull(file: string): boolean {
  try {
    return statfsSync(dirname(file)).bavail === 0;
  } catch {
    return false;
  }
}

export function serializeError(error: unknown, file: string): SerializedError {
  if (error instanceof HookError) {
    const { code, detail, retryAfterSeconds } = error;
    return {
      family: 'hook',
      code,
      message: detail,
      ...(retryAfterSeconds !== undefined && { retryAfterSeconds }),
    };
  }
  const { code, message } = explainSqliteError(error, file);
  return { family: 'storage', code, message };
}

export function deserializeError(serialized: SerializedError): HookError | StorageError {
  if (serialized.family === 'storage') return storageErrorOf(serialized);
  return new HookError(
    serialized.code as HookErrorCode,
    serialized.message,
    serialized.retryAfterSeconds === undefined ? {} : { retryAfterSeconds: serialized.retryAfterSeconds },
  );
}

export function storageErrorOf({ code, message }: SerializedError): StorageError {
  return new StorageError(code as StorageErrorCode, message);
}

/** What a sender is told when its request could not be stored; the reason is for the log. */
export function unavailable(cause: StorageError): HookError {
  return new HookError('storage_unavailable', 'the store cannot take requests at the moment', {
    retryAfterSeconds: cause.code === 'disk_full' || cause.code === 'replaced' ? 30 : 2,
    cause,
  });
}
