import { DatabaseSync } from 'node:sqlite';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { COPIED_TABLES } from '../../../src/engine/storage/copy/copy-store.ts';
import { copyStorage, openStorage } from '../../../src/engine/storage/storage.ts';
import { query, sharedPostgres } from '../../support/postgres-server.ts';
import {
  agent,
  agentOf,
  completion,
  conversation,
  failure,
  NOW,
  wake,
  work,
} from '../../support/storage-builders.ts';
import { claim, claimTurn, ids } from '../../support/storage-harness.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

const server = await sharedPostgres();

const ODD = 'a\0b\u{10FFFF}0 "quoted" \\ ünï';

/** A file with work in every state. */
async function filledStore(): Promise<{ readonly url: string; readonly activeId: string }> {
  const url = `sqlite:${join(temporaryFolder(), 'from.db')}`;
  const storage = await openStorage(url, { fsync: false });
  const [done, active, dead] = [agent({ message: ODD, sessionKey: 'k' }), agent(), agentOf('m')] as const;
  await storage.accept(work([done, active, dead, wake({ text: ODD })]));
  await claim(storage, 3);
  const turns = [{ role: 'user' as const, text: ODD, at: NOW }];
  await storage.completeRun(
    completion(done.id, {
      reply: ODD,
      history: { conversation: conversation('k'), turns, maxTurns: 5 },
      delivery: { channel: 'slack', to: 'C1', text: ODD, fromMain: false },
      callback: { url: 'https://example.org', body: '{}' },
    }),
  );
  await storage.deadLetterRun(dead.id, { error: { code: 'x', message: '' }, nowMs: NOW });
  await storage.claimOutbox({ nowMs: NOW, limit: 1 });
  await claimTurn(storage, 'turn-1', { maxEvents: 1 });
  await Promise.all(
    Array.from({ length: 1_200 }, (_, index) =>
      storage.accept(
        work([agent({ sessionKey: `lane-${index % 5}` })], {
          idempotency: { scope: 'p', key: `key-${index} ${ODD}`, bodySha256: 'x', ttlSeconds: 60 },
        }),
      ),
    ).map((accepted) => accepted.catch(() => undefined)),
  );
  await storage.saveHold({ runner: 'r', since: NOW, code: 'x', message: '', retryAt: NOW, tries: 1 });
  await storage.claimMailbox({ mailbox: 'a@b INBOX', holder: 'h', nowMs: NOW, leaseMs: 1 });
  await storage.passMail({
    mailbox: 'a@b INBOX',
    holder: 'h',
    nowMs: NOW,
    state: '{}',
    floorAt: 0,
    passed: [{ identity: 'i', receivedAt: NOW }],
  });
  storage.keepRequest({ requestId: 'kept', receivedAt: NOW, kind: 'whole', path: 'a', json: '{}' });
  await storage.saveLastTarget({ channel: 'slack', to: 'C1' }, NOW);
  await storage.keepRecovery('p', ODD);
  await storage.close();
  return { url, activeId: active.id };
}

/** All rows of all tables, but who held them, and how often the store was opened. */
function rowsOf(url: string): Readonly<Record<string, unknown>> {
  const database = new DatabaseSync(url.slice('sqlite:'.length), { readOnly: true });
  const entries = Object.entries(COPIED_TABLES).map(([table, keys]) => {
    const rows = database.prepare(`SELECT * FROM ${table} ORDER BY ${keys.join(', ')}`).all();
    const others = rows.map((row) =>
      Object.entries(row).filter(([name]) => !['holder', 'opened', 'epoch'].includes(name)),
    );
    return [table, others] as const;
  });
  database.close();
  return Object.fromEntries(entries);
}

/** Each copy of a store has a later one. */
function epochOf(url: string): unknown {
  const database = new DatabaseSync(url.slice('sqlite:'.length), { readOnly: true });
  const row = database.prepare('SELECT epoch FROM store_identity').get();
  database.close();
  return row?.['epoch'];
}

const UNCOPIED_TABLES = [
  'counter_slots',
  'kept_conversations',
  'replicas',
  'leaders',
  'store_copy',
  'sluice_schema',
] as const;

test('names every table of both kinds of store', async () => {
  const named = [...Object.keys(COPIED_TABLES), ...UNCOPIED_TABLES].sort();
  const url = await server.freshUrl();
  await (await openStorage(url)).close();
  const found = await query(
    url,
    'SELECT tablename AS name FROM pg_tables WHERE schemaname = current_schema() ORDER BY 1',
  );
  expect(found.map(({ name }) => String(name)).sort()).toEqual(named);
  const file = join(temporaryFolder(), 'x.db');
  await (await openStorage(`sqlite:${file}`)).close();
  const database = new DatabaseSync(file, { readOnly: true });
  const tables = database.prepare("SELECT name FROM sqlite_master WHERE type = 'table'").all();
  database.close();
  expect(
    tables
      .map(({ name }) => String(name))
      .filter((name) => !named.includes(name) && !name.startsWith('sqlite_')),
  ).toEqual([]);
});

test('copies a file into PostgreSQL and back, all of it, goes on where it stopped, and serves nothing before', async () => {
  const { url: from, activeId } = await filledStore();
  const database = await server.freshUrl();
  let steps = 0;
  const interrupted = copyStorage(from, database, {
    onProgress: (table) => {
      steps += table === 'runs' ? 1 : 0;
      if (steps === 2) throw new Error('stopped here');
    },
  });
  await expect(interrupted).rejects.toThrow('stopped here');
  await expect(openStorage(database)).rejects.toMatchObject({ code: 'unfinished_copy' });
  await expect(copyStorage(`sqlite:${join(temporaryFolder(), 'no.db')}`, database)).rejects.toMatchObject({
    code: 'not_found',
  });
  const report = await copyStorage(from, database);
  expect(report).toMatchObject({ wasResumed: true, rows: { run_actions: report.rows['runs'] } });
  expect(report.rows['runs']).toBeGreaterThan(900);

  const back = `sqlite:${join(temporaryFolder(), 'back.db')}`;
  expect(await copyStorage(database, back)).toMatchObject({ wasResumed: false, rows: report.rows });
  expect(rowsOf(back)).toEqual(rowsOf(from));
  expect([epochOf(from), epochOf(back)]).toEqual([0, 2]);

  const storage = await openStorage(database);
  await expect(copyStorage(database, `sqlite:${join(temporaryFolder(), 'x.db')}`)).rejects.toMatchObject({
    code: 'locked',
    message: expect.stringContaining('a service uses this store') as string,
  });
  expect(ids((await storage.takeOver()).runs)).toEqual([activeId]);
  expect(await storage.claimOutbox({ nowMs: NOW, limit: 9 })).toHaveLength(2);
  expect(await claimTurn(storage, 'turn-2')).toMatchObject({ turnId: 'turn-1' });
  await storage.requeueRun(activeId, failure(NOW));
  const added = agent();
  await storage.accept(work([added]));
  expect((await claim(storage, 9)).map(({ id }) => id)).toContain(activeId);
  expect(await storage.verify()).toEqual([]);
  await storage.close();
  await expect(copyStorage(from, database)).rejects.toMatchObject({ code: 'exists' });
});

test('a source that was used again is copied from the beginning, and one in use is refused', async () => {
  const { url: from } = await filledStore();
  const database = await server.freshUrl();
  const stop = { onProgress: (table: string) => void (table === 'events' && fail()) };
  await expect(copyStorage(from, database, stop)).rejects.toThrow('stopped here');
  const service = await openStorage(from);
  await expect(copyStorage(from, database)).rejects.toMatchObject({ code: 'locked' });
  await service.accept(work([agent()]));
  await service.close();
  expect(await copyStorage(from, database)).toMatchObject({ wasResumed: false });
  expect(await (await opened(database)).verify()).toEqual([]);
});

function fail(): never {
  throw new Error('stopped here');
}

async function opened(url: string): Promise<Awaited<ReturnType<typeof openStorage>>> {
  const storage = await openStorage(url);
  onTestFinished(() => storage.close());
  return storage;
}
