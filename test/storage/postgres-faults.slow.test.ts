import { afterAll, expect, test } from 'vitest';
import { PostgresStatements } from '../../src/storage/postgres/worker/postgres-statements.ts';
import { openStorage } from '../../src/storage/storage.ts';
import { query, startPostgres } from '../support/postgres-server.ts';
import { until } from '../support/service-process.ts';
import { agent, completion, NOW, wake, work } from '../support/storage-builders.ts';
import { claim, ids } from '../support/storage-harness.ts';

const server = await startPostgres();
afterAll(() => server.stop());

test('a killed PostgreSQL: 503 meanwhile, nothing accepted is lost, and it goes on by itself', async () => {
  const storage = await openStorage(await server.freshUrl());
  const seen: string[] = [];
  storage.onHealthChange((health) => seen.push(health.kind === 'ok' ? 'ok' : health.code));
  const [active, queued] = [agent(), agent()] as const;
  await storage.accept(work([active, queued]));
  expect(ids(await claim(storage, 1))).toEqual([active.id]);

  await server.crash();
  await expect(storage.accept(work([agent()]))).rejects.toMatchObject({
    code: 'storage_unavailable',
    status: 503,
    cause: { code: 'unreachable', message: expect.stringContaining('tried again by itself') as string },
  });
  await expect(storage.backlog()).rejects.toMatchObject({ code: 'unreachable' });
  expect(storage.health()).toMatchObject({ kind: 'unavailable', code: 'unreachable' });

  await server.start();
  await until('the store to be well', () => storage.health().kind === 'ok');
  expect(await storage.completeRun(completion(active.id))).toBe(true);
  await storage.accept(work([wake()]));
  expect(ids(await claim(storage))).toEqual([queued.id]);
  expect(await storage.verify()).toEqual([]);
  expect(seen).toEqual(['unreachable', 'ok']);
  await storage.close();
});

test('a lock that somebody holds by hand is waited for, and what waited is stored once', async () => {
  const url = await server.freshUrl();
  const storage = await openStorage(url);
  const held = query(url, 'BEGIN; SELECT one FROM counters FOR UPDATE; SELECT pg_sleep(1); COMMIT');
  await new Promise((done) => setTimeout(done, 300));
  const started = performance.now();
  await storage.accept(work([agent()]));
  expect(performance.now() - started).toBeGreaterThan(300);
  await held;
  expect(await storage.backlog()).toMatchObject({ queuedRuns: 1 });
  await storage.close();
});

test('an answer that does not come in time is a lost connection, and a late one answers no other question', async () => {
  const url = await server.freshUrl();
  await (await openStorage(url)).close();
  const sql = new PostgresStatements({ url, maxWaitMs: 400 });
  const locked = query(url, 'BEGIN; SELECT one FROM counters FOR UPDATE; SELECT pg_sleep(1.5); COMMIT');
  await new Promise((done) => setTimeout(done, 300));
  expect(() => sql.begin('SELECT one FROM counters')).toThrow('did not answer in time');
  expect(sql.isTransaction).toBe(false);
  expect(sql.find('SELECT 7 AS seven')).toEqual({ seven: 7 });
  await locked;
  expect(sql.begin('SELECT one FROM counters')).toEqual({ one: 1 });
  expect(sql.run('UPDATE counters SET opened = opened + 1')).toBe(1);
  sql.commit([]);
  expect(sql.find('SELECT 8 AS eight')).toEqual({ eight: 8 });
  sql.close();
});

test('texts that PostgreSQL cannot hold as they are come back as they were', async () => {
  const storage = await openStorage(await server.freshUrl());
  const text = 'a\0b\u{10FFFF}0c\u{10FFFF}';
  const run = agent({ message: text });
  await storage.accept(work([run, wake({ text })]));
  await claim(storage);
  await storage.completeRun(completion(run.id, { reply: text, nowMs: NOW + 0.5 }));
  expect(await storage.findRun(run.id)).toMatchObject({ reply: text, action: { message: text } });
  const [event] = (await storage.listEvents({ limit: 5 })).filter(({ kind }) => kind === 'wake');
  expect(event?.text).toBe(text);
  await storage.close();
});

test('a store of a newer schema, and a schema that is missing, are refused with what to do', async () => {
  const url = await server.freshUrl();
  await (await openStorage(url)).close();
  await query(url, 'UPDATE sluice_schema SET version = 99');
  await expect(openStorage(url)).rejects.toMatchObject({
    code: 'newer_schema',
    message: expect.stringMatching(/schema version 99, this Sluice knows up to \d+; run the newer/) as string,
  });
  const empty = await server.freshUrl();
  await expect(openStorage(empty, { mode: 'attached' })).rejects.toMatchObject({ code: 'not_found' });
});
