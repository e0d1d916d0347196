import { execFile } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { promisify } from 'node:util';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { Checkpoints } from '../../../src/engine/storage/sqlite/worker/checkpoints.ts';
import { createPageCounter } from '../../../src/engine/storage/sqlite/worker/log-pages.ts';
import { openStorage, type Storage } from '../../../src/engine/storage/storage.ts';
import { until } from '../../support/service-process.ts';
import { agent, work } from '../../support/storage-builders.ts';

const PAGE_BYTES = 4096;
/** As many pages as the log holds before a checkpoint is worth it. */
const WORTH_BYTES = 2000 * PAGE_BYTES;

let folder: string;
let file: string;
let storage: Storage;
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'sluice-checkpoints-'));
  file = join(folder, 'sluice.db');
  storage = await openStorage(`sqlite:${file}`);
});
afterEach(async () => {
  await storage.close();
  rmSync(folder, { recursive: true, force: true });
});

/** Accepts runs of about a page's size, each in a commit with some others, until this much was written. */
async function write(bytes: number): Promise<number> {
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

test('begins the log anew while commits go on, and leaves none when it closes', async () => {
  const count = await write(20 * WORTH_BYTES);
  // Without checkpoints the log would hold all of it. Where nothing else runs it stays below a tenth.
  expect(statSync(`${file}-wal`).size).toBeLessThan(12 * WORTH_BYTES);
  await until('the copy of the log', () => waitingPages() < 2000);
  await storage.close();
  expect(existsSync(`${file}-wal`)).toBe(false);
  expect(existsSync(`${file}-shm`)).toBe(false);
  storage = await openStorage(`sqlite:${file}`);
  expect(await storage.verify()).toEqual([]);
  expect((await storage.backlog()).queuedRuns).toBe(count);
});

test('goes on while another process reads, and catches up when it has read', async () => {
  await write(WORTH_BYTES / 2);
  const reader = new DatabaseSync(file, { readOnly: true });
  try {
    reader.exec('BEGIN; SELECT count(*) FROM runs');
    await write(3 * WORTH_BYTES);
    expect(waitingPages()).toBeGreaterThan(2000);
  } finally {
    reader.close();
  }
  await until('the copy of the log', async () => {
    await write(1);
    return waitingPages() < 2000;
  });
});

test('keeps its locks while the log is copied: no other process writes into a transaction', async () => {
  await storage.close();
  const database = new DatabaseSync(file);
  database.exec('CREATE TABLE filler (text TEXT)');
  const countPages = createPageCounter(database);
  const checkpoints = new Checkpoints(database, file, countPages);
  try {
    const insert = database.prepare('INSERT INTO filler VALUES (?)');
    for (let row = 0; row < 30; row += 1) {
      insert.run('f'.repeat(100 * PAGE_BYTES));
      checkpoints.noteCommit(countPages()!);
    }
    // Time for the thread to start and to copy, while a transaction is open.
    const attempts: string[] = [];
    const deadline = performance.now() + 1500;
    while (performance.now() < deadline) {
      database.exec('BEGIN IMMEDIATE');
      insert.run('f');
      attempts.push(await writeFromAnotherProcess());
      database.exec('COMMIT');
      checkpoints.noteCommit(countPages()!);
    }
    expect(new Set(attempts)).toEqual(new Set(['database is locked']));
  } finally {
    checkpoints.close();
    database.close();
    storage = await openStorage(`sqlite:${file}`);
  }
});

async function writeFromAnotherProcess(): Promise<string> {
  const program = `try {
    const database = new (require('node:sqlite').DatabaseSync)(${JSON.stringify(file)}, { timeout: 0 });
    database.exec("INSERT INTO filler VALUES ('other')");
    console.log('written');
  } catch (error) { console.log(error.message); }`;
  return (await promisify(execFile)(process.execPath, ['-e', program])).stdout.trim();
}
