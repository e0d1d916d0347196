import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { migrate } from '../../src/storage/sqlite/worker/database-file.ts';
import { MIGRATIONS } from '../../src/storage/sqlite/worker/migrations.ts';
import { openStorage, type Storage } from '../../src/storage/storage.ts';
import { NOW } from '../support/storage-builders.ts';
import { claim, ids } from '../support/storage-harness.ts';

let folder: string;
let file: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'sluice-owners-'));
  file = join(folder, 'sluice.db');
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

interface OldRun {
  readonly id: string;
  readonly state: number;
  readonly key: string;
  readonly mappingId: string;
}

/** Makes a store as version 0.1.0 left it: its runs in order of arrival, its sessions with one turn each. */
function makeOldStore(runs: readonly OldRun[], sessions: readonly string[]): void {
  const database = new DatabaseSync(file);
  migrate(database, MIGRATIONS.slice(0, 1), { mappings: {}, sharedPrefixes: [] });
  const insert = database.prepare(
    `INSERT INTO runs (id, kind, state, session_key, line, mapping_id, runner, bytes, accepted_at, due_at, ended_at)
     VALUES (?, 'hook', ?, ?, ?, ?, '', 2, 1, 1, ?)`,
  );
  const insertAction = database.prepare(
    'INSERT INTO run_actions (seq, action) VALUES (?, \'{"kind":"agent"}\')',
  );
  for (const { id, state, key, mappingId } of runs) {
    const { lastInsertRowid } = insert.run(id, state, key, key, mappingId, state >= 4 ? NOW : null);
    insertAction.run(lastInsertRowid);
  }
  for (const key of sessions) {
    database.prepare('INSERT INTO sessions VALUES (?, 1, 4, ?, ?)').run(key, NOW, NOW);
    database
      .prepare("INSERT INTO session_turns (session_key, role, at, bytes, text) VALUES (?, 'user', ?, 4, ?)")
      .run(key, NOW, `turn of ${key}`);
  }
  const count = (from: number, to: number) => runs.filter(({ state }) => state >= from && state <= to).length;
  database
    .prepare(
      'UPDATE counters SET queued_runs = ?, active_runs = ?, ended_runs = ?, run_bytes = ?, sessions = ?',
    )
    .run(count(0, 2), count(3, 3), count(4, 5), 2 * count(0, 3), sessions.length);
  database.close();
}

async function ownersOf(storage: Storage): Promise<Readonly<Record<string, string>>> {
  const sessions = await storage.listSessions({ limit: 100 });
  return Object.fromEntries(sessions.map(({ key, owner }) => [key, owner]));
}

test('a stored session goes to the mapping of its last run and keeps its session id', async () => {
  makeOldStore(
    [
      { id: 'r1', state: 4, key: 'k', mappingId: 'first' },
      { id: 'r2', state: 4, key: 'k', mappingId: 'last' },
      { id: 'r3', state: 4, key: 'body', mappingId: '' },
      { id: 'r4', state: 4, key: 'team:x', mappingId: 'last' },
      { id: 'r5', state: 4, key: 'openclaw', mappingId: 'mapping-1' },
    ],
    ['k', 'body', 'team:x', 'openclaw', 'main', 'forgotten'],
  );
  const owners = { mappings: { 'mapping-1': 'mappings' }, sharedPrefixes: ['team:'] };
  const storage = await openStorage(`sqlite:${file}`, { owners });
  expect(await ownersOf(storage)).toEqual({
    k: 'mapping:last',
    body: 'request',
    'team:x': 'shared',
    openclaw: 'mappings',
    main: 'main',
    forgotten: 'unknown',
  });
  expect(await storage.findConversation({ owner: 'mapping:last', key: 'k' })).toEqual({
    turns: [{ role: 'user', text: 'turn of k', at: NOW }],
    hasKeyOnlyId: true,
  });
  expect(await storage.findConversation({ owner: 'request', key: 'k' })).toEqual({
    turns: [],
    hasKeyOnlyId: false,
  });
  expect(await storage.verify()).toEqual([]);
  await storage.close();
});

test('runs that waited in one queue wait in the queues of their owners, the first of each ready', async () => {
  makeOldStore(
    [
      { id: 'a1', state: 3, key: 'k', mappingId: 'a' },
      { id: 'a2', state: 0, key: 'k', mappingId: 'a' },
      { id: 'b1', state: 0, key: 'k', mappingId: 'b' },
      { id: 'b2', state: 0, key: 'k', mappingId: 'b' },
      { id: 'r1', state: 0, key: 'k', mappingId: '' },
    ],
    [],
  );
  const storage = await openStorage(`sqlite:${file}`);
  expect(await storage.verify()).toEqual([]);
  expect(ids(await claim(storage))).toEqual(['b1', 'r1']);
  expect(await storage.findRun('b2')).toMatchObject({ state: 'queued', action: { owner: 'mapping:b' } });
  await storage.close();
});
