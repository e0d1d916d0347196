import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  copyFileSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { fileURLToPath } from 'node:url';
import { beforeEach, expect, onTestFinished, test } from 'vitest';
import { newestVersion, stepsFrom } from '../../../src/engine/storage/statements/migrations.ts';
import {
  APPLICATION_ID,
  migrate,
  takePerformerLock,
} from '../../../src/engine/storage/sqlite/worker/database-file.ts';
import { makeStorage } from '../../../src/engine/storage/client/make-storage.ts';
import { WorkerClient } from '../../../src/engine/storage/client/worker-client.ts';
import { inspect } from '../../../src/engine/storage/sqlite/inspector.ts';
import { explainSqliteError } from '../../../src/engine/storage/sqlite/sqlite-errors.ts';
import { StoreFiles } from '../../../src/engine/storage/sqlite/worker/store-files.ts';
import { createPageCounter } from '../../../src/engine/storage/sqlite/worker/log-mark.ts';
import { openStorage, type Storage, storeStatus } from '../../../src/engine/storage/storage.ts';
import type { StorageErrorCode } from '../../../src/engine/storage/storage-error.ts';
import { agent, completion, NOW, wake, work } from '../../support/storage-builders.ts';
import { until } from '../../support/service-process.ts';
import { longerHere } from '../../support/longer-here.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

let folder: string;
let file: string;
beforeEach(() => {
  folder = temporaryFolder();
  file = join(folder, 'sluice.db');
});

async function storeWith(runs: number): Promise<void> {
  const storage = await openStorage(`sqlite:${file}`);
  await storage.accept(work(Array.from({ length: runs }, () => agent({ prompt: 'x'.repeat(3000) }))));
  await storage.close();
}

/** Every file of the folder with its bytes. */
function photograph(): readonly string[] {
  return readdirSync(folder)
    .sort()
    .map((name) => `${name} ${readFileSync(join(folder, name)).toString('base64')}`);
}

/** The store is refused for this reason, with a remedy, and nothing beside or in it has changed. */
async function expectRefused(code: StorageErrorCode, message: RegExp): Promise<void> {
  const before = photograph();
  await expect(openStorage(`sqlite:${file}`)).rejects.toMatchObject({
    name: 'StorageError',
    code,
    message: expect.stringMatching(message) as string,
  });
  expect(photograph()).toEqual(before);
}

test('makes its folder 0700 and its files 0600, and closes a file that was open to others', async () => {
  file = join(folder, 'a', 'b', 'sluice.db');
  const storage = await openStorage(`sqlite:${file}`);
  await storage.accept(work([wake()]));
  const modeOf = (path: string) => (statSync(path).mode & 0o777).toString(8);
  expect(modeOf(join(folder, 'a', 'b'))).toBe('700');
  expect(readdirSync(join(folder, 'a', 'b')).sort()).toEqual([
    'sluice.db',
    'sluice.db-shm',
    'sluice.db-wal',
    'sluice.db.lock',
    'sluice.db.mark',
  ]);
  for (const suffix of ['', '-wal', '-shm', '.lock', '.mark']) expect(modeOf(file + suffix)).toBe('600');
  const copy = join(folder, 'copy.db');
  await storage.backup(copy);
  expect(modeOf(copy)).toBe('600');
  await storage.close();
  chmodSync(file, 0o644);
  await (await openStorage(`sqlite:${file}`)).close();
  expect(modeOf(file)).toBe('600');
});

test('refuses a store of a newer schema', async () => {
  await storeWith(1);
  const database = new DatabaseSync(file);
  const known = newestVersion('sqlite');
  database.exec(`PRAGMA user_version = ${known + 1}; PRAGMA journal_mode = DELETE`);
  database.close();
  const message = `schema version ${known + 1}, this Sluice knows up to ${known}; run the newer Sluice`;
  await expectRefused('newer_schema', new RegExp(message));
});

test('refuses a store of before the first release, and says which version takes it further', async () => {
  await storeWith(1);
  const database = new DatabaseSync(file);
  database.exec('PRAGMA user_version = 6; PRAGMA journal_mode = DELETE');
  database.close();
  await expectRefused(
    'failed',
    /schema version 6, which is from before 0\.1\.0; start version 0\.1\.0 on it/,
  );
});

test('takes an older schema to the newest in one transaction, or leaves it as it was', () => {
  const database = new DatabaseSync(file);
  migrate(database, stepsFrom(0, 'sqlite'));
  const next = "CREATE TABLE more (name TEXT); INSERT INTO more VALUES ('one')";
  database.exec('PRAGMA user_version = 7');
  expect(() => migrate(database, [next, 'this is not SQL'])).toThrow(/syntax error/);
  expect(database.prepare('PRAGMA user_version').get()).toEqual({ user_version: 7 });
  migrate(database, [next]);
  expect(database.prepare('PRAGMA user_version').get()).toEqual({ user_version: newestVersion('sqlite') });
  expect(database.prepare('PRAGMA application_id').get()).toEqual({ application_id: APPLICATION_ID });
  expect(database.prepare('SELECT name FROM more').all()).toEqual([{ name: 'one' }]);
  database.close();
});

test('refuses a file that is no database', async () => {
  writeFileSync(file, 'these are notes, not a store\n'.repeat(500));
  await expectRefused('not_a_store', /is not a store.*storage restore/);
});

test("refuses another program's database", async () => {
  const database = new DatabaseSync(file);
  database.exec('CREATE TABLE bookmarks (url TEXT)');
  database.close();
  await expectRefused('not_a_store', /another program's database; give storage.url another path/);
});

test('refuses a store whose pages are overwritten', async () => {
  await storeWith(200);
  const bytes = readFileSync(file);
  bytes.fill(0x5a, 8192, bytes.length - 8192);
  writeFileSync(file, bytes);
  await expectRefused('corrupt', /damaged.*sluice storage backup/);
});

test('refuses a store that was cut short', async () => {
  await storeWith(200);
  truncateSync(file, Math.floor(statSync(file).size / 2 / 4096) * 4096);
  await expectRefused('corrupt', /damaged.*sluice storage backup/);
});

test('refuses a read-only file and a read-only folder', async () => {
  await storeWith(1);
  chmodSync(file, 0o400);
  await expectRefused('read_only', /cannot be written .*make it writable/);
  chmodSync(file, 0o600);
  rmSync(file);
  rmSync(`${file}.lock`);
  chmodSync(folder, 0o500);
  await expectRefused('read_only', /cannot be written .*make it writable/);
  chmodSync(folder, 0o700);
});

test('refuses a folder that cannot be made, a folder in place of the file, and other URLs', async () => {
  writeFileSync(join(folder, 'plain'), '');
  file = join(folder, 'plain', 'sluice.db');
  await expect(openStorage(`sqlite:${file}`)).rejects.toMatchObject({ code: 'unwritable' });
  mkdirSync(join(folder, 'sluice.db'));
  await expect(openStorage(`sqlite:${join(folder, 'sluice.db')}`)).rejects.toMatchObject({
    code: 'not_a_store',
  });
  for (const url of ['sqlite:', 'sqlite::memory:', 'mysql://host', file]) {
    await expect(openStorage(url)).rejects.toMatchObject({ code: 'invalid_url' });
  }
});

test.each(['ab/', '/', '12/', '12/3?', '12#', '12?', 'a@b/'])(
  'an address whose password begins with %s is not shown, and what to write is said',
  async (start) => {
    const url = `postgres://user:${start}secret@host/work`;
    for (const use of [openStorage, storeStatus])
      await expect(use(url)).rejects.toMatchObject({
        code: 'invalid_url',
        message: expect.not.stringMatching(/secret|12/) as string,
      });
    await expect(storeStatus(url)).rejects.toThrow('%2F');
  },
);

test('attaches to no store that nobody made', async () => {
  await expect(openStorage(`sqlite:${file}`, { mode: 'attached' })).rejects.toMatchObject({
    code: 'not_found',
    message: expect.stringContaining('start the service once') as string,
  });
  expect(readdirSync(folder)).toEqual([]);
});

test('who is attached has no thread, reads and writes as a service does, and is refused when it has closed', async () => {
  const storage = await openStorage(`sqlite:${file}`);
  const attached = await openStorage(`sqlite:${file}`, { mode: 'attached' });
  const keyed = (bodySha256: string) =>
    work([agent()], { idempotency: { scope: 'agent', key: 'one', bodySha256, ttlSeconds: 60 } });
  const changed = new Promise<void>((heard) => storage.onOutsideChange(heard));
  await storage.accept(keyed('a'));
  expect(await attached.listRuns({ limit: 10 })).toEqual(await storage.listRuns({ limit: 10 }));
  await attached.accept(work([wake()]));
  await changed;
  expect(await storage.listEvents({ limit: 10 })).toHaveLength(1);
  await expect(attached.accept(keyed('b'))).rejects.toMatchObject({
    code: 'idempotency_mismatch',
  });
  expect(await attached.verify()).toEqual([]);
  await attached.close();
  await attached.close();
  await expect(attached.listRuns({ limit: 1 })).rejects.toMatchObject({ code: 'closed' });
  await storage.close();
});

test('starts on a file left empty by a process that was killed while it made it', async () => {
  writeFileSync(file, '');
  const storage = await openStorage(`sqlite:${file}`);
  await storage.accept(work([wake()]));
  await storage.close();
});

/** Begins a transaction on the file, lets its pages reach the disk, and is killed before it ends. */
const CUT_SHORT = `
  const { DatabaseSync } = require('node:sqlite');
  const database = new DatabaseSync(process.argv[1]);
  database.exec('PRAGMA cache_size = 5; BEGIN; CREATE TABLE half (text TEXT)');
  for (let row = 0; row < 500; row += 1) database.exec("INSERT INTO half VALUES (hex(randomblob(900)))");
  process.kill(process.pid, 'SIGKILL');
`;

test('undoes what a process began that was killed while it made or migrated the store', async () => {
  for (const before of ['nothing', 'a store']) {
    if (before === 'a store') {
      const database = new DatabaseSync(file);
      database.exec('PRAGMA journal_mode = DELETE');
      database.close();
    }
    expect(() => execFileSync(process.execPath, ['-e', CUT_SHORT, file])).toThrow();
    expect(statSync(`${file}-journal`).size).toBeGreaterThan(0);
    const storage = await openStorage(`sqlite:${file}`);
    await storage.accept(work([wake()]));
    expect(await storage.verify()).toEqual([]);
    await storage.close();
  }
});

test('copies the store while it is in use, and never over another file', async () => {
  const storage = await openStorage(`sqlite:${file}`);
  await storage.accept(work([agent(), wake()]));
  const copy = join(folder, 'copy.db');
  const [, ...accepted] = await Promise.all([
    storage.backup(copy),
    ...Array.from({ length: 50 }, () => storage.accept(work([agent()]))),
  ]);
  expect(accepted).toHaveLength(50);
  await expect(storage.backup(copy)).rejects.toMatchObject({ code: 'exists' });
  await expect(storage.backup(join(folder, 'none', 'copy.db'))).rejects.toMatchObject({ code: 'unwritable' });
  await storage.close();
  const restored = await openStorage(`sqlite:${copy}`);
  expect(await restored.verify()).toEqual([]);
  expect((await restored.backlog()).queuedRuns).toBeGreaterThanOrEqual(1);
  await restored.close();
});

test('names what does not fit together when it verifies', async () => {
  const storage = await openStorage(`sqlite:${file}`);
  await storage.accept(work([agent()]));
  const database = new DatabaseSync(file);
  database.exec('DELETE FROM run_actions');
  database.exec('UPDATE counters SET queued_runs = 3');
  database.close();
  expect(await storage.verify()).toEqual([
    'runs without an action: 1',
    'difference of the counter queued_runs: 2',
  ]);
  await storage.close();
});

test('forgets what counted an hour of questions to people with the next one, where no mapping has limits', async () => {
  const storage = await openStorage(`sqlite:${file}`);
  const question = { account: 'ann', wanted: 'write', sender: 'github', parts: {} } as const;
  const startedBy = { question, asksOthers: true } as const;
  const error = { code: 'not_allowed', message: 'why' };
  const ask = async (account: string, nowMs: number): Promise<void> => {
    const one = agent({ startedBy, approve: { channel: 'slack', withinSeconds: 60 } });
    await storage.accept(work([one]));
    const refused = { kind: 'refused', account, error, callbacks: [] } as const;
    expect(await storage.decideStart([one.id], refused, nowMs)).toBe('asked');
  };
  for (const account of ['ann', 'ben']) await ask(account, NOW);
  await ask('carl', NOW + 3_600_000);
  await storage.close();
  const database = new DatabaseSync(file, { readOnly: true });
  expect(database.prepare('SELECT line FROM run_starts').all()).toEqual([{ line: 'carl' }]);
  database.close();
});

test('answers 503 while another process holds the store for long, and goes on afterwards', async () => {
  const storage = await openStorage(`sqlite:${file}`);
  const database = new DatabaseSync(file);
  database.exec('BEGIN IMMEDIATE');
  const results = await Promise.allSettled([storage.accept(work([wake()])), storage.accept(work([agent()]))]);
  for (const result of results) {
    expect(result).toMatchObject({
      status: 'rejected',
      reason: { code: 'storage_unavailable', status: 503 },
    });
  }
  expect(storage.health()).toMatchObject({ kind: 'unavailable', code: 'busy' });
  database.exec('ROLLBACK');
  database.close();
  await until('the store to be free', () => storage.health().kind === 'ok');
  await storage.accept(work([wake()]));
  expect(await storage.backlog()).toMatchObject({ pendingEvents: 1, queuedRuns: 0 });
  await storage.close();
});

/** A store whose thread stops in each commit while a file is there, as one does whose disk hangs. */
async function openHeldBy(hold: string): Promise<Storage> {
  const limits = { maxBacklogRuns: 1_000, maxBacklogBytes: 1e9, maxPendingEvents: 1_000 };
  const client = await WorkerClient.open({
    entry: new URL('../../fixtures/held-storage-thread.ts', import.meta.url),
    input: { file, fsync: true, limits, hold },
    place: file,
    explain: (error) => explainSqliteError(error, file),
  });
  const verify = () => inspect({ task: 'verify', file });
  return makeStorage(client, { verify, backup: () => Promise.resolve() });
}

test('a disk that hangs: 503 in time, then at once; what was not begun is not stored, and what was is known by its key', async () => {
  const hold = join(folder, 'hold');
  const storage = await openHeldBy(hold);
  let heard = 0;
  storage.onOutsideChange(() => (heard += 1));
  const [before, begun] = [agent(), agent()] as const;
  await storage.accept(work([before]));
  const refused = { status: 503, retryAfterSeconds: 2, cause: { code: 'unreachable' } };
  const idempotency = { scope: 's', key: 'k', bodySha256: 'x', ttlSeconds: 60 };
  const keyed = () => storage.accept(work([begun], { idempotency }));
  writeFileSync(hold, '');
  const began = performance.now();
  const first = expect(keyed()).rejects.toMatchObject(refused);
  await until('the commit', () => readFileSync(hold, 'utf8') === 'held');
  const later = Array.from({ length: 9 }, () => storage.accept(work([agent(), wake()])));
  await Promise.all([first, ...later.map((each) => expect(each).rejects.toMatchObject(refused))]);
  const firstMs = performance.now() - began;
  expect(firstMs).toBeLessThan(longerHere(14_000));
  expect(storage.health()).toMatchObject({ kind: 'unavailable', code: 'unreachable' });
  expect(storage.health()).toHaveProperty('message', expect.stringContaining(file));
  for (const asked of [storage.findIdempotent('s', 'k', NOW), storage.findRun(before.id)])
    await expect(asked).rejects.toMatchObject({ code: 'unreachable' });
  for (let number = 0; number < 100; number += 1)
    await expect(storage.accept(work([agent()]))).rejects.toMatchObject(refused);
  // Each of the hundred waits for nothing.
  expect(performance.now() - began).toBeLessThan(2 * firstMs);
  rmSync(hold);
  const again = await until('the repeat to be answered', () => keyed().catch(() => undefined));
  expect(again.duplicate).toBe(true);
  expect(storage.health()).toEqual({ kind: 'ok' });
  expect(heard).toBeGreaterThan(0);
  expect((await storage.listRuns({ limit: 99 })).map(({ id }) => id)).toEqual([begun.id, before.id]);
  expect(await storage.backlog()).toMatchObject({ queuedRuns: 2, pendingEvents: 0 });
  expect(await storage.verify()).toEqual([]);
  await storage.close();
});

test('a store that is moved away takes nothing up, lets what is under way end in it, and goes on when it is back', async () => {
  const storage = await openStorage(`sqlite:${file}`);
  const seen: string[] = [];
  storage.onHealthChange((health) => seen.push(health.kind === 'ok' ? 'ok' : health.code));
  const [active, queued] = [agent(), agent()] as const;
  await storage.accept(work([active, queued]));
  await storage.claimRuns({ nowMs: NOW, limit: 1 });
  expect(storage.health()).toEqual({ kind: 'ok' });

  const moved = join(folder, 'moved.db');
  renameSync(file, moved);
  await expect(storage.accept(work([wake()]))).rejects.toMatchObject({
    code: 'storage_unavailable',
    status: 503,
    cause: {
      code: 'replaced',
      message: expect.stringMatching(/was moved away or replaced.*put it back/) as string,
    },
  });
  await expect(storage.claimRuns({ nowMs: NOW, limit: 1 })).rejects.toMatchObject({ code: 'replaced' });
  expect(await storage.completeRun(completion(active.id))).toBe(true);
  expect(storage.health()).toMatchObject({ kind: 'unavailable', code: 'replaced' });

  copyFileSync(moved, file);
  await expect(storage.accept(work([wake()]))).rejects.toMatchObject({ cause: { code: 'replaced' } });
  renameSync(moved, file);
  await until('the store to be well', () => storage.health().kind === 'ok');
  await storage.accept(work([wake()]));
  expect(await storage.backlog()).toMatchObject({ queuedRuns: 1, activeRuns: 0 });
  expect(seen).toEqual(['replaced', 'ok']);
  await storage.close();
});

test('a folder that cannot be reached for a while is told as one that was moved away, and ends no service', async () => {
  const place = join(folder, 'place');
  mkdirSync(place);
  file = join(place, 'sluice.db');
  const storage = await openStorage(`sqlite:${file}`);
  const failures: unknown[] = [];
  storage.onFailure((error) => failures.push(error));
  renameSync(place, join(folder, 'moved'));
  // A link that leads to itself: nobody may say whether there is anything.
  symlinkSync('place', place);
  await until('the store to be missed', () => storage.health().kind === 'unavailable');
  expect(storage.health()).toMatchObject({ code: 'replaced' });
  rmSync(place);
  renameSync(join(folder, 'moved'), place);
  await until('the store to be well', () => storage.health().kind === 'ok');
  await storage.accept(work([wake()]));
  expect(failures).toEqual([]);
  await storage.close();
});

test('a file whose time changes again and again is read by one check at a time, and once more after the last change', async () => {
  writeFileSync(file, 'x');
  const checks: ((findings: readonly string[]) => void)[] = [];
  const files = new StoreFiles(file, {
    countPages: () => ({ log: 1, checkpointed: 1 }),
    checkPages: () => new Promise((resolve) => checks.push(resolve)),
  });
  for (const second of [1, 2, 3]) {
    utimesSync(file, second, second);
    expect(files.findReplaced()).toBeUndefined();
  }
  expect(checks).toHaveLength(1);
  checks[0]?.([]);
  await until('another check', () => checks.length === 2);
  checks[1]?.(['a page is spoilt']);
  await until('the finding', () => files.findReplaced()?.code === 'corrupt');
  expect(checks).toHaveLength(2);
});

test('a start waits for who looks at the lock for a moment, and gets the file that others find', async () => {
  const lock = takePerformerLock(file);
  // As where it belongs to a start that fails: its file is taken away.
  setTimeout(() => lock.undo(), 400);
  const storage = await openStorage(`sqlite:${file}`);
  await expect(openStorage(`sqlite:${file}`)).rejects.toMatchObject({ code: 'locked' });
  await storage.close();
});

test('a lock that cannot be had is called held only where somebody has it', async () => {
  await storeWith(1);
  writeFileSync(`${file}.lock`, 'x'.repeat(5_000));
  await expectRefused('failed', /\.lock: cannot be locked \(file is not a database\); give storage.url/);
  await expect(storeStatus(`sqlite:${file}`)).rejects.toThrow('cannot be locked');
});

test('notices within a second that its lock was taken away, without any work', async () => {
  const storage = await openStorage(`sqlite:${file}`);
  renameSync(`${file}.lock`, join(folder, 'elsewhere.lock'));
  await until('the store to be missed', () => storage.health().kind === 'unavailable');
  expect(storage.health()).toMatchObject({ code: 'replaced' });
  await storage.close();
});

test('fails a call whose argument cannot go to its thread, and only that', async () => {
  const storage = await openStorage(`sqlite:${file}`);
  const odd = { nowMs: NOW, limit: 1, maxPerRunner: (() => 1) as unknown as ReadonlyMap<string, number> };
  const [accepted, claimed] = await Promise.allSettled([
    storage.accept(work([agent()])),
    storage.claimRuns(odd),
  ]);
  expect(accepted.status).toBe('fulfilled');
  expect(claimed).toMatchObject({ status: 'rejected', reason: { name: 'StorageError', code: 'failed' } });
  expect(await storage.backlog()).toMatchObject({ queuedRuns: 1 });
  await storage.close();
});

/** Runs a command of the operating system. */
function system(command: string, ...rest: string[]): void {
  execFileSync(command, rest, { stdio: 'ignore' });
}

/** A file system of one megabyte; undefined where this user may not mount one. */
function mountSmallDisk(): string | undefined {
  const place = join(folder, 'disk');
  mkdirSync(place);
  try {
    system('mount', '-t', 'tmpfs', '-o', 'size=1m', 'tmpfs', place);
    return place;
  } catch {
    return undefined;
  }
}

test('a disk that takes no mark ends no service', async ({ skip }) => {
  const disk = mountSmallDisk();
  if (disk === undefined) return skip('only root may mount a small file system');
  onTestFinished(() => system('umount', '-l', disk));
  writeFileSync(join(disk, 'mark'), '');
  expect(() => writeFileSync(join(disk, 'filler'), Buffer.alloc(8_000_000))).toThrow(/ENOSPC/);
  symlinkSync(join(disk, 'mark'), `${file}.mark`);
  const storage = await openStorage(`sqlite:${file}`);
  const failures: unknown[] = [];
  storage.onFailure((error) => failures.push(error));
  await storage.accept(work([wake()]));
  rmSync(join(disk, 'filler'));
  await until('the mark', () => readFileSync(`${file}.mark`, 'utf8').includes('"events":1'));
  expect(failures).toEqual([]);
  await storage.close();
});

test('stores nothing of what a full disk refuses, goes on when there is space, and starts only with space', async ({
  skip,
}) => {
  const disk = mountSmallDisk();
  if (disk === undefined) skip('only root may mount a small file system');
  else {
    try {
      await fillDisk(disk);
    } finally {
      system('umount', '-l', disk);
    }
  }
});

async function fillDisk(disk: string): Promise<void> {
  const url = `sqlite:${join(disk, 'sluice.db')}`;
  const storage = await openStorage(url);
  const accepted: string[] = [];
  const acceptUntilRefused = async (): Promise<unknown> => {
    for (;;) {
      const run = agent({ prompt: 'x'.repeat(20_000) });
      try {
        await storage.accept(work([run]));
      } catch (error) {
        return error;
      }
      accepted.push(run.id);
    }
  };
  expect(await acceptUntilRefused()).toMatchObject({
    code: 'storage_unavailable',
    retryAfterSeconds: 30,
    cause: { code: 'disk_full', message: expect.stringContaining('free some') as string },
  });
  expect(storage.health()).toMatchObject({ kind: 'unavailable', code: 'disk_full' });
  const stored = await storage.listRuns({ limit: 1000 });
  expect(stored.map(({ id }) => id).reverse()).toEqual(accepted);

  system('mount', '-o', 'remount,size=4m', disk);
  await until('the store to have space', () => storage.health().kind === 'ok');
  await storage.close();
  const again = await openStorage(url);
  expect(await again.verify()).toEqual([]);
  expect(await again.claimRuns({ nowMs: NOW, limit: 1000 })).toHaveLength(accepted.length);
  await again.close();

  const filler = join(disk, 'filler');
  const before = readFileSync(join(disk, 'sluice.db'));
  expect(() => writeFileSync(filler, Buffer.alloc(8_000_000))).toThrow(/ENOSPC/);
  await expect(openStorage(url)).rejects.toMatchObject({ code: 'disk_full' });
  expect(readFileSync(join(disk, 'sluice.db')).equals(before)).toBe(true);
  rmSync(filler);
  await (await openStorage(url)).close();
}

/** A store in a process of its own, with this many runs, killed after its log was spoilt. */
async function killWithSpoiltLog(runs: number, spoil: () => void): Promise<void> {
  const holder = fileURLToPath(new URL('../../fixtures/storage-holder.ts', import.meta.url));
  const child = spawn(process.execPath, [holder, `sqlite:${file}`, String(runs)], { stdio: 'pipe' });
  onTestFinished(() => void child.kill('SIGKILL'));
  let said = '';
  child.stdout.on('data', (chunk: Buffer) => (said += chunk.toString()));
  child.stderr.on('data', (chunk: Buffer) => (said += chunk.toString()));
  await until('the runs to be stored', () => said.includes('stored'));
  spoil();
  await until('the loss to be noticed', () => /trouble (?:corrupt|replaced)/.test(said));
  child.stdin.write('more');
  await until('a refusal', () => said.includes('refused storage_unavailable'));
  const ended = once(child, 'exit');
  child.kill('SIGKILL');
  await ended;
}

test.each([
  ['cut to nothing', () => truncateSync(`${file}-wal`, 0)],
  ['cut in the middle', () => truncateSync(`${file}-wal`, statSync(`${file}-wal`).size / 2)],
  ['taken away', () => rmSync(`${file}-wal`)],
])(
  'a log that is %s under a running service is noticed, and said until the operator has dealt with it',
  async (_, spoil) => {
    await killWithSpoiltLog(70, spoil);
    const missing = /^\d+ runs that were stored before 20.* are missing: the log of the store was cut short/;
    const attached = await openStorage(`sqlite:${file}`, { mode: 'attached' });
    const left = (await attached.listRuns({ limit: 100 })).length;
    expect(left).toBeLessThan(70);
    expect(await attached.verify()).toEqual([expect.stringMatching(missing)]);
    await attached.close();
    const warnings: string[] = [];
    const onWarning = (text: string) => void warnings.push(text);
    const again = await openStorage(`sqlite:${file}`, { onWarning });
    expect(warnings).toEqual([expect.stringContaining(`: ${70 - left} runs that were stored before`)]);
    await again.accept(work(Array.from({ length: 100 }, () => agent())));
    expect(await again.verify()).toEqual([expect.stringMatching(missing)]);
    await again.close();
    rmSync(`${file}.mark`);
    const mended = await openStorage(`sqlite:${file}`);
    expect(await mended.verify()).toEqual([]);
    await mended.close();
  },
);

test('a log that is begun anew, pruned rows and a kill are no loss', async () => {
  const storage = await openStorage(`sqlite:${file}`);
  for (let round = 0; round < 2; round += 1) {
    const runs = Array.from({ length: 60 }, () => agent({ prompt: 'x'.repeat(60_000) }));
    await storage.accept(work(runs));
    await storage.claimRuns({ nowMs: NOW, limit: 60 });
    for (const { id } of runs) await storage.completeRun(completion(id));
    await storage.prune({ maxAgeMs: 1, maxRows: 0 }, NOW + 60_000);
    expect(await storage.verify()).toEqual([]);
  }
  await storage.close();
  const again = await openStorage(`sqlite:${file}`);
  expect(await again.verify()).toEqual([]);
  await again.close();
});

const PAGE_BYTES = 4096;
/** As many pages as the log holds before a checkpoint is worth it. */
const WORTH_BYTES = 1000 * PAGE_BYTES;

/** Accepts runs of some pages, each in a commit with some others, until this much was written. */
async function write(storage: Storage, bytes: number): Promise<number> {
  const prompt = 'p'.repeat(40_000);
  let count = 0;
  for (let written = 0; written < bytes; written += 8 * prompt.length) {
    await Promise.all(Array.from({ length: 8 }, () => storage.accept(work([agent({ prompt })]))));
    count += 8;
  }
  return count;
}

function waitingPages(): number {
  const database = new DatabaseSync(file);
  try {
    const { log, checkpointed } = createPageCounter(database)()!;
    return log - checkpointed;
  } finally {
    database.close();
  }
}

test('begins the log anew while commits go on, also after another process has read, and leaves none when it closes', async () => {
  const storage = await openStorage(`sqlite:${file}`);
  let count = await write(storage, 8 * WORTH_BYTES);
  // Without checkpoints the log would hold all of it.
  expect(statSync(`${file}-wal`).size).toBeLessThan(3 * WORTH_BYTES);
  const reader = new DatabaseSync(file, { readOnly: true });
  reader.exec('BEGIN; SELECT count(*) FROM runs');
  count += await write(storage, 3 * WORTH_BYTES);
  expect(waitingPages()).toBeGreaterThan(1000);
  reader.close();
  await until('the copy of the log', async () => {
    count += await write(storage, 1);
    return waitingPages() < 1000;
  });
  await storage.close();
  expect([existsSync(`${file}-wal`), existsSync(`${file}-shm`)]).toEqual([false, false]);
  const again = await openStorage(`sqlite:${file}`);
  expect(await again.verify()).toEqual([]);
  expect((await again.backlog()).queuedRuns).toBe(count);
  await again.close();
});

/** Another program writes into a file that a service has open, without SQLite. */
const overwrite = {
  'an older copy': () => execFileSync('cp', [`${file}.copy`, file]),
  'an older copy of the same size': () =>
    execFileSync('dd', [`if=${file}.same`, `of=${file}`, 'conv=notrunc', 'status=none']),
  nothing: () => execFileSync('truncate', ['-s', '0', file]),
  'its first half': () =>
    execFileSync('truncate', ['-s', String(Math.floor(statSync(file).size / 8192) * 4096), file]),
  'other bytes in the middle': () =>
    execFileSync('dd', [
      'if=/dev/urandom',
      `of=${file}`,
      'bs=4096',
      'seek=20',
      'count=30',
      'conv=notrunc',
      'status=none',
    ]),
  'an older log': () => execFileSync('cp', [`${file}.log`, `${file}-wal`]),
};

test.each(Object.entries(overwrite))(
  'a store that becomes %s under a running service takes nothing more within seconds, and it is said until it was dealt with',
  async (what, spoil) => {
    await storeWith(40);
    const storage = await openStorage(`sqlite:${file}`);
    await storage.accept(work(Array.from({ length: 3 }, () => agent())));
    await storage.backup(`${file}.copy`);
    execFileSync('cp', [file, `${file}.same`]);
    execFileSync('cp', [`${file}-wal`, `${file}.log`]);
    for (let round = 0; round < 10; round += 1)
      await storage.accept(work(Array.from({ length: 8 }, () => agent({ prompt: 'y'.repeat(9_000) }))));
    const shell = new DatabaseSync(file);
    if (!what.includes('log')) shell.exec('PRAGMA wal_checkpoint(RESTART)');
    await storage.accept(work([agent()]));
    await until(
      'the mark',
      () => storage.health().kind === 'ok' && readFileSync(`${file}.mark`, 'utf8').includes('"runs":124'),
    );
    spoil();
    await until('trouble', async () => {
      if (what.includes('log')) await storage.accept(work([agent()])).catch(() => undefined);
      return storage.health().kind === 'unavailable' ? true : undefined;
    });
    expect(storage.health()).toMatchObject({ code: 'corrupt' });
    for (let round = 0; round < 3; round += 1)
      await expect(storage.accept(work([agent()]))).rejects.toMatchObject({ code: 'storage_unavailable' });
    const attached = await openStorage(`sqlite:${file}`, { mode: 'attached' }).catch(() => undefined);
    // What cannot even be opened says so itself.
    const findings = await attached?.verify().catch((error: Error) => [error.message]);
    expect(findings ?? ['refused']).not.toEqual([]);
    await attached?.close();
    await storage.close();
    shell.close();
    const warnings: string[] = [];
    const again = await openStorage(`sqlite:${file}`, {
      onWarning: (text) => void warnings.push(text),
    }).catch(() => undefined);
    await again?.close();
    if (again !== undefined)
      expect(warnings.join()).toMatch(/something else wrote into the store or its log at 20|are missing/);
  },
);

test('checkpoints of the service and of other programs, and another time of the file, are no trouble', async () => {
  const storage = await openStorage(`sqlite:${file}`);
  const said: string[] = [];
  storage.onHealthChange((health) => void said.push(JSON.stringify(health)));
  // A checkpoint waits for who reads, as the service does that checks its pages.
  const shell = new DatabaseSync(file, { timeout: 5_000 });
  const big = () => Array.from({ length: 40 }, () => agent({ prompt: 'z'.repeat(30_000) }));
  for (const mode of ['PASSIVE', 'RESTART', 'TRUNCATE', 'FULL']) {
    await Promise.all(Array.from({ length: 5 }, () => storage.accept(work(big()))));
    shell.exec(`PRAGMA wal_checkpoint(${mode})`);
    // The service looks at a log that is empty, as all of it is in the store.
    if (mode === 'TRUNCATE')
      await until('a look', () => readFileSync(`${file}.mark`, 'utf8').includes('"bytes":0'));
    shell.exec('UPDATE counters SET opened = opened + 1');
    await storage.accept(work([agent()]));
    execFileSync('touch', [file]);
    const marked = readFileSync(`${file}.mark`, 'utf8');
    await storage.accept(work([agent()]));
    await until('the next mark', () => readFileSync(`${file}.mark`, 'utf8') !== marked);
  }
  shell.close();
  expect(await storage.verify()).toEqual([]);
  expect(said).toEqual([]);
  await storage.close();
});
