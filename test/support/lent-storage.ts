import { spawn } from 'node:child_process';
import { mkdtempSync } from 'node:fs';
import type { Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openStorage, type Storage } from '../../src/engine/storage/storage.ts';
import { StorageError } from '../../src/engine/storage/storage-error.ts';
import { emptyStore } from './storage-harness.ts';

/** What answers at once; all else is refused once the test is over. */
const AT_ONCE = [
  'health',
  'onHealthChange',
  'onOutsideChange',
  'onFailure',
  'recordDecision',
  'recordStranger',
  'keepRequest',
];

interface KeptStore {
  readonly url: string;
  readonly storage: Storage;
  /** Called where somebody else has changed the store: whoever has it now hears of it. */
  heard: () => void;
}

/** Stores without a row, for tests to come: to open one takes most of the processor time of a test of the gateway. */
const ready: KeptStore[] = [];
let folder: string | undefined;
let count = 0;

/** A store in a file of its own that nobody else opens; the test gives it back, or closes it for good. */
export interface LentStorage {
  readonly storage: Storage;
  giveBack(): Promise<void>;
}

export async function lendStorage(): Promise<LentStorage> {
  const store = ready.pop() ?? (await openKept());
  let isOver = false;
  let isClosed = false;
  const listeners: (() => void)[] = [];
  store.heard = () => listeners.forEach((listener) => listener());
  const close = async (): Promise<void> => {
    isOver = isClosed = true;
    await store.storage.close();
  };
  const refuse = () => Promise.reject(new StorageError('closed', `${store.url}: is closed`));
  const parts = Object.entries(store.storage).map(([name, part]: [string, unknown]) => {
    if (typeof part !== 'function' || AT_ONCE.includes(name)) return [name, part];
    return [
      name,
      (...args: unknown[]): unknown => (isOver ? refuse() : Reflect.apply(part, undefined, args)),
    ];
  });
  const storage: Storage = {
    ...(Object.fromEntries(parts) as Storage),
    onOutsideChange: (listener) => void listeners.push(listener),
    close,
  };
  return {
    storage,
    async giveBack() {
      if (isClosed) return;
      isOver = true;
      await store.storage.flush();
      if (store.storage.health().kind !== 'ok') return close();
      // The store notices within half a second that it was emptied: the next test is not to hear of it.
      store.heard = () => {
        store.heard = () => undefined;
        ready.push(store);
      };
      await emptyStore(store.url);
    },
  };
}

async function openKept(): Promise<KeptStore> {
  folder ??= folderOfThisProcess();
  count += 1;
  const url = `sqlite:${join(folder, String(count), 'sluice.db')}`;
  const replica = { role: 'all', version: 'test', leaseMs: 20_000 };
  const storage = await openStorage(url, { fsync: false, replica });
  const store: KeptStore = { url, storage, heard: () => undefined };
  storage.onOutsideChange(() => store.heard());
  return store;
}

/** It is removed when this process has ended, however it did: workers of tests are killed. */
function folderOfThisProcess(): string {
  const made = mkdtempSync(join(tmpdir(), 'sluice-lent-'));
  const stdio = ['pipe', 'ignore', 'ignore'] as const;
  const watcher = spawn('sh', ['-c', 'cat; rm -rf "$1"', 'sh', made], { stdio: [...stdio], detached: true });
  watcher.unref();
  (watcher.stdin as Socket).unref();
  return made;
}
