import { HookError, type HookErrorCode } from '../../base/errors.ts';

export type StorageErrorCode =
  /** The storage.url cannot be used. */
  | 'invalid_url'
  /** Attached to, but there is no store yet. */
  | 'not_found'
  /** Another service performs from this store. */
  | 'locked'
  | 'newer_schema'
  | 'corrupt'
  /** The file is something else: not SQLite, or another program's database. */
  | 'not_a_store'
  | 'read_only'
  | 'unwritable'
  | 'disk_full'
  /** The database server does not answer; it is tried again by itself. */
  | 'unreachable'
  /** Another process held the store longer than we waited. */
  | 'busy'
  /** The file was moved away or replaced while it was open: new work in it would never be found. */
  | 'replaced'
  /** The target of a copy that has not ended. */
  | 'unfinished_copy'
  /** A file that would be overwritten. */
  | 'exists'
  /** What was asked holds a value that the database cannot read: to ask again does not help. */
  | 'unreadable'
  /** Used after close. */
  | 'closed'
  | 'failed';

/** A store that cannot be opened or used. The message says what is wrong, where, and what to do. */
export class StorageError extends Error {
  override readonly name = 'StorageError';
  readonly code: StorageErrorCode;

  constructor(code: StorageErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}

/** Whether a store can take requests. It recovers by itself; only `failed` may need a restart of the service. */
export type StorageHealth =
  | { readonly kind: 'ok' }
  | {
      readonly kind: 'unavailable';
      readonly code: StorageErrorCode;
      /** What is wrong, where, and what to do; names the file. */
      readonly message: string;
      /** Milliseconds since the epoch. */
      readonly since: number;
    };

/** An error on its way between threads. */
export interface SerializedError {
  readonly family: 'hook' | 'storage';
  readonly code: string;
  readonly message: string;
  readonly retryAfterSeconds?: number;
}

export function serializeError(error: unknown, explain: (error: unknown) => StorageError): SerializedError {
  if (error instanceof HookError) {
    const { code, detail, retryAfterSeconds } = error;
    return {
      family: 'hook',
      code,
      message: detail,
      ...(retryAfterSeconds !== undefined && { retryAfterSeconds }),
    };
  }
  const { code, message } = explain(error);
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

const WAITS_FOR_OPERATOR: ReadonlySet<StorageErrorCode> = new Set(['disk_full', 'replaced', 'corrupt']);

/** The answer to a sender whose request could not be stored; the reason is for the log. */
export function unavailable(cause: StorageError): HookError {
  if (cause.code === 'unreadable') return new HookError('invalid_field', cause.message);
  return new HookError('storage_unavailable', 'the store cannot take requests at the moment', {
    retryAfterSeconds: WAITS_FOR_OPERATOR.has(cause.code) ? 30 : 2,
    cause,
  });
}
