/** Going back to a copy of a store: what is asked before, what is kept, and what is said of open work. */
import { copyFileSync, existsSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { beforeEach, expect, test } from 'vitest';
import { FIRST_TABLES } from '../../../src/engine/storage/statements/first-tables.ts';
import { newestVersion } from '../../../src/engine/storage/statements/migrations.ts';
import { migrate } from '../../../src/engine/storage/sqlite/worker/database-file.ts';
import { openStorage, restoreStorage, type Storage } from '../../../src/engine/storage/storage.ts';
import { agent, agentOf, completion, NOW, summary, work } from '../../support/storage-builders.ts';
import { claim } from '../../support/storage-harness.ts';
import { mountSmallDisk } from '../../support/small-disk.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

let folder: string;
let file: string;
beforeEach(() => {
  folder = temporaryFolder();
  file = join(folder, 'sluice.db');
});

const at = (name: string): string => join(folder, name);
const restore = (copy: string) => restoreStorage(`sqlite:${file}`, at(copy));
const open = (onWarning?: (message: string) => void): Promise<Storage> =>
  openStorage(`sqlite:${file}`, onWarning === undefined ? {} : { onWarning });

async function runIds(): Promise<readonly string[]> {
  const storage = await open();
  const runs = await storage.listRuns({ limit: 100 });
  expect(await storage.verify()).toEqual([]);
  await storage.close();
  return runs.map(({ id }) => id);
}

/** A store with one waiting run, a copy of it, and then more work of every kind. */
async function storeWithCopy(): Promise<{ readonly first: string; readonly later: readonly string[] }> {
  const storage = await open();
  const [first, dead, waiting] = [agentOf('a'), agentOf('b'), agentOf('c')];
  await storage.accept(work([first]));
  await storage.backup(at('copy.db'));
  await claim(storage);
  await storage.accept(work([dead, waiting]));
  await storage.deadLetterRun(dead.id, { error: { code: 'x', message: '' }, summary: summary(), nowMs: NOW });
  // Killed: the log stays beside the file.
  for (const suffix of ['', '-wal']) copyFileSync(file + suffix, at(`killed${suffix}`));
  await storage.close();
  for (const suffix of ['', '-wal']) copyFileSync(at(`killed${suffix}`), file + suffix);
  for (const suffix of ['', '-wal']) rmSync(at(`killed${suffix}`));
  return { first: first.id, later: [dead.id, waiting.id] };
}

test('a log that a killed service left does not undo it, and all of the store before is kept', async () => {
  const { first, later } = await storeWithCopy();
  const report = await restore('copy.db');
  expect(report.waiting).toMatchObject([{ kind: 'run', state: 'waiting', id: first, mappingId: 'a' }]);
  expect(await runIds()).toEqual([first]);
  expect(statSync(file).mode & 0o777).toBe(0o600);
  const before = report.before?.file ?? '';
  const unfinished = report.before?.unfinished?.map(({ kind, id, state }) =>
    kind === 'run' ? [id, state] : kind,
  );
  expect(new Set(unfinished)).toEqual(
    new Set([[first, 'active'], [later[0], 'dead'], [later[1], 'waiting'], 'event']),
  );
  file = before;
  expect(await runIds()).toEqual([...later.toReversed(), first]);
});

test('a store that is damaged makes way, too, with its log', async () => {
  const { first } = await storeWithCopy();
  writeFileSync(file, 'x'.repeat(5_000));
  const { before } = await restore('copy.db');
  expect(before).not.toHaveProperty('unfinished');
  expect(existsSync(`${before?.file ?? ''}-wal`)).toBe(true);
  expect(await runIds()).toEqual([first]);
});

test('work that was done since the copy was made is marked, as it would be done twice', async () => {
  const storage = await open();
  const [done, waiting] = [agent(), agent()];
  await storage.accept(work([done, waiting]));
  await storage.backup(at('copy.db'));
  await claim(storage);
  await storage.completeRun(completion(done.id));
  await storage.close();
  const report = await restore('copy.db');
  const marked = report.waiting.map(({ id, endedSince = false }) => [id, endedSince]);
  expect(new Set(marked)).toEqual(
    new Set([
      [done.id, true],
      [waiting.id, false],
    ]),
  );
});

test.each([
  ['a service uses the store', 'locked', () => open()],
  ['there is no such file', 'not_found', () => rmSync(at('copy.db'))],
  ['the copy is no store', 'not_a_store', () => writeFileSync(at('copy.db'), 'x'.repeat(5_000))],
  [
    'the copy is newer',
    'newer_schema',
    () => new DatabaseSync(at('copy.db')).exec(`PRAGMA user_version = ${newestVersion('sqlite') + 1}`),
  ],
  [
    'the copy is the store itself',
    'exists',
    () => {
      rmSync(at('copy.db'));
      copyFileSync(file, at('other.db'));
      file = at('copy.db');
      copyFileSync(at('other.db'), file);
    },
  ],
] as const)('is refused where %s, and nothing has changed', async (_why, code, arrange) => {
  const storage = await open();
  await storage.accept(work([agent()]));
  await storage.backup(at('copy.db'));
  await storage.close();
  const held = await arrange();
  const names = readdirSync(folder);
  await expect(restore('copy.db')).rejects.toMatchObject({ name: 'StorageError', code });
  expect(readdirSync(folder)).toEqual(names);
  if (held !== undefined && 'backlog' in held) await held.close();
});

test('a copy on another disk is no store, although its file has the same number', async ({ skip }) => {
  const [disk, other] = [mountSmallDisk('8m'), mountSmallDisk('8m')];
  if (disk === undefined || other === undefined) return skip('only root may mount a small file system');
  const { first } = await storeWithCopy();
  file = join(disk, 'sluice.db');
  copyFileSync(at('copy.db'), file);
  const copy = Array.from({ length: 20 }, (_, index) => join(other, `${index}.db`)).find((name) => {
    copyFileSync(at('copy.db'), name);
    return statSync(name).ino === statSync(file).ino;
  });
  if (copy === undefined) return skip('the disks number their files otherwise');
  expect(await restoreStorage(`sqlite:${file}`, copy)).toMatchObject({ waiting: [{ id: first }] });
});

test('a store whose schema cannot be changed stays as it was, and no start leaves a copy of it', async () => {
  const old = new DatabaseSync(file);
  migrate(old, [FIRST_TABLES.sqlite]);
  old.exec('PRAGMA user_version = 7');
  old.exec("INSERT INTO decisions VALUES (1, 'r', NULL, 'skipped', 'no JSON')");
  old.close();
  for (let start = 0; start < 2; start += 1)
    await expect(open()).rejects.toMatchObject({ message: expect.stringContaining('malformed JSON') });
  expect(readdirSync(folder)).toEqual([basename(file)]);
});

test('a store is copied before its schema changes, and the copy brings it back', async () => {
  const old = new DatabaseSync(file);
  migrate(old, [FIRST_TABLES.sqlite]);
  old.exec('PRAGMA user_version = 7');
  old.exec("INSERT INTO decisions VALUES (1, 'r', NULL, 'skipped', '{}')");
  old.close();
  const said: string[] = [];
  const upgraded = await open((message) => said.push(message));
  await upgraded.accept(work([agent()]));
  await upgraded.close();
  const copies = readdirSync(folder).filter((name) => name.includes('.schema-7-'));
  expect(copies).toHaveLength(1);
  expect(said).toEqual([expect.stringContaining(copies[0] ?? '')]);
  expect(readdirSync(folder).filter((name) => name.includes('unfinished'))).toEqual([]);
  const report = await restore(copies[0] ?? '');
  expect(report).toMatchObject({ schema: 7, before: { unfinished: [{ kind: 'run', state: 'waiting' }] } });
  const back = new DatabaseSync(file, { readOnly: true });
  expect(back.prepare('SELECT request_id FROM decisions').all()).toEqual([{ request_id: 'r' }]);
  expect(back.prepare('PRAGMA user_version').get()).toEqual({ user_version: 7 });
  back.close();
  // A store of this schema is not copied again.
  const again: string[] = [];
  file = report.before?.file ?? '';
  await (await open((message) => again.push(message))).close();
  expect(again).toEqual([]);
});
