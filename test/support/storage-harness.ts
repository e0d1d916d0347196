import { afterEach } from 'vitest';
import type { AgentRun, Storage, StorageOptions } from '../../src/engine/storage/storage.ts';
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
  fresh(options?: StorageOptions): Promise<OpenedStore>;
  /** Closes the store and opens it again, as after a restart. */
  again(store: OpenedStore): Promise<Storage>;
  attach(url: string): Promise<Storage>;
  /** Opens the store for another performer while it is open. */
  beside(url: string, options?: StorageOptions): Promise<Storage>;
}

export function openHarness(openFresh: OpenFresh, reopen: Reopen): Harness {
  const opened: Storage[] = [];
  afterEach(async () => {
    for (const storage of opened.splice(0)) await storage.close();
  });
  const keep = (storage: Storage): Storage => {
    opened.push(storage);
    return storage;
  };
  return {
    async fresh(options) {
      const store = await openFresh(options);
      keep(store.storage);
      return store;
    },
    async again({ url, storage }) {
      await storage.close();
      return keep(await reopen(url));
    },
    async attach(url) {
      return keep(await reopen(url, { mode: 'attached' }));
    },
    async beside(url, options) {
      return keep(await reopen(url, options));
    },
  };
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
