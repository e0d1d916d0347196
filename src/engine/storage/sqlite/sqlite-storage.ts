import { extname } from 'node:path';
import { Worker } from 'node:worker_threads';
import type { Storage } from '../port.ts';
import { explainSqliteError } from './sqlite-errors.ts';
import type { WorkerInput } from './worker/storage-worker.ts';
import { inspect } from './inspector.ts';
import { makeStorage } from '../client/make-storage.ts';
import { WorkerClient } from '../client/worker-client.ts';

const ENTRY = new URL(`worker/storage-worker${extname(import.meta.url)}`, import.meta.url);

/** Starts a thread that loads its program and waits for the store it is to open. */
export function startStorageThread(): Worker {
  const thread = new Worker(ENTRY, { name: 'storage' });
  // Who opens a store with it hears of its end.
  thread.on('error', () => undefined);
  return thread;
}

interface SqliteOptions {
  /** Hears what the operator should know of the store. */
  readonly onWarning: (message: string) => void;
  readonly prepared?: Worker | undefined;
}

/** Opens the store in one SQLite file. */
export async function openSqliteStorage(
  input: WorkerInput,
  { onWarning, prepared }: SqliteOptions,
): Promise<Storage> {
  const { file } = input;
  const client = await WorkerClient.open({
    entry: ENTRY,
    prepared,
    input,
    place: file,
    explain: (error) => explainSqliteError(error, file),
    onNotice: (notice) => onWarning(`${file}: ${notice}`),
  });
  return makeStorage(client, {
    backup: async (target) => void (await inspect({ task: 'backup', file, target })),
    verify: () => inspect({ task: 'verify', file }),
  });
}
