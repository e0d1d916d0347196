import { existsSync } from 'node:fs';
import { extname } from 'node:path';
import type { DatabaseSync } from 'node:sqlite';
import { makeStorage } from '../client/make-storage.ts';
import { WorkerClient } from '../client/worker-client.ts';
import type { Storage } from '../port.ts';
import { newestVersion } from '../statements/migrations.ts';
import { StorageError } from '../storage-error.ts';
import type { StoreStatus } from '../store-status.ts';
import { inspect } from './inspector.ts';
import { explainSqliteError } from './sqlite-errors.ts';
import { examineFile, takePerformerLock, readFile, schemaOf } from './worker/database-file.ts';
import type { WorkerInput } from './worker/storage-worker.ts';

const ENTRY = new URL(`worker/storage-worker${extname(import.meta.url)}`, import.meta.url);

/** Opens the store in one SQLite file; `onWarning` hears what the operator should know of it. */
export async function openSqliteStorage(
  input: WorkerInput,
  {
    mode,
    onWarning,
  }: { readonly mode: 'performer' | 'attached'; readonly onWarning: (message: string) => void },
): Promise<Storage> {
  const { file } = input;
  const inspection = {
    backup: async (target: string) => void (await inspect({ task: 'backup', file, target })),
    verify: () => inspect({ task: 'verify', file }),
  };
  if (mode === 'attached') {
    const { openAttachedHere } = await import('./attached-store.ts');
    try {
      return openAttachedHere(input, inspection);
    } catch (error) {
      throw explainSqliteError(error, file);
    }
  }
  const client = await WorkerClient.open({
    entry: ENTRY,
    input,
    place: file,
    explain: (error) => explainSqliteError(error, file),
    onNotice: (notice) => onWarning(`${file}: ${notice}`),
  });
  return makeStorage(client, inspection);
}

/** Looks at a file without changing it; @throws StorageError where it is no store that this Sluice can use. */
export function sqliteStatus(file: string): StoreStatus {
  const newest = newestVersion('sqlite');
  const status = { engine: 'sqlite', place: file, newest, services: [] } as const;
  try {
    if (examineFile(file) !== 'store') return { ...status, version: 0 };
    return readFile(file, (database) => {
      const version = schemaOf(database);
      const copyOf = version < newest ? undefined : copySource(database);
      const services = isPerformed(file) ? [{ id: 'performer', role: 'all' }] : [];
      return { ...status, version, services, ...(copyOf === undefined ? {} : { copyOf }) };
    });
  } catch (error) {
    throw explainSqliteError(error, file);
  }
}

function copySource(database: DatabaseSync): string | undefined {
  const row = database.prepare('SELECT source FROM store_copy').get();
  return row === undefined ? undefined : String(row['source']);
}

/** Whether a service holds the lock. */
function isPerformed(file: string): boolean {
  if (!existsSync(`${file}.lock`)) return false;
  try {
    takePerformerLock(file, 0).release();
    return false;
  } catch (error) {
    if (error instanceof StorageError && error.code === 'locked') return true;
    throw error;
  }
}
