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
