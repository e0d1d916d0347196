import { setTimeout as wait } from 'node:timers/promises';
import { expect, onTestFinished, test } from 'vitest';
import { openStorage, storeStatus } from '../../../src/engine/storage/storage.ts';
import { failoverPromise } from '../../../src/engine/storage/facts.ts';
import { findDebianPostgres } from '../../support/debian-postgres.ts';
import { startFleetLoad } from '../../support/fleet-load.ts';
import { type PostgresServer, query, startPostgres } from '../../support/postgres-server.ts';
import { until } from '../../support/service-process.ts';
import { agent, completion, wake, work } from '../../support/storage-builders.ts';
import { claim, ids } from '../../support/storage-harness.ts';
import { startTcpProxy, type TcpProxy } from '../../support/tcp-proxy.ts';
import { longerHere } from '../../support/longer-here.ts';

/** A primary that is lost, with a standby that takes its place; and one that hangs. Only Debian's has pg_basebackup. */

const found = findDebianPostgres();
const reason = 'missing' in found ? `: ${found.missing}` : '';
const LEASE_MS = 2_000;

interface Pair {
  readonly primary: PostgresServer;
  readonly standby: PostgresServer;
  /** Between the two. */
  readonly wire: TcpProxy;
  /** Leads to whichever is the primary. */
  readonly proxy: TcpProxy;
  readonly url: string;
  /** The primary is gone at once; the standby takes its place. */
  failOver(): Promise<void>;
}

async function startPair(isSynchronous: boolean): Promise<Pair> {
  const programs = 'missing' in found ? '' : found.programs;
  const primary = await startPostgres({ programs });
  onTestFinished(() => primary.stop());
  const direct = await primary.freshUrl();
  const wire = await startTcpProxy(primary.port);
  onTestFinished(() => wire.stop());
  const standby = await startPostgres({ programs, standbyOf: wire.port });
  onTestFinished(() => standby.stop());
  await query(direct, `ALTER SYSTEM SET synchronous_standby_names = '${isSynchronous ? 'standby' : ''}'`);
  await query(direct, 'SELECT pg_reload_conf()');
  const state = isSynchronous ? 'sync' : 'async';
  await until('the standby to follow', async () => {
    const rows = await query(direct, `SELECT 1 FROM pg_stat_replication WHERE sync_state = '${state}'`);
    return rows.length > 0;
  });
  const proxy = await startTcpProxy(primary.port);
  onTestFinished(() => proxy.stop());
  return {
    primary,
    standby,
    wire,
    proxy,
    url: direct.replace(`:${primary.port}/`, `:${proxy.port}/`),
    failOver: async () => {
      await primary.crash();
      await query(`postgres://postgres@127.0.0.1:${standby.port}/postgres`, 'SELECT pg_promote()');
      proxy.target = standby.port;
    },
  };
}

test.skipIf('missing' in found)(
  `a failover to a synchronous standby under load: nothing is lost, doubled or out of order${reason}`,
  async () => {
    const { url, failOver, standby } = await startPair(true);
    const load = await startFleetLoad({ urls: [url, url], leaseMs: LEASE_MS });
    await wait(800);
    await failOver();
    await wait(800);
    // Nobody follows the new primary: whoever runs it has to say so, or no commit ends.
    expect((await storeStatus(url)).server?.hasSynchronousStandby).toBe(false);
    expect(
      await query(
        `postgres://postgres@127.0.0.1:${standby.port}/postgres`,
        'SELECT pg_is_in_recovery() AS r',
      ),
    ).toEqual([{ r: false }]);
    await load.settle(url);
    expect(load.refused()).toBeGreaterThan(0);
  },
);

test.skipIf('missing' in found)(
  `a failover to an asynchronous standby may lose what was answered last, is told of before, and leaves a whole store${reason}`,
  async () => {
    const { url, failOver, primary, wire } = await startPair(false);
    const notes: string[] = [];
    const replica = { role: 'all', version: 'test', leaseMs: LEASE_MS };
    const storage = await openStorage(url, { replica, onNote: (text) => notes.push(text) });
    onTestFinished(() => storage.close());
    expect(notes).toEqual([expect.stringContaining('accepted work may be lost with the primary')]);
    expect(failoverPromise((await storeStatus(url)).server!)).toContain('synchronous_standby_names is empty');
    const [kept, held, lost] = [agent({ sessionKey: 'k' }), agent(), agent({ sessionKey: 'k' })] as const;
    await storage.accept(work([kept, held]));
    expect(ids(await claim(storage, 1))).toEqual([kept.id]);
    await until('the standby to have it', async () => {
      const rows = await query(
        `postgres://postgres@127.0.0.1:${primary.port}/postgres`,
        'SELECT 1 FROM pg_stat_replication WHERE replay_lsn = pg_current_wal_lsn()',
      );
      return rows.length > 0;
    });
    wire.cut();
    expect((await storage.accept(work([lost]))).accepted).toHaveLength(1);
    expect(await storage.completeRun(completion(kept.id))).toBe(true);
    await failOver();
    await until('the store to be well', () => storage.health().kind === 'ok' && storage.lease?.isHeld);
    expect(ids(await storage.listRuns({ limit: 9 })).toSorted()).toEqual([kept.id, held.id].toSorted());
    // Its end is lost, too: the run is still in the hands of who claimed it, and is tried again.
    expect((await storage.takeOver()).runs.map(({ id }) => id)).toContain(kept.id);
    expect(await storage.completeRun(completion(kept.id))).toBe(true);
    expect(await storage.verify()).toEqual([]);
  },
);

test('a database that hangs for longer than a lease: senders are refused or wait, and nothing is lost, doubled or out of order', async () => {
  const server = await startPostgres();
  onTestFinished(() => server.stop());
  const url = await server.freshUrl();
  const load = await startFleetLoad({ urls: [url, url], leaseMs: LEASE_MS });
  for (const hangsMs of [500, 2.5 * LEASE_MS]) {
    await wait(800);
    server.pause();
    await wait(hangsMs);
    server.resume();
  }
  await wait(800);
  expect(load.leasesLost()).toBeGreaterThan(0);
  await load.settle(url);
});

test(`a database that hangs: 503 in time, then at once, and what was asked meanwhile is not stored when it goes on${reason}`, async () => {
  const server = await startPostgres('missing' in found ? {} : { programs: found.programs });
  onTestFinished(() => server.stop());
  const storage = await openStorage(await server.freshUrl());
  onTestFinished(() => storage.close());
  const accepted = [agent(), agent()];
  await storage.accept(work(accepted));
  const idempotency = { scope: 's', key: 'k', bodySha256: 'x', ttlSeconds: 60 };
  // It needs a look at others: the store has begun with it when it stops, so that it may be stored.
  const begun = { ...agent(), debounce: { key: 'd', seconds: 1, maxSeconds: 1, nonce: '' } };
  const keyed = () => storage.accept(work([agent()], { idempotency }));
  onTestFinished(() => server.resume());
  server.pause();
  let began = performance.now();
  const away = { code: 'unreachable' };
  const refused = { status: 503, retryAfterSeconds: 2, cause: away };
  const asked = [
    ...Array.from({ length: 40 }, (_, index) => storage.accept(work([agent(), wake({ text: `${index}` })]))),
    storage.accept(work([begun])),
    keyed(),
    storage.findIdempotent('s', 'k', Date.now()),
  ];
  for (const [index, outcome] of (await Promise.allSettled(asked)).entries())
    expect(outcome).toMatchObject({
      status: 'rejected',
      reason: index === asked.length - 1 ? away : refused,
    });
  const firstMs = performance.now() - began;
  expect(firstMs).toBeLessThan(longerHere(14_000));
  expect(storage.health()).toMatchObject({ kind: 'unavailable', code: 'unreachable' });
  began = performance.now();
  for (let number = 0; number < 100; number += 1)
    await expect(storage.accept(work([agent()]))).rejects.toMatchObject(refused);
  // Each of them waits for nothing.
  expect(performance.now() - began).toBeLessThan(firstMs);
  server.resume();
  const again = await until('the repeat to be answered', () => keyed().catch(() => undefined));
  expect(again.duplicate).toBe(false);
  const repeated = again.accepted[0]?.id ?? '';
  await until('the store to be well', () => storage.health().kind === 'ok');
  const stored = ids(await storage.listRuns({ limit: 99 })).filter((id) => id !== begun.id);
  expect(stored.toSorted()).toEqual([...ids(accepted), repeated].toSorted());
  expect(await storage.backlog()).toMatchObject({ pendingEvents: 0 });
  expect(await storage.verify()).toEqual([]);
});
