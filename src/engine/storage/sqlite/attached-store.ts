import { makeStorage } from '../client/make-storage.ts';
import type { StoreClient } from '../client/worker-client.ts';
import type { Storage } from '../port.ts';
import { BatchExecutor } from '../statements/batch-executor.ts';
import { OPERATION_NAMES, type OperationName, type RemoteOperations } from '../statements/statement-table.ts';
import { deserializeError, type SerializedError, StorageError } from '../storage-error.ts';
import { explainSqliteError } from './sqlite-errors.ts';
import { HOLDER, openAttached } from './worker/database-file.ts';
import { SqliteStatements } from './worker/sqlite-statements.ts';
import type { WorkerInput } from './worker/storage-worker.ts';

/**
 * Opens a store in this thread, which stands still while the store answers: for a process that asks little and waits for
 * each answer. To start a thread takes several times as long as all that such a process asks.
 */
export function openAttachedHere(
  { file, fsync, limits }: WorkerInput,
  inspection: Pick<Storage, 'backup' | 'verify'>,
): Storage {
  const database = openAttached(file, fsync);
  const explain = (error: unknown) => explainSqliteError(error, file);
  const executor = new BatchExecutor(new SqliteStatements(database), { limits, holder: HOLDER, explain });
  let isClosed = false;
  const ask = (name: OperationName, args: readonly unknown[]): unknown => {
    if (isClosed) throw new StorageError('closed', `${file}: is closed`);
    // What goes over to a thread is copied: rows and arguments are here as they are there.
    const [, failed, result] = executor.run([[0, name, structuredClone(args)]]);
    if (failed === 1) throw deserializeError(result as SerializedError);
    return structuredClone(result);
  };
  const method = (name: OperationName) =>
    [name, async (...args: unknown[]) => Promise.resolve(ask(name, args))] as const;
  const nothing = (): void => undefined;
  const client: StoreClient = {
    operations: Object.fromEntries(OPERATION_NAMES.map(method)) as object as RemoteOperations,
    place: file,
    health: { kind: 'ok' },
    onHealthChange: nothing,
    onOutsideChange: nothing,
    onFailure: nothing,
    giveUp: nothing,
    resume: nothing,
    close: () => {
      if (!isClosed) database.close();
      isClosed = true;
      return Promise.resolve();
    },
  };
  return makeStorage(client, inspection);
}
