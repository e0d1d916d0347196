import { existsSync, linkSync, renameSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { newestVersion } from '../statements/migrations.ts';
import { EVENT, OUTBOX, RUN } from '../statements/rows.ts';
import { StorageError } from '../storage-error.ts';
import { explainSqliteError } from './sqlite-errors.ts';
import {
  checkPages,
  examineFile,
  fileTime,
  makeFolder,
  syncPath,
  takePerformerLock,
  writeVerifiedCopy,
  readFile,
  schemaOf,
} from './worker/database-file.ts';

/*
 * A copy takes the place of the store, and the store goes to another name with all that belongs to it: nothing is
 * deleted. The log of the store (`-wal`) goes along, because SQLite would play it into whatever file it finds beside it,
 * and so undo the restoring.
 */

/** Work that a store holds and that has not ended well. */
export interface OpenWork {
  readonly kind: 'run' | 'outbox' | 'event';
  readonly state: 'waiting' | 'active' | 'dead';
  readonly id: string;
  readonly mappingId: string;
  /** Milliseconds since the epoch. */
  readonly since: number;
  /** True where the work waits in the restored store, but has ended in the one before: it would be done twice. */
  readonly endedSince?: true;
}

export interface RestoreReport {
  /** Schema of the restored store; an older one is migrated when the service starts. */
  readonly schema: number;
  /** What this Sluice works with. */
  readonly newestSchema: number;
  /** What the service performs when it starts on the restored store. */
  readonly waiting: readonly OpenWork[];
  /** The store that was here, where there was one. */
  readonly before?: {
    /** The new name. */
    readonly file: string;
    /** Absent where it cannot be read. */
    readonly unfinished?: readonly OpenWork[];
  };
}

/**
 * Puts a copy (of `storage backup`, or from before a migration) in the place of a store.
 * @throws StorageError that says what is wrong with the copy or the store; nothing has changed then
 */
export function restoreStore(file: string, copy: string, nowMs: number): RestoreReport {
  refuseUnusable(file, copy);
  makeFolder(file);
  const lock = takePerformerLock(file);
  try {
    return replaceStore(file, copy, `${file}.before-restore-${fileTime(nowMs)}`);
  } catch (error) {
    throw explainSqliteError(error, file);
  } finally {
    lock.release();
  }
}

function replaceStore(file: string, copy: string, aside: string): RestoreReport {
  const restored = `${file}.restored`;
  const { schema, work } = takeCopy(copy, restored);
  const waiting = work.filter(({ state }) => state !== 'dead');
  const found = readStore(file, waiting);
  const before = setAside(file, aside);
  renameSync(restored, file);
  syncPath(dirname(file));
  return {
    schema,
    newestSchema: newestVersion('sqlite'),
    waiting: waiting.map((each) =>
      found?.ended.has(each.id) === true ? { ...each, endedSince: true } : each,
    ),
    ...(before && { before: { file: before, ...(found && { unfinished: found.unfinished }) } }),
  };
}

function refuseUnusable(file: string, copy: string): void {
  const state = existsSync(copy) ? examineFile(copy, { mayBeReadOnly: true }) : 'missing';
  if (state !== 'store') {
    throw new StorageError(
      'not_found',
      `${copy}: ${state === 'empty' ? 'is empty' : 'there is no such file'}`,
    );
  }
  const [own, given] = [statSync(file, { throwIfNoEntry: false }), statSync(copy)];
  // Files on two disks may have the same number.
  if (own?.ino === given.ino && own.dev === given.dev) {
    throw new StorageError('exists', `${copy}: is the store itself; name a copy of it`);
  }
  checkPages(copy);
}

/** Reads the copy with what may lie in a log beside it, and writes it anew beside the store. */
function takeCopy(
  copy: string,
  target: string,
): { readonly schema: number; readonly work: readonly OpenWork[] } {
  return readFile(copy, (database) => {
    const work = readOpenWork(database);
    writeVerifiedCopy(database, target);
    return { schema: schemaOf(database), work };
  });
}

/** Gives the store another name. It keeps the old one, too, until the copy takes its place. */
function setAside(file: string, target: string): string | undefined {
  if (!existsSync(file)) return undefined;
  linkSync(file, target);
  for (const suffix of ['-wal', '-shm', '-journal', '.mark']) {
    if (existsSync(file + suffix)) renameSync(file + suffix, target + suffix);
  }
  syncPath(dirname(file));
  return target;
}

interface FoundStore {
  readonly unfinished: readonly OpenWork[];
  /** Which of the work asked for has ended here. */
  readonly ended: ReadonlySet<string>;
}

/**
 * Reads the store that is about to be replaced; undefined where there is none that can be read. Its log is written into
 * the file first, so that the file alone is the store; a damaged store keeps its log beside it.
 */
function readStore(file: string, waiting: readonly OpenWork[]): FoundStore | undefined {
  if (!existsSync(file)) return undefined;
  try {
    using database = new DatabaseSync(file, { timeout: 5_000 });
    database.exec('PRAGMA wal_checkpoint(TRUNCATE)');
    return { unfinished: readOpenWork(database), ended: readEnded(database, waiting) };
  } catch {
    return undefined;
  }
}

/** From columns that every version of the schema has: the store may be of a newer Sluice. */
const OPEN_WORK = `
SELECT 'run' AS kind, id, mapping_id AS mappingId, accepted_at AS since, CASE state WHEN ${RUN.dead} THEN 'dead'
  WHEN ${RUN.active} THEN 'active' ELSE 'waiting' END AS state FROM runs
  WHERE state <= ${RUN.active} OR state = ${RUN.dead}
UNION ALL SELECT 'outbox', id, mapping_id, created_at, CASE state WHEN ${OUTBOX.dead} THEN 'dead'
  WHEN ${OUTBOX.active} THEN 'active' ELSE 'waiting' END FROM outbox
  WHERE state <= ${OUTBOX.active} OR state = ${OUTBOX.dead}
UNION ALL SELECT 'event', id, mapping_id, created_at, CASE state WHEN ${EVENT.dead} THEN 'dead'
  WHEN ${EVENT.claimed} THEN 'active' ELSE 'waiting' END FROM events
  WHERE state <= ${EVENT.claimed} OR state = ${EVENT.dead}
ORDER BY 4, 2`;

const ENDED = `
WITH asked AS (SELECT value AS id FROM json_each(:ids))
SELECT id FROM runs WHERE id IN asked AND state = ${RUN.completed}
UNION ALL SELECT id FROM outbox WHERE id IN asked AND state IN (${OUTBOX.completed}, ${OUTBOX.skipped})
UNION ALL SELECT id FROM events WHERE id IN asked AND state = ${EVENT.consumed}`;

function readOpenWork(database: DatabaseSync): readonly OpenWork[] {
  return database.prepare(OPEN_WORK).all() as unknown as readonly OpenWork[];
}

function readEnded(database: DatabaseSync, asked: readonly OpenWork[]): ReadonlySet<string> {
  const ids = JSON.stringify(asked.map(({ id }) => id));
  const rows = database.prepare(ENDED).all({ ids });
  return new Set(rows.map(({ id }) => String(id)));
}
