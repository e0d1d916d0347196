import { extname } from 'node:path';
import type { Storage } from '../port.ts';
import { makeStorage } from '../client/make-storage.ts';
import { WorkerClient } from '../client/worker-client.ts';
import { StorageError } from '../storage-error.ts';
import { explainPostgresError, placeOf } from './postgres-errors.ts';
import type { PostgresInput } from './worker/postgres-worker.ts';

/** Opens the store in a schema of a PostgreSQL database. */
export async function openPostgresStorage(input: PostgresInput): Promise<Storage> {
  const place = placeOf(input.url);
  const client = await WorkerClient.open({
    entry: new URL(`worker/postgres-worker${extname(import.meta.url)}`, import.meta.url),
    input,
    place,
    explain: (error) => explainPostgresError(error, place),
  });
  return makeStorage(client, {
    backup: () =>
      Promise.reject(new StorageError('failed', `${place}: copy a PostgreSQL store with pg_dump`)),
    verify: () => client.operations.findBrokenRows(),
  });
}
