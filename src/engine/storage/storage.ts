import { resolve } from 'node:path';
import type { CopyOptions, CopyReport, CopySide } from './copy/copy-store.ts';
import type { Storage } from './port.ts';
import type { KnownStoreOptions } from './postgres/known-store.ts';
import type { RetentionLimits } from './records.ts';
import type { RestoreReport } from './sqlite/restore-store.ts';
import { openSqliteStorage, sqliteStatus } from './sqlite/sqlite-storage.ts';
import type { AcceptLimits } from './statements/statements.ts';
import { StorageError } from './storage-error.ts';
import type { StoreStatus } from './store-status.ts';

export type { MailStorage, Storage } from './port.ts';
export {
  callbackPlace,
  DROPPED,
  KEPT_DECISIONS,
  KEPT_LIMITS,
  NO_CONVERSATION,
  recipientOf,
  SUPERSEDED,
} from './records.ts';
export { SENDER_NOT_PROVED } from './mail-port.ts';
export { reactionOf } from './prepared-request.ts';
export type * from './mail-port.ts';
export type * from './records.ts';
export { StorageError, type StorageHealth, unavailable } from './storage-error.ts';

export interface StorageOptions {
  /**
   * `performer` (default) creates the store where there is none, migrates an older one and, for a file, holds its lock:
   * one at a time. `attached` reads and writes short transactions while another process may perform, and wants the store to
   * exist.
   */
  readonly mode?: 'performer' | 'attached';
  /** Queued and active runs at most, then `backlog_full`; default 100,000. */
  readonly maxBacklogRuns?: number;
  /** Bytes of queued and active runs at most; default 1 GB. */
  readonly maxBacklogBytes?: number;
  /** Wakes not yet consumed at most, then `events_full`; default 10,000. */
  readonly maxPendingEvents?: number;
  /** For a service that shares its store: its role there, its version, and the time its lease lasts (default 20 s). */
  readonly replica?: {
    readonly role: string;
    readonly version: string;
    readonly leaseMs: number;
    /** The id of the disk on which its coding agents keep their conversations; absent where none is known. */
    readonly place?: string;
  };
  /** PostgreSQL only: where it is kept which store this was, so that an empty, another or an older one is refused. */
  readonly known?: KnownStoreOptions | undefined;
  /** Hears what the operator should know of the database. */
  readonly onWarning?: (message: string) => void;
  /** Hears what the database does not promise, which may be meant. */
  readonly onNote?: (message: string) => void;
  /** False gives up durability against power loss; for the bench. Default true. */
  readonly fsync?: boolean;
}

/**
 * Opens the store at a `sqlite:<path>` URL, or in a schema of PostgreSQL, which any number of services may share. A store
 * that is damaged, newer, locked or not writable is left as it was.
 * @throws StorageError that names the file, the finding and the remedy
 */
export async function openStorage(url: string, options: StorageOptions = {}): Promise<Storage> {
  const { mode = 'performer', fsync = true, onWarning = () => undefined, onNote = () => undefined } = options;
  const limits = limitsOf(options);
  if (isPostgres(url)) {
    const { openPostgresStorage } = await import('./postgres/postgres-storage.ts');
    const { replica = { role: 'all', version: '', leaseMs: DEFAULT_LEASE_MS } } = options;
    return openPostgresStorage({ url, mode, limits, ...replica, known: options.known, onWarning, onNote });
  }
  return openSqliteStorage({ file: fileOf(url), fsync, limits }, { mode, onWarning });
}

function limitsOf(options: StorageOptions): AcceptLimits {
  return {
    maxBacklogRuns: options.maxBacklogRuns ?? 100_000,
    maxBacklogBytes: options.maxBacklogBytes ?? 1_000_000_000,
    maxPendingEvents: options.maxPendingEvents ?? 10_000,
  };
}

/**
 * Puts a copy in the place of the store at a `sqlite:<path>` URL; the store is kept under another name.
 * @throws StorageError where a service uses the store, or the copy is none; nothing has changed then
 */
export async function restoreStorage(url: string, copy: string): Promise<RestoreReport> {
  if (isPostgres(url)) {
    throw new StorageError(
      'failed',
      'storage.url names PostgreSQL: restore its database with pg_restore; "sluice storage restore" is for SQLite files',
    );
  }
  const { restoreStore } = await import('./sqlite/restore-store.ts');
  return restoreStore(fileOf(url), copy, Date.now());
}

/**
 * Copies all work of a store into an empty one, of either kind; what was under way is taken up there as after a crash. It
 * goes on where an interrupted one stopped.
 * @throws StorageError where a service holds either store
 */
export async function copyStorage(from: string, to: string, options: CopyOptions = {}): Promise<CopyReport> {
  const { copyBetween } = await import('./copy/copy-store.ts');
  using source = await openSide(from, 'source');
  using target = await openSide(to, 'target');
  return copyBetween(source, target, options);
}

async function openSide(url: string, role: 'source' | 'target'): Promise<CopySide> {
  if (isPostgres(url)) return (await import('./copy/postgres-side.ts')).openPostgresSide(url, role);
  return (await import('./copy/sqlite-side.ts')).openSqliteSide(fileOf(url), role);
}

/**
 * Takes what a PostgreSQL database holds now as the store that the services with this file mean; resolves to its id,
 * or undefined where it holds none.
 */
export async function acceptStore(url: string, file: string): Promise<string | undefined> {
  if (!isPostgres(url)) {
    throw new StorageError(
      'failed',
      'storage.url names a SQLite file, which needs no such command; "sluice storage verify" says what is wrong with it',
    );
  }
  const { acceptPostgres } = await import('./postgres/postgres-status.ts');
  return acceptPostgres(url, file);
}

/** Looks at a store without using it: where it is, how old its schema, who has it in use. */
export async function storeStatus(url: string): Promise<StoreStatus> {
  if (!isPostgres(url)) return sqliteStatus(fileOf(url));
  const { postgresStatus } = await import('./postgres/postgres-status.ts');
  return postgresStatus(url);
}

function isPostgres(url: string): boolean {
  return /^postgres(?:ql)?:\/\//.test(url);
}

/** The absolute path of the file that a `sqlite:` URL names; undefined where the store is no file. */
export function findStoreFile(url: string): string | undefined {
  const file = /^sqlite:(?!:)(.+)$/s.exec(url)?.[1];
  return file === undefined ? undefined : resolve(file);
}

/** @throws StorageError where the URL names no file */
function fileOf(url: string): string {
  const file = findStoreFile(url);
  if (file !== undefined) return file;
  // A reference that leads nowhere stands for itself; any other text may hold a password.
  const [reference] = /^(?:\$\{\w+\}|\{file: .*\})$/.exec(url) ?? [];
  throw new StorageError(
    'invalid_url',
    reference === undefined
      ? 'storage.url has to be sqlite:<path of a file>, e.g. sqlite:./.sluice/sluice.db, or postgres://USER:PASSWORD@HOST/DATABASE'
      : `storage.url is ${reference}, which leads nowhere here; set the variable, or make the file readable, as for the service`,
  );
}

const DEFAULT_LEASE_MS = 20_000;
const DAY_MS = 86_400_000;

/** How long a repeat under an `Idempotency-Key` gets the first answer. */
export const IDEMPOTENCY_TTL_SECONDS = 86_400;

/** What `storage.keep` of the configuration means for `prune`. */
export function retentionLimits(keep: { readonly days: number; readonly rows: number }): RetentionLimits {
  return { maxAgeMs: keep.days * DAY_MS, maxRows: keep.rows };
}
