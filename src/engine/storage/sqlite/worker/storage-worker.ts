import { chmodSync, rmSync, statfsSync } from 'node:fs';
import { dirname } from 'node:path';
import type { DatabaseSync } from 'node:sqlite';
import { workerData } from 'node:worker_threads';
import { BatchExecutor, postMessage, refuse, serveBatches } from '../../statements/batch-executor.ts';
import { HealthMonitor } from '../../statements/health-monitor.ts';
import { newestVersion } from '../../statements/migrations.ts';
import type { AcceptLimits, Statements } from '../../statements/statements.ts';
import { StorageError } from '../../storage-error.ts';
import { inspect } from '../inspector.ts';
import { explainSqliteError, diskFull } from '../sqlite-errors.ts';
import {
  BUSY_TIMEOUT_MS,
  checkPages,
  connect,
  createFile,
  examineFile,
  HOLDER,
  type KeptStore,
  makeFolder,
  type PerformerLock,
  takePerformerLock,
} from './database-file.ts';
import { createPageCounter, LogMark } from './log-mark.ts';
import { SqliteStatements } from './sqlite-statements.ts';
import { StoreFiles } from './store-files.ts';

/** The thread that owns the database of a service; who is attached has none (`attached-store.ts`). */

export interface WorkerInput {
  readonly file: string;
  readonly fsync: boolean;
  readonly limits: AcceptLimits;
}

/** How often the store is looked at from outside: changes are noticed within a second, at some microseconds. */
const WATCH_MS = 400;

interface OpenDatabase {
  readonly database: DatabaseSync;
  readonly lock: PerformerLock;
  readonly notice?: string;
}

function openPerformer(input: WorkerInput): OpenDatabase {
  const { file, fsync } = input;
  examineFile(file);
  makeFolder(file);
  const lock = takePerformerLock(file);
  let isCreated = false;
  try {
    // Looked at again: a service that just ended may have made or migrated it.
    const state = examineFile(file);
    if (state === 'store') checkPages(file);
    if (state === 'missing') createFile(file);
    isCreated = state === 'missing';
    chmodSync(file, 0o600);
    let kept: KeptStore | undefined;
    const onMigration = (found: KeptStore): void => void (kept = found);
    const database = connect(file, { fsync, mayMigrate: true, onMigration });
    try {
      start(database, file);
    } catch (error) {
      database.close();
      throw error;
    }
    return { database, lock, ...(kept && { notice: migrationNotice(kept) }) };
  } catch (error) {
    if (isCreated)
      for (const suffix of ['', '-wal', '-shm', '-journal']) rmSync(file + suffix, { force: true });
    lock.undo();
    throw error;
  }
}

function migrationNotice({ file, version }: KeptStore): string {
  return `the store was of schema ${version} and is now of schema ${newestVersion('sqlite')}; as it was it is kept as ${file}, which "sluice storage restore" brings back; remove it when it is no longer needed`;
}

/** Proves that the disk takes a write; a copy that has not ended is refused. */
function start(database: DatabaseSync, file: string): void {
  const copy = database.prepare('SELECT source FROM store_copy').get();
  if (copy !== undefined) {
    throw new StorageError(
      'unfinished_copy',
      `${file}: the copy of ${String(copy['source'])} into this store has not ended; run "sluice storage copy" again, it goes on where it stopped`,
    );
  }
  database.exec('UPDATE counters SET opened = opened + 1');
}

function serve({ database, lock, notice }: OpenDatabase, { file, limits }: WorkerInput): void {
  const sql = new SqliteStatements(database);
  const explain = (error: unknown) => explainSqliteError(error, file);
  const countPages = createPageCounter(database);
  const mark = new LogMark(database, file, countPages);
  const checkPages = async (): Promise<readonly string[]> => {
    const found = await inspect({ task: 'verify', file });
    return found.filter((finding) => !mark.notices.includes(finding));
  };
  const files = new StoreFiles(file, { countPages, checkPages });
  const health = watchHealth(file, { mark, files });
  const probe = (statements: Statements): void => probeStore(statements, file);
  const executor = new BatchExecutor(sql, { limits, holder: HOLDER, explain, probe, health });
  const noteCommit = (): void => files.follow(countPages());
  const watch = openWatch(database, executor, { mark, noteCommit });
  const close = (): void => {
    watch.stop();
    mark.note();
    database.close();
    lock.release();
  };
  const said = [notice, ...mark.notices].filter((text) => text !== undefined).join('; ');
  serveBatches(executor, close, {
    notice: said === '' ? undefined : said,
    onAnswered: () => {
      mark.follow();
      noteCommit();
    },
  });
}

/** Some large requests; with less, a disk that was full takes the next one and refuses the one after it. */
const FREE_BYTES = 256 * 1024;

/** Another process that holds the store must not hold up what is asked meanwhile. */
function probeStore(sql: Statements, file: string): void {
  const { bavail, bsize } = statfsSync(dirname(file));
  if (bavail * bsize < FREE_BYTES) throw diskFull(file);
  sql.run('PRAGMA busy_timeout = 0');
  try {
    sql.run('UPDATE counters SET opened = opened + 1');
  } finally {
    sql.run(`PRAGMA busy_timeout = ${BUSY_TIMEOUT_MS}`);
  }
}

function watchHealth(
  file: string,
  { mark, files }: { readonly mark: LogMark; readonly files: StoreFiles },
): HealthMonitor {
  return new HealthMonitor(() => {
    if (mark.isCut()) return spoilt(file);
    const replaced = files.findReplaced();
    if (replaced?.code === 'corrupt') mark.noteSpoilt();
    return replaced;
  });
}

function spoilt(file: string): StorageError {
  return new StorageError(
    'corrupt',
    `${file}: its log was cut short or overwritten while the service was using it; restart the service, then "sluice storage verify" says what is missing`,
  );
}

/** SQLite counts the commits of other connections (`PRAGMA data_version`); own ones do not move it. */
function openWatch(
  database: DatabaseSync,
  executor: BatchExecutor,
  { mark, noteCommit }: { readonly mark: LogMark; noteCommit(): void },
): { stop(): void } {
  const version = database.prepare('PRAGMA data_version');
  const read = () => Number(version.get()?.['data_version']);
  let last = read();
  const timer = setInterval(() => {
    mark.note();
    executor.checkHealth();
    const now = read();
    if (now !== last) {
      postMessage({ kind: 'outside-change' });
      noteCommit();
    }
    last = now;
  }, WATCH_MS);
  return { stop: () => clearInterval(timer) };
}

function main(input: WorkerInput): void {
  try {
    serve(openPerformer(input), input);
  } catch (error) {
    refuse(explainSqliteError(error, input.file));
  }
}

main(workerData as WorkerInput);
