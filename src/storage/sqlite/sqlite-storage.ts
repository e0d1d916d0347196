import { extname } from 'node:path';
import type { Storage } from '../port.ts';
import { explainSqliteError } from './sqlite-errors.ts';
import type { WorkerInput } from './worker/storage-worker.ts';
import { inspect } from './inspector.ts';
import { makeStorage } from '../client/make-storage.ts';
import { WorkerClient } from '../client/worker-client.ts';

/** Opens the store in one SQLite file. */
export async function openSqliteStorage(
  input: WorkerInput,
  onWarning: (message: string) => void,
): Promise<Storage> {
  const { file } = input;
  const client = await WorkerClient.open({
    entry: new URL(`worker/storage-worker${extname(import.meta.url)}`, import.meta.url),
    input,
    place: file,
    explain: (error) => explainSqliteError(error, file),
    onNotice: (notice) => onWarning(`${file}: ${notice}`),
  });
  return makeStorage(client, {
    backup: async (target) => {
      await inspect({ task: 'backup', file, target });
    },
    verify: () => inspect({ task: 'verify', file }),
  });
}
