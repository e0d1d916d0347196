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
  /** Another process held the store longer than we waited. */
  | 'busy'
  /** A file that would be overwritten. */
  | 'exists'
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
