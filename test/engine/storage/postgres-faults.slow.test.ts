import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdirSync, readFileSync, rmSync, statfsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Client } from 'pg';
import { afterAll, expect, onTestFinished, test } from 'vitest';
import { newestVersion, stepsFrom } from '../../../src/engine/storage/statements/migrations.ts';
import { BrokenTransaction } from '../../../src/engine/storage/statements/statements.ts';
import { KnownStore } from '../../../src/engine/storage/postgres/known-store.ts';
import { explainPostgresError } from '../../../src/engine/storage/postgres/postgres-errors.ts';
import { PostgresStatements } from '../../../src/engine/storage/postgres/worker/postgres-statements.ts';
import { acceptStore, copyStorage, openStorage, storeStatus } from '../../../src/engine/storage/storage.ts';
import { failoverPromise } from '../../../src/engine/storage/facts.ts';
import { hasPgbouncer, startPgbouncer } from '../../support/pgbouncer.ts';
import { query, startPostgres } from '../../support/postgres-server.ts';
import { until } from '../../support/service-process.ts';
import { agent, completion, DAY_MS, NOW, wake, work } from '../../support/storage-builders.ts';
import { startTcpProxy } from '../../support/tcp-proxy.ts';
import { mountSmallDisk } from '../../support/small-disk.ts';
import { claim, claimTurn, ids } from '../../support/storage-harness.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

const server = await startPostgres();
afterAll(() => server.stop());

/** Takes a lock by hand, until the function that it resolves to is called. */
async function holdLock(url: string, statement: string): Promise<() => Promise<void>> {
  const client = new Client({ connectionString: url });
  await client.connect();
  onTestFinished(() => client.end());
  await client.query(`BEGIN; ${statement}`);
  return async () => void (await client.query('COMMIT'));
}

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

test('an empty, another or an older database is refused at start and at reconnection, until it is accepted', async () => {
  const admin = `postgres://postgres:postgres@127.0.0.1:${server.port}/postgres`;
  const asAdmin = new Client({ connectionString: admin });
  await asAdmin.connect();
  onTestFinished(() => asAdmin.end());
  const right = await server.freshDatabase();
  const url = admin.replace(/postgres$/, right);
  const folder = temporaryFolder();
  const known = {
    file: join(folder, 'state', 'known.json'),
    acceptCommand: 'sluice storage migrate --accept -c here',
  };
  const replica = { role: 'all', version: '', leaseMs: 1_000 };
  const open = (at = url) => openStorage(at, { known, replica });
  /** Another database takes the place: by rename, as a wrong restore or a name in DNS does. */
  const swap = async (from: string, aside: string) => {
    for (const name of [right, from])
      await asAdmin.query(`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '${name}'`);
    await asAdmin.query(`ALTER DATABASE ${right} WITH ALLOW_CONNECTIONS false`);
    await asAdmin.query(`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '${right}'`);
    await until('the rename', () =>
      asAdmin.query(`ALTER DATABASE ${right} RENAME TO ${aside}`).then(
        () => true,
        () => undefined,
      ),
    );
    await asAdmin.query(`ALTER DATABASE ${from} RENAME TO ${right}`);
    await asAdmin.query(`ALTER DATABASE ${aside} WITH ALLOW_CONNECTIONS true`);
  };
  const refused = (words: RegExp) => ({ code: 'replaced', message: expect.stringMatching(words) as string });

  const first = await open();
  await first.accept(work([agent(), wake()]));
  await first.close();
  await asAdmin.query(`CREATE DATABASE ${right}_older TEMPLATE ${right}`);
  await asAdmin.query(`CREATE DATABASE ${right}_empty`);
  const other = await server.freshDatabase();
  await (await openStorage(admin.replace(/postgres$/, other))).close();

  for (const [wrong, words] of [
    [`${right}_empty`, /holds no store.*run "sluice storage migrate --accept -c here"/],
    [
      other,
      /holds the store [-\w]+, and this service worked with [-\w]+; .*run "sluice storage migrate --accept -c here"/,
    ],
    [
      `${right}_older`,
      /older state of the store than this service worked with: \d+ numbers .*run "sluice storage migrate --accept -c here"/,
    ],
  ] as const) {
    const running = await open();
    const accepted = [agent(), agent(), agent()];
    if (wrong === `${right}_older`) {
      const before = readFileSync(known.file, 'utf8');
      await running.accept(work(accepted));
      await until('the position', () => readFileSync(known.file, 'utf8') !== before);
    }
    await swap(wrong, 'aside');
    await until(`the refusal of ${wrong}`, () => {
      const health = running.health();
      return health.kind === 'unavailable' && health.code === 'replaced'
        ? true
        : running.accept(work([agent()])).then(
            () => expect.unreachable(),
            () => undefined,
          );
    });
    await expect(running.accept(work([agent()]))).rejects.toMatchObject({
      status: 503,
      cause: refused(words),
    });
    await expect(open()).rejects.toMatchObject(refused(words));
    const tables = await query(url, "SELECT count(*) AS n FROM pg_tables WHERE schemaname = 'public'");
    expect(Number(tables[0]?.['n']) === 0).toBe(wrong.endsWith('_empty'));
    if (!wrong.endsWith('_empty')) expect(await query(url, 'SELECT id FROM runs WHERE seq > 1')).toEqual([]);
    await swap('aside', wrong);
    await until('the right store', () =>
      running.accept(work([agent()])).then(
        () => true,
        () => undefined,
      ),
    );
    await until('health', () => running.health().kind === 'ok');
    await running.close();
  }

  await swap(`${right}_older`, 'aside');
  await expect(open()).rejects.toMatchObject(refused(/older state/));
  expect(await acceptStore(url, known.file)).toMatch(/^[-\w]+$/);
  await (await open()).close();
  await swap('aside', `${right}_older`);
  // It is newer than what was accepted, so it is not asked again.
  await (await open()).close();
  const copy = admin.replace(/postgres$/, await server.freshDatabase());
  await copyStorage(url, copy);
  await (await open(copy)).close();
  await expect(open()).rejects.toMatchObject(
    refused(/older state of the store than this service worked with;/),
  );
});

test('a service that cannot keep which store it worked with says so once, and still refuses another while it runs', async () => {
  const url = await server.freshUrl();
  const notes: string[] = [];
  const folder = temporaryFolder();
  writeFileSync(join(folder, 'none'), '');
  const known = {
    file: join(folder, 'none', 'known.json'),
    acceptCommand: 'sluice storage migrate --accept',
  };
  const storage = await openStorage(url, {
    known,
    onNote: (note) => void notes.push(note),
    replica: { role: 'all', version: '', leaseMs: 1_000 },
  });
  await storage.accept(work([agent()]));
  await query(url, "UPDATE store_identity SET id = 'another'");
  await until('trouble', () =>
    storage.accept(work([agent()])).then(
      () => undefined,
      () => true,
    ),
  );
  await query(url, 'SELECT 1');
  expect(notes.filter((note) => /none.known.json: cannot be written \(\w+\), so/.test(note))).toHaveLength(1);
  await storage.close();
});

test('a copy at the same position, which is a later epoch, is taken down', () => {
  const file = join(temporaryFolder(), 'known.json');
  const known = new KnownStore({ file, acceptCommand: '' }, () => undefined);
  known.note({ id: 'a', epoch: 1, position: 5 });
  known.note({ id: 'a', epoch: 2, position: 5 });
  expect(JSON.parse(readFileSync(file, 'utf8'))).toEqual({ id: 'a', epoch: 2, position: 5 });
});

test('a lock that somebody holds by hand is waited for, and what waited is stored once', async () => {
  const url = await server.freshUrl();
  const storage = await openStorage(url);
  const release = await holdLock(url, 'LOCK TABLE runs IN SHARE MODE');
  let isStored = false;
  const storing = storage.accept(work([agent()])).then(() => (isStored = true));
  await until('somebody to wait', async () => ((await storeStatus(url)).waiting ?? []).length > 0);
  expect(isStored).toBe(false);
  await release();
  await storing;
  expect(await storage.backlog()).toMatchObject({ queuedRuns: 1 });
  await storage.close();
});

test('a start does not wait for ever for a lock that somebody holds by hand, and says so', async () => {
  const url = await server.freshUrl();
  await (await openStorage(url)).close();
  const release = await holdLock(url, 'SELECT one FROM counters FOR UPDATE');
  await expect(openStorage(url)).rejects.toMatchObject({
    code: 'busy',
    message: expect.stringContaining('another transaction holds the store') as string,
  });
  await release();
  await (await openStorage(url)).close();
  const old = await server.freshUrl();
  const steps = stepsFrom(0, 'postgres').slice(0, -1).join('\n');
  await query(old, `${steps} UPDATE sluice_schema SET version = ${newestVersion('postgres') - 1}`);
  const releaseOld = await holdLock(old, 'LOCK TABLE sluice_schema IN SHARE MODE');
  await expect(openStorage(old)).rejects.toMatchObject({ code: 'busy' });
  await releaseOld();
  await (await openStorage(old)).close();
});

test('who waits for whom is said, and waits and round trips are counted', async () => {
  const url = await server.freshUrl();
  const storage = await openStorage(url);
  expect((await storeStatus(url)).waiting).toEqual([]);
  const before = storage.databaseUse?.();
  const release = await holdLock(url, 'SELECT one FROM counters FOR UPDATE');
  const claiming = claim(storage);
  const waiting = await until('somebody to wait', async () => {
    const found = (await storeStatus(url)).waiting ?? [];
    return found.length > 0 ? found : undefined;
  });
  expect(waiting).toMatchObject([{ waits: { program: 'sluice' }, holds: { program: '' }, isIdle: true }]);
  expect(waiting[0]?.heldMs).toBeGreaterThan(waiting[0]?.waitedMs ?? 0);
  await release();
  await claiming;
  const use = storage.databaseUse?.();
  expect(use?.roundTrips).toBeGreaterThan(before?.roundTrips ?? 0);
  expect(use?.lockWaits).toBeGreaterThan(before?.lockWaits ?? 0);
  expect(use?.lockWaitMs).toBeGreaterThan(before?.lockWaitMs ?? 0);
  await storage.close();
});

test('pruning leaves a key that was taken again after it had expired', async () => {
  const url = await server.freshUrl();
  const storage = await openStorage(url);
  const idempotency = { scope: 'agent', key: 'one', bodySha256: 'x', ttlSeconds: 1 };
  await storage.accept(work([agent()], { idempotency }));
  // As an accept over another connection does it.
  const release = await holdLock(url, `UPDATE idempotency SET expires_at = ${NOW + 3_600_000}`);
  const pruning = storage.prune({ maxAgeMs: DAY_MS, maxRows: 100 }, NOW + 2_000);
  await until('somebody to wait', async () => ((await storeStatus(url)).waiting ?? []).length > 0);
  await release();
  await pruning;
  expect(await storage.findIdempotent('agent', 'one', NOW + 3_000)).toMatchObject({ bodySha256: 'x' });
  await storage.close();
});

test('a key that is taken while another request with it is being stored is taken once', async () => {
  const url = await server.freshUrl();
  const storage = await openStorage(url);
  const idempotency = { scope: 'agent', key: 'one', bodySha256: 'x', ttlSeconds: 60 };
  const debounce = { key: 'k', seconds: 60, maxSeconds: 60, nonce: '0123456789abcdef' };
  // It needs a look at others, and so the thread of the store; what a service with other files made of it does not.
  const first = work([agent({ debounce })], { idempotency });
  const release = await holdLock(url, 'LOCK TABLE runs IN SHARE MODE');
  const storing = expect(storage.accept(first)).rejects.toMatchObject({ status: 503 });
  await until('it to wait', async () => ((await storeStatus(url)).waiting ?? []).length > 0);
  const event = wake();
  await storage.accept(work([event], { idempotency }));
  await release();
  await storing;
  expect(await storage.accept(first)).toMatchObject({ duplicate: true, accepted: [{ id: event.id }] });
  expect(await storage.backlog()).toMatchObject({ queuedRuns: 0, pendingEvents: 1 });
  expect(storage.health()).toEqual({ kind: 'ok' });
  await storage.close();
});

test('accepts wait for nobody who writes with a look at others, and a claim then puts them in order', async () => {
  const url = await server.freshUrl();
  const storage = await openStorage(url);
  await storage.accept(work([agent()]));
  const release = await holdLock(url, 'SELECT one FROM counters FOR UPDATE');
  const runs = Array.from({ length: 4 }, () => agent({ sessionKey: 'k' }));
  for (const run of runs) await storage.accept(work([run, wake({ mode: 'now' })]));
  expect(await storage.backlog()).toMatchObject({ queuedRuns: 5, pendingEvents: 4 });
  expect(await storage.findRun(runs[3]?.id ?? '')).toMatchObject({ state: 'queued', dueAt: NOW });
  expect(await storage.heartbeatRequested(NOW)).toBe(true);
  await release();
  for (const run of runs) {
    const claimed = ids(await claim(storage)).filter((id) => runs.some((each) => each.id === id));
    expect(claimed).toEqual([run.id]);
    await storage.completeRun(completion(run.id));
  }
  expect(await storage.verify()).toEqual([]);
  await storage.close();
});

test('what is stored under a smaller number and committed later is passed by nothing that goes by numbers', async () => {
  const url = await server.freshUrl();
  const storage = await openStorage(url);
  const [late, early] = [agent(), agent()] as const;
  const [lateWake, earlyWake] = [wake({ mode: 'now' }), wake({ mode: 'now' })] as const;
  const lingers = (table: string, id: string) => `CREATE TRIGGER lingers AFTER INSERT ON ${table} FOR EACH ROW
    WHEN (NEW.id = '${id}') EXECUTE FUNCTION linger();`;
  await query(
    url,
    `CREATE TABLE lingering AS SELECT 1;
     CREATE FUNCTION linger() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
       WHILE EXISTS (SELECT FROM lingering) LOOP PERFORM pg_sleep(0.02); END LOOP; RETURN NULL; END $$;
     ${lingers('runs', late.id)} ${lingers('events', lateWake.id)}`,
  );
  const isOpen = async () =>
    (await query(url, `SELECT 1 FROM pg_stat_activity WHERE wait_event = 'PgSleep'`)).length > 0;
  let isStored = false;
  const storing = storage.accept(work([late, lateWake])).then(() => (isStored = true));
  await until('its transaction to be open', isOpen);
  await storage.accept(work([early, earlyWake]));
  expect(ids(await claim(storage))).toEqual([early.id]);
  expect(await storage.completeRun(completion(early.id))).toBe(true);
  const texts = async (turn: string) => (await claimTurn(storage, turn))?.events.map(({ id }) => id) ?? [];
  const first = await texts('one');
  expect([isStored, first.includes(earlyWake.id), first.includes(lateWake.id)]).toEqual([false, true, false]);
  expect(await storage.consumeEvents('one', { nowMs: NOW })).toBe(true);
  await query(url, 'DELETE FROM lingering');
  await storing;
  const numbers = await query(url, 'SELECT id FROM runs ORDER BY seq');
  expect(numbers.map(({ id }) => id)).toEqual([late.id, early.id]);
  expect(ids(await claim(storage))).toEqual([late.id]);
  expect(await storage.heartbeatRequested(NOW)).toBe(true);
  expect(await texts('two')).toContain(lateWake.id);
  expect(ids(await storage.listRuns({ limit: 9 })).toSorted()).toEqual(ids([late, early]).toSorted());
  expect(await storage.verify()).toEqual([]);
  await storage.close();
});

test('an answer that does not come in time is a lost connection, and a late one answers no other question', async () => {
  const url = await server.freshUrl();
  await (await openStorage(url)).close();
  // Less than the server itself waits for a lock, and enough for a new connection while much else runs.
  const sql = new PostgresStatements({ url, maxWaitMs: 3_000 });
  const release = await holdLock(url, 'SELECT one FROM counters FOR UPDATE');
  expect(() => sql.begin('SELECT one FROM counters')).toThrow('did not answer in time');
  expect(sql.isTransaction).toBe(false);
  expect(sql.find('SELECT 7 AS seven')).toEqual({ seven: 7 });
  await release();
  expect(sql.begin('SELECT one FROM counters')).toEqual({ one: 1 });
  expect(sql.run('UPDATE counters SET opened = opened + 1')).toBe(1);
  sql.commit([]);
  expect(sql.find('SELECT 8 AS eight')).toEqual({ eight: 8 });
  // What fails leaves no transaction open in which nothing else can be done.
  expect(() => sql.begin('SELECT one FROM nothing')).toThrow('does not exist');
  expect(sql.begin('SELECT one FROM counters')).toEqual({ one: 1 });
  expect(() => sql.commit(['UPDATE nothing SET one = ?', 1])).toThrow('does not exist');
  expect(sql.find('SELECT 9 AS nine')).toEqual({ nine: 9 });
  sql.close();
});

test('a session that ended as its transaction was idle, and a name that is not found now, are tried again', async () => {
  const url = await server.freshUrl();
  await (await openStorage(url)).close();
  const sql = new PostgresStatements({ url });
  const end = `DO $$ BEGIN RAISE EXCEPTION 'idle-in-transaction timeout' USING ERRCODE = '25P03'; END $$`;
  expect(() => sql.run(end)).toThrow(BrokenTransaction);
  sql.close();
  const said = (code: string) => explainPostgresError(Object.assign(new Error('why'), { code }), url).code;
  expect(['25P03', '25P04', 'EAI_AGAIN', 'ECONNREFUSED', '57P03', '08006'].map(said)).toEqual(
    Array(6).fill('unreachable'),
  );
  expect(['25006', '25P02', '57014'].map(said)).toEqual(['read_only', 'failed', 'failed']);
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

test.skipIf(!hasPgbouncer)(
  'behind a pooler that gives each transaction another connection, the store works by polling and says so once',
  async () => {
    const pooler = await startPgbouncer(server.port, await server.freshDatabase());
    onTestFinished(() => pooler.stop());
    const warnings: string[] = [];
    const replica = { role: 'all', version: 'test', leaseMs: 1_000 };
    const options = { replica, onWarning: (text: string) => warnings.push(text) };
    const storage = await openStorage(pooler.url, options);
    const other = await openStorage(pooler.url, { replica });
    expect(warnings.filter((text) => text.includes('pooler'))).toHaveLength(1);
    const runs = Array.from({ length: 40 }, (_, index) => agent(index < 4 ? { sessionKey: 'k' } : {}));
    await Promise.all(runs.map((run, index) => (index % 2 === 0 ? storage : other).accept(work([run]))));
    const claimed = (await Promise.all([claim(storage, 30), claim(other, 30)])).flat();
    expect(claimed).toHaveLength(37);
    expect(new Set(ids(claimed)).size).toBe(37);
    await new Promise((done) => setTimeout(done, 1_500));
    expect([storage.lease?.isHeld, other.lease?.isHeld]).toEqual([true, true]);
    await storage.close();
    expect((await other.takeOver({ runs: [], outbox: [], isTurnTaken: false })).isLeader).toBe(true);
    expect(await other.verify()).toEqual([]);
    await other.close();
  },
);

test('where the database has no connections left, senders get 503 until it has', async () => {
  const url = await server.freshUrl();
  await query(url, 'CREATE ROLE limited LOGIN CONNECTION LIMIT 2; CREATE SCHEMA AUTHORIZATION limited');
  const own = new URL(url);
  own.username = 'limited';
  own.searchParams.set('options', '-c search_path=limited');
  const replica = { role: 'all', version: 'test', leaseMs: 1_000 };
  const storage = await openStorage(own.href, { replica });
  await storage.accept(work([agent()]));
  await query(url, 'ALTER ROLE limited CONNECTION LIMIT 1');
  await query(url, `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'limited'`);
  await until('the lease to have the one that is left', async () => {
    const text = `SELECT 1 FROM pg_stat_activity WHERE usename = 'limited' AND query LIKE '%replicas%'`;
    return (await query(url, text)).length === 1;
  });
  await expect(storage.accept(work([agent()]))).rejects.toMatchObject({
    status: 503,
    cause: { code: 'busy', message: expect.stringContaining('too many connections') as string },
  });
  await query(url, 'ALTER ROLE limited CONNECTION LIMIT 4');
  await until('the store to be well', () => storage.health().kind === 'ok');
  await storage.accept(work([agent()]));
  expect(await storage.backlog()).toMatchObject({ queuedRuns: 2 });
  await storage.close();
});

test('a store that is closed while its lease has no connection leaves none behind, which would keep the process', async () => {
  const proxy = await startTcpProxy(server.port);
  onTestFinished(() => proxy.stop());
  const url = await server.freshUrl();
  const replica = { role: 'all', version: 'test', leaseMs: 1_000 };
  const storage = await openStorage(url.replace(`:${server.port}/`, `:${proxy.port}/`), { replica });
  const left = async () =>
    (
      await query(
        url,
        `SELECT 1 FROM pg_stat_activity WHERE query = 'LISTEN sluice_changed' AND state = 'idle'`,
      )
    ).length;
  // A connection takes longer than the lease waits for it.
  proxy.delayMs = 150;
  proxy.heal();
  await until('the lease to be lost', () => storage.lease?.isHeld === false);
  await storage.close();
  await new Promise((done) => setTimeout(done, 1_500));
  expect(await left()).toBe(0);
});

test('a database that gives up durability is told of, and Sluice commits to disk all the same', async () => {
  const url = await server.freshUrl();
  const warnings: string[] = [];
  const off = url.replace('search_path', 'synchronous_commit%3Doff%20-c%20search_path');
  const storage = await openStorage(off, { onWarning: (text) => warnings.push(text) });
  expect(warnings).toEqual([
    expect.stringContaining('synchronous_commit is off'),
    expect.stringContaining('fsync is off'),
  ]);
  await storage.close();
  const sql = new PostgresStatements({ url: off });
  expect(sql.find(`SELECT current_setting('synchronous_commit') AS value`)).toEqual({ value: 'on' });
  sql.close();
});

test('where a standby is named an answer waits for it, and the status says what a failover costs', async () => {
  const url = await server.freshUrl();
  const local = url.replace('search_path', 'synchronous_commit%3Dlocal%20-c%20search_path');
  const promise = async (of: string) => failoverPromise((await storeStatus(of)).server!);
  const notes: string[] = [];
  const storage = await openStorage(url, { onNote: (text) => notes.push(text) });
  expect(await promise(url)).toContain('synchronous_standby_names is empty: accepted work may be lost');
  expect(notes).toEqual([expect.stringContaining(await promise(url))]);

  await nameStandbys(url, '*');
  onTestFinished(() => nameStandbys(url, ''));
  const sent: Promise<unknown>[] = [];
  let answered = 0;
  await until('an answer to wait', async () => {
    sent.push(storage.accept(work([agent()])).then(() => (answered += 1)));
    await Promise.race([sent.at(-1), new Promise((done) => setTimeout(done, 300))]);
    const waiting = `SELECT 1 FROM pg_stat_activity WHERE wait_event = 'SyncRep'`;
    return answered < sent.length && (await query(url, waiting)).length > 0;
  });
  expect(await promise(url)).toContain('accepted work outlives the primary');
  expect(await promise(local)).toContain('synchronous_commit is local, so no commit waits for a standby');
  await nameStandbys(url, '');
  await Promise.all(sent);
  expect(await storage.backlog()).toMatchObject({ queuedRuns: sent.length });
  await storage.close();
});

/** Which standbys a commit waits for; there are none. */
async function nameStandbys(url: string, names: string): Promise<void> {
  await query(url, `ALTER SYSTEM SET synchronous_standby_names = '${names}'`);
  await query(url, 'SELECT pg_reload_conf()');
}

test('a service that was away while a newer version took the store over writes nothing, and says why', async () => {
  const url = await server.freshUrl();
  const storage = await openStorage(url);
  const [before, during] = [agent(), agent()] as const;
  await storage.accept(work([before, during]));
  expect(ids(await claim(storage, 1))).toEqual([before.id]);
  const newest = newestVersion('postgres');
  await query(url, `UPDATE sluice_schema SET version = ${newest + 1}`);
  const refusal = {
    code: 'newer_schema',
    message: expect.stringContaining(`knows up to ${newest}; run the newer`) as string,
  };
  for (const request of [work([agent()]), work([agent({ sessionKey: 'k' })])]) {
    await expect(storage.accept(request)).rejects.toMatchObject({ status: 503, cause: refusal });
  }
  await expect(claim(storage)).rejects.toMatchObject(refusal);
  await expect(storage.completeRun(completion(before.id))).rejects.toMatchObject(refusal);
  expect(storage.health()).toMatchObject({ kind: 'unavailable', ...refusal });
  await new Promise((done) => setTimeout(done, 500));
  expect(storage.health()).toMatchObject({ code: 'newer_schema' });
  expect(await storage.backlog()).toMatchObject({ queuedRuns: 1, activeRuns: 1 });
  await storage.close();
});

test('a newer version is refused while an older one uses the store, which goes on', async () => {
  const url = await server.freshUrl();
  const replica = { role: 'all', version: 'old', leaseMs: 1_000 };
  const old = await openStorage(url, { replica });
  const newest = newestVersion('postgres');
  // Seen from here it is the store of a version before this one; the migration itself is not repeated.
  await query(url, `UPDATE sluice_schema SET version = ${newest - 1}`);
  const run = agent();
  await old.accept(work([run]));
  await expect(openStorage(url, { replica })).rejects.toMatchObject({
    code: 'locked',
    message: expect.stringContaining('a service of an older version uses this store; stop it') as string,
  });
  const attached = openStorage(url, { mode: 'attached' });
  await expect(attached).rejects.toMatchObject({
    code: 'not_found',
    message: expect.stringContaining('of an older version; start the service once, or run') as string,
  });
  expect(ids(await claim(old))).toEqual([run.id]);
  expect(await old.completeRun(completion(run.id))).toBe(true);
  expect(await query(url, 'SELECT version FROM sluice_schema')).toEqual([{ version: newest - 1 }]);
  await old.close();
});

test.skipIf(process.getuid?.() !== 0)(
  'a full disk of the database: senders get 503 with what to do, and it goes on when there is space',
  async (context) => {
    const disk = mountSmallDisk('8m');
    if (disk === undefined) return context.skip('this user may not mount a small disk');
    const data = join(disk, 'data');
    mkdirSync(data);
    execFileSync('chown', ['nobody', data]);
    await query(await server.freshUrl(), `CREATE TABLESPACE small LOCATION '${data}'`);
    // Its tables lie there, and the log of the database does not: a full disk for that ends the whole server.
    const url = (await server.freshUrl()).replace(
      'search_path',
      'default_tablespace%3Dsmall%20-c%20search_path',
    );
    const storage = await openStorage(url);
    const filler = join(disk, 'filler');
    const { bavail, bsize } = statfsSync(disk);
    writeFileSync(filler, Buffer.alloc(bavail * bsize - 400_000));
    const accepted: string[] = [];
    const refusals: unknown[] = [];
    while (refusals.length === 0 && accepted.length < 500) {
      const run = agent({ message: randomBytes(30_000).toString('hex') });
      await storage.accept(work([run])).then(
        () => accepted.push(run.id),
        (error: unknown) => refusals.push(error),
      );
    }
    const full = { code: 'disk_full', message: expect.stringContaining('free some there') as string };
    expect(refusals).toMatchObject([{ status: 503, cause: full }]);
    rmSync(filler);
    await storage.accept(work([agent()]));
    expect(storage.health().kind).toBe('ok');
    const stored = new Set(ids(await storage.listRuns({ limit: 1_000 })));
    expect(accepted.filter((id) => !stored.has(id))).toEqual([]);
    expect(await storage.verify()).toEqual([]);
    await storage.close();
  },
);
