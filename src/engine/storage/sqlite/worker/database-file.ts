import {
  accessSync,
  closeSync,
  constants,
  existsSync,
  fstatSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readSync,
  renameSync,
  rmSync,
  statSync,
} from 'node:fs';
import { dirname } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { pathToFileURL } from 'node:url';
import { messageOf } from '../../../../base/errors.ts';
import { newestVersion, refuseUnknown, stepsFrom } from '../../statements/migrations.ts';
import { StorageError } from '../../storage-error.ts';
import { explainSqliteError, GO_BACK } from '../sqlite-errors.ts';

/** Written into every store, so that another program's database is never taken for one ("SLUI"). */
export const APPLICATION_ID = 0x53_4c_55_49;
/** First bytes of every SQLite file (sqlite.org/fileformat.html). */
const MAGIC = 'SQLite format 3\0';
const HEADER_BYTES = 100;
/** Larger stores are checked by `sluice storage verify` only: a start has to stay quick. */
const MAX_CHECKED_BYTES = 256 * 1024 * 1024;
/** Pages in the log (4 KB each) at which the commit of a service copies them all: some 10 ms. */
const CHECKPOINT_PAGES = 1_000;
/** The same for a command beside a service; only reached where none runs. */
const LAST_RESORT_PAGES = 16_000;
/** How long a write waits for another process that holds the store. */
export const BUSY_TIMEOUT_MS = 5000;

/** One process performs from a file, so they all have one name. */
export const HOLDER = 'performer';

/** What can be known of a store without opening it. */
export type FileState = 'missing' | 'empty' | 'store';

/**
 * Looks at the file without changing anything.
 * @throws StorageError where it is something else, newer, or may not be written
 */
export function examineFile(file: string, options: { readonly mayBeReadOnly?: boolean } = {}): FileState {
  if (!existsSync(file)) return 'missing';
  const stat = statSync(file);
  if (!stat.isFile())
    throw new StorageError('not_a_store', `${file}: is not a file; give storage.url another path`);
  if (options.mayBeReadOnly !== true) requireWritable(file);
  if (stat.size === 0) return 'empty';
  if (isCutShort(file)) return 'store';
  const header = readHeader(file);
  if (header.length < HEADER_BYTES || header.toString('latin1', 0, MAGIC.length) !== MAGIC)
    throw new StorageError(
      'not_a_store',
      `${file}: is not a store, or its first bytes are destroyed; ${GO_BACK}`,
    );
  const applicationId = header.readUInt32BE(68);
  if (applicationId !== APPLICATION_ID && applicationId !== 0) throw foreign(file);
  refuseUnknown(file, header.readUInt32BE(60), 'sqlite');
  return 'store';
}

/** @throws StorageError where the folder or the file cannot be written */
function requireWritable(path: string): void {
  const remedy = 'make it writable for this user, or give storage.url another path';
  try {
    // Root passes every access check, so a mode without any write bit is taken at its word.
    if ((statSync(path).mode & 0o222) === 0) throw new Error('its mode has no write bit');
    accessSync(path, constants.W_OK);
  } catch (error) {
    throw new StorageError('read_only', `${path}: cannot be written (${messageOf(error)}); ${remedy}`, {
      cause: error,
    });
  }
}

/** Makes the folder (0700) where there is none. An existing one keeps its mode: it may hold other things. */
export function makeFolder(file: string): void {
  const folder = dirname(file);
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
  } catch (error) {
    throw new StorageError(
      'unwritable',
      `${folder}: the store's folder cannot be created (${messageOf(error)}); give storage.url another path`,
      { cause: error },
    );
  }
  requireWritable(folder);
}

/**
 * Reads a store's pages and checks that they fit together, with a connection that cannot write. Without a log to
 * recover the file is opened as immutable, which leaves no trace next to it either.
 * @throws StorageError `corrupt`, `not_a_store`, `newer_schema`, or an error of SQLite
 */
export function checkPages(file: string): void {
  if (isCutShort(file)) return;
  const log = `${file}-wal`;
  const hasLog = existsSync(log) && statSync(log).size > 0;
  const url = pathToFileURL(file);
  if (!hasLog) url.searchParams.set('immutable', '1');
  readFile(url, (database) => {
    refuseForeign(database, file);
    refuseUnknown(file, schemaOf(database), 'sqlite');
    if (statSync(file).size > MAX_CHECKED_BYTES) return;
    const finding = String(firstOf(database, 'PRAGMA quick_check(1)')).slice(0, 200);
    if (finding !== 'ok')
      throw new StorageError('corrupt', `${file}: the store is damaged (${finding}); ${GO_BACK}`);
  });
}

/** Reads a file over a connection that cannot write, and closes it. */
export function readFile<Result>(file: string | URL, read: (database: DatabaseSync) => Result): Result {
  using database = new DatabaseSync(file, { readOnly: true, timeout: BUSY_TIMEOUT_MS });
  return read(database);
}

function firstOf(database: DatabaseSync, text: string): unknown {
  return Object.values(database.prepare(text).get() ?? {})[0];
}

export function schemaOf(database: DatabaseSync): number {
  return Number(firstOf(database, 'PRAGMA user_version'));
}

/** Creates the file with the right mode; the log next to it inherits the mode. */
export function createFile(file: string): void {
  closeSync(openSync(file, 'a', 0o600));
  syncPath(dirname(file));
}

interface ConnectOptions {
  readonly fsync: boolean;
  readonly mayMigrate: boolean;
  /** Hears where the store from before its migration is. */
  readonly onMigration?: (kept: KeptStore) => void;
}

/** A store as it was before its schema changed. */
export interface KeptStore {
  readonly file: string;
  readonly version: number;
}

/** Keeps the store as it is, so that one can go back. */
function keepBefore(database: DatabaseSync, file: string, version: number): KeptStore {
  const kept = { file: `${file}.schema-${version}-${fileTime(Date.now())}`, version };
  try {
    writeVerifiedCopy(database, kept.file);
  } catch (error) {
    const { code, message } = explainSqliteError(error, kept.file);
    throw new StorageError(
      code,
      `${message}; before a store is migrated a copy of it is made beside it, so nothing was changed`,
      { cause: error },
    );
  }
  return kept;
}

/** Opens a store that was examined, sets it up, and brings its schema up to date where `mayMigrate`. */
export function connect(file: string, options: ConnectOptions): DatabaseSync {
  const database = new DatabaseSync(file, { timeout: BUSY_TIMEOUT_MS });
  try {
    refuseForeign(database, file);
    bringUpToDate(database, file, options);
    database.exec('PRAGMA journal_mode = WAL');
    database.exec(`PRAGMA synchronous = ${options.fsync ? 'FULL' : 'OFF'}`);
    // 16 MB of cache; the log is cut back to 64 MB after a burst; few, large checkpoints.
    database.exec('PRAGMA cache_size = -16000');
    database.exec('PRAGMA journal_size_limit = 67108864');
    database.exec(`PRAGMA wal_autocheckpoint = ${options.mayMigrate ? CHECKPOINT_PAGES : LAST_RESORT_PAGES}`);
    return database;
  } catch (error) {
    database.close();
    throw error;
  }
}

/** Opens the store for one who does not perform, beside a service that may. */
export function openAttached(file: string, fsync: boolean): DatabaseSync {
  if (examineFile(file) !== 'store') {
    throw new StorageError(
      'not_found',
      `${file}: there is no store yet; start the service once, it makes one (a service with another configuration has its own: name that with -c FILE)`,
    );
  }
  return connect(file, { fsync, mayMigrate: false });
}

function bringUpToDate(database: DatabaseSync, file: string, options: ConnectOptions): void {
  const version = schemaOf(database);
  refuseUnknown(file, version, 'sqlite');
  if (version === newestVersion('sqlite')) return;
  if (!options.mayMigrate) {
    throw new StorageError(
      'not_found',
      `${file}: the store is ${version === 0 ? 'empty' : 'of an older version'}; start the service once, it sets the store up`,
    );
  }
  const kept = version > 0 ? keepBefore(database, file, version) : undefined;
  try {
    migrate(database, stepsFrom(version, 'sqlite'));
  } catch (error) {
    // The store is as it was. A service that is started again and again must not leave a copy each time.
    if (kept !== undefined) rmSync(kept.file, { force: true });
    throw error;
  }
  if (kept !== undefined) options.onMigration?.(kept);
}

/** Takes the schema to the newest version, in one transaction, so that it is never half way. */
export function migrate(database: DatabaseSync, steps: readonly string[]): void {
  database.exec('BEGIN IMMEDIATE');
  try {
    for (const step of steps) database.exec(step);
    database.exec(`PRAGMA application_id = ${APPLICATION_ID}`);
    database.exec(`PRAGMA user_version = ${newestVersion('sqlite')}`);
    database.exec('COMMIT');
  } catch (error) {
    if (database.isTransaction) database.exec('ROLLBACK');
    throw error;
  }
}

/**
 * Whether a process was killed while it made or migrated the store. Until a connection that writes has undone what it
 * began, nothing in the file says anything.
 */
function isCutShort(file: string): boolean {
  const journal = statSync(`${file}-journal`, { throwIfNoEntry: false });
  return journal !== undefined && journal.size > 0;
}

function readHeader(file: string): Buffer {
  const header = Buffer.alloc(HEADER_BYTES);
  const descriptor = openSync(file, 'r');
  try {
    return header.subarray(0, readSync(descriptor, header, 0, HEADER_BYTES, 0));
  } finally {
    closeSync(descriptor);
  }
}

function refuseForeign(database: DatabaseSync, file: string): void {
  const applicationId = Number(firstOf(database, 'PRAGMA application_id'));
  if (applicationId === APPLICATION_ID) return;
  const { tables } = database.prepare('SELECT count(*) AS tables FROM sqlite_master').get() as {
    tables: number;
  };
  if (applicationId !== 0 || tables > 0) throw foreign(file);
}

function foreign(file: string): StorageError {
  return new StorageError(
    'not_a_store',
    `${file}: is another program's database; give storage.url another path`,
  );
}

/**
 * Writes all that a connection sees into a new file, reads every page of it, and only then gives it its name: a file
 * of that name is whole, whatever ends the process.
 * @throws StorageError `corrupt` where the copy cannot be read back, or an error of SQLite
 */
export function writeVerifiedCopy(database: DatabaseSync, target: string): void {
  const unfinished = `${target}.unfinished`;
  rmSync(unfinished, { force: true });
  closeSync(openSync(unfinished, 'wx', 0o600));
  try {
    database.prepare('VACUUM INTO ?').run(unfinished);
    verifyCopy(unfinished);
    syncPath(unfinished);
    renameSync(unfinished, target);
    syncPath(dirname(target));
  } catch (error) {
    rmSync(unfinished, { force: true });
    throw error;
  }
}

function verifyCopy(file: string): void {
  const finding = readFile(file, (copy) => firstOf(copy, 'PRAGMA integrity_check(1)'));
  if (finding === 'ok') return;
  throw new StorageError('corrupt', `${file}: the copy is damaged (${String(finding).slice(0, 200)})`);
}

/** Brings a file, or the names in a folder, to the disk. */
export function syncPath(path: string): void {
  const descriptor = openSync(path, 'r');
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}

/** `20260301T120000Z`: a time as a part of a file's name. */
export function fileTime(ms: number): string {
  return new Date(ms).toISOString().replaceAll(/[-:]|\.\d+/g, '');
}

export interface PerformerLock {
  release(): void;
  /** Releases, and takes away a lock file that was not there before: for a start that failed. */
  undo(): void;
}

/**
 * One service performs from a store. The lock is an exclusive transaction that is never ended, on a file of its own:
 * the kernel frees it when the process goes, however it goes, and the store itself stays open to the command line.
 * A command that looks whether it is held has it for a moment, which is waited for.
 * @throws StorageError `locked`, or `failed` where the disk cannot lock
 */
export function takePerformerLock(file: string, waitMs = 500): PerformerLock {
  const lockFile = `${file}.lock`;
  const isNew = !existsSync(lockFile);
  const descriptor = openSync(lockFile, 'a', 0o600);
  const { ino } = fstatSync(descriptor);
  closeSync(descriptor);
  const database = lockWhole(lockFile, file, waitMs);
  // A start that failed took the file away meanwhile: others would find another one, and lock that.
  if (statSync(lockFile, { throwIfNoEntry: false })?.ino !== ino) {
    database.close();
    return takePerformerLock(file, waitMs);
  }
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

function lockWhole(lockFile: string, file: string, timeout: number): DatabaseSync {
  const database = new DatabaseSync(lockFile, { timeout });
  try {
    database.exec('PRAGMA journal_mode = MEMORY');
    database.exec('BEGIN EXCLUSIVE');
    return database;
  } catch (error) {
    database.close();
    const isHeld = explainSqliteError(error, lockFile).code === 'busy';
    throw new StorageError(
      isHeld ? 'locked' : 'failed',
      isHeld
        ? `${file}: another Sluice service is using this store; stop it first, or give this one a storage.url of its own`
        : `${lockFile}: cannot be locked (${messageOf(error)}); give storage.url a path on a disk that can lock files, or remove this file while no service runs`,
      { cause: error },
    );
  }
}
