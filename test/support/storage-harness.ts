import { DatabaseSync } from 'node:sqlite';
import { afterAll, afterEach } from 'vitest';
import {
  findStoreFile,
  type AgentRun,
  type Storage,
  type StorageOptions,
} from '../../src/engine/storage/storage.ts';
import { query } from './postgres-server.ts';
import { agent, NOW } from './storage-builders.ts';

/** Makes a new, empty store. */
export type OpenFresh = (options?: StorageOptions) => Promise<OpenedStore>;
/** Opens a store that `openFresh` made and that was closed since, or attaches to it. */
export type Reopen = (url: string, options?: StorageOptions) => Promise<Storage>;

interface OpenedStore {
  readonly url: string;
  readonly storage: Storage;
}

/** Opens stores for tests and closes them after each. */
export interface Harness {
  /** A store without a row: one of a test before, where nothing holds it any more but its own process. */
  fresh(options?: StorageOptions): Promise<OpenedStore>;
  /** Closes the store and opens it again, as after a restart. */
  again(store: OpenedStore): Promise<Storage>;
  attach(url: string): Promise<Storage>;
  /** Opens the store for another performer while it is open. */
  beside(url: string, options?: StorageOptions): Promise<Storage>;
}

export function openHarness(openFresh: OpenFresh, reopen: Reopen): Harness {
  const opened: OpenedStore[] = [];
  /** The first store of the test, as it was opened last; undefined where it is not to be gone on with. */
  let only: OpenedStore | undefined;
  /** What the next test gets: to open a store takes longer than most tests. */
  let spare: OpenedStore | undefined;
  /** Stores that nothing holds: to make a new one takes longer than to empty one of them. */
  const closed = new Set<string>();
  afterEach(async () => {
    const left = opened.splice(0);
    if (only !== undefined && (await isOpen(only.storage))) spare = only;
    only = undefined;
    for (const { storage } of left) if (storage !== spare?.storage) await storage.close();
    // Beside a file stands which rows were in it: they would be missing.
    for (const { url } of left) if (url !== spare?.url && findStoreFile(url) === undefined) closed.add(url);
  });
  afterAll(() => spare?.storage.close());
  const keep = (store: OpenedStore): OpenedStore => {
    opened.push(store);
    return store;
  };
  const beside = async (url: string, options?: StorageOptions) => {
    // What it has heard of another performer may come to the next test. One that is attached performs nothing.
    if (options?.mode !== 'attached') only = undefined;
    return keep({ url, storage: await reopen(url, options) }).storage;
  };
  const anew = async (options?: StorageOptions): Promise<OpenedStore> => {
    const [url] = closed;
    if (url === undefined) return openFresh(options);
    closed.delete(url);
    await emptyStore(url);
    return { url, storage: await reopen(url, options) };
  };
  return {
    async fresh(options) {
      const store = options === undefined ? spare : undefined;
      if (store !== undefined) {
        spare = undefined;
        await emptyStore(store.url);
      }
      const fresh = keep(store ?? (await anew(options)));
      only = opened.length === 1 && options === undefined ? fresh : undefined;
      return fresh;
    },
    async again({ url, storage }) {
      await storage.close();
      const reopened = keep({ url, storage: await reopen(url) });
      if (storage === only?.storage) only = reopened;
      return reopened.storage;
    },
    attach: (url) => beside(url, { mode: 'attached' }),
    beside,
  };
}

async function isOpen(storage: Storage): Promise<boolean> {
  try {
    await storage.flush();
    return storage.health().kind === 'ok';
  } catch {
    return false;
  }
}

/** What says which store it is, and who uses it. */
const STAYS = ['sluice_schema', 'store_identity', 'replicas'];

/** Makes the store as one that was just made: a store keeps nothing of its rows in memory. */
export async function emptyStore(url: string): Promise<void> {
  const file = findStoreFile(url);
  using database = file === undefined ? undefined : new DatabaseSync(file, { timeout: 5_000 });
  const tables =
    database?.prepare("SELECT name FROM sqlite_schema WHERE type = 'table'").all() ??
    (await query(url, 'SELECT tablename AS name FROM pg_tables WHERE schemaname = current_schema()'));
  const names = tables.map(({ name }) => String(name)).filter((name) => !STAYS.includes(name));
  const deletes = names.map((name) => `DELETE FROM ${name};`).join(' ');
  const text = `BEGIN; ${deletes} INSERT INTO counters (one) VALUES (1); COMMIT`;
  if (database === undefined) await query(url, text);
  else database.exec(text);
}

export const ids = (rows: readonly { readonly id: string }[]) => rows.map(({ id }) => id);

export const claim = (storage: Storage, limit = 100, nowMs = NOW) => storage.claimRuns({ nowMs, limit });

/** Summaries in the order they were posted. */
export async function summaries(storage: Storage) {
  const events = await storage.listEvents({ limit: 10_000 });
  return events.filter(({ kind }) => kind === 'summary').reverse();
}

export const claimTurn = (
  storage: Storage,
  turnId: string,
  parts: { readonly maxEvents?: number; readonly maxBytes?: number } = {},
) => storage.claimEvents({ turnId, nowMs: NOW, maxEvents: 50, maxBytes: 65_536, ...parts });

/** A heartbeat turn that had nothing to say. */
export function turnRun(id: string): AgentRun {
  return {
    id,
    kind: 'heartbeat',
    action: agent({ id, sessionKey: 'main', owner: 'main', name: 'Heartbeat' }),
    state: 'completed',
    outcome: 'ok',
    reply: 'HEARTBEAT_OK',
    attempts: 1,
    acceptedAt: NOW,
    dueAt: NOW,
    startedAt: NOW,
    endedAt: NOW,
  };
}
