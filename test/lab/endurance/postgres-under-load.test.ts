import { setTimeout as wait } from 'node:timers/promises';
import { Client } from 'pg';
import { expect, onTestFinished, test } from 'vitest';
import { systemClock } from '../../../src/service/gateway/clock.ts';
import { startFleetLoad } from '../../support/fleet-load.ts';
import { hasPgbouncer, startPgbouncer } from '../../support/pgbouncer.ts';
import { type PostgresServer, query, startPostgres } from '../../support/postgres-server.ts';
import { startTcpProxy } from '../../support/tcp-proxy.ts';

/** The long forms of faults that take no service and no database away, with several gateways under load. */

const LEASE_MS = 2_000;

async function start(settings: Readonly<Record<string, string>> = {}): Promise<PostgresServer> {
  const server = await startPostgres({ settings });
  onTestFinished(() => server.stop());
  return server;
}

test(
  'a database that takes a tenth of a second for each answer loses nothing, and no lease',
  { timeout: 120_000 },
  async () => {
    const server = await start();
    const proxy = await startTcpProxy(server.port);
    onTestFinished(() => proxy.stop());
    const url = await server.freshUrl();
    const far = url.replace(`:${server.port}/`, `:${proxy.port}/`);
    const load = await startFleetLoad({ urls: [far, url, far], leaseMs: LEASE_MS });
    for (const delayMs of [50, 5, 50, 20]) {
      proxy.delayMs = delayMs;
      await wait(2_500);
    }
    expect(load.leasesLost()).toBe(0);
    await load.settle(url);
  },
);

test(
  'where others take all connections again and again, senders get 503, and nothing is lost',
  { timeout: 120_000 },
  async () => {
    const server = await start({ max_connections: '14', superuser_reserved_connections: '0' });
    const url = await server.freshUrl();
    const admin = new Client({ connectionString: url });
    await admin.connect();
    onTestFinished(() => admin.end());
    const load = await startFleetLoad({ urls: [url, url], leaseMs: LEASE_MS });
    for (let round = 0; round < 4; round += 1) {
      const refusedBefore = load.refused();
      const hogs = await takeAll(url, admin);
      // In every second round for longer than a lease: all work is interrupted then.
      await wait(round % 2 === 0 ? 600 : LEASE_MS * 1.5);
      expect(load.refused()).toBeGreaterThan(refusedBefore);
      await Promise.all(hogs.map((hog) => hog.end()));
      await wait(1_500);
    }
    expect(load.leasesLost()).toBeGreaterThan(0);
    await load.settle(url);
  },
);

/** Ends the connections of Sluice, and takes every one there is. */
async function takeAll(url: string, admin: Client): Promise<readonly Client[]> {
  const hogs: Client[] = [];
  await admin.query(
    `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'sluice'`,
  );
  for (;;) {
    const hog = new Client({ connectionString: url, application_name: 'hog' });
    hog.on('error', () => undefined);
    try {
      await hog.connect();
      hogs.push(hog);
    } catch {
      const own = await admin.query(
        `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'sluice'`,
      );
      if (own.rows.length === 0) return hogs;
    }
  }
}

test.skipIf(!hasPgbouncer)(
  'behind a pooler that is restarted again and again nothing is lost',
  { timeout: 120_000 },
  async () => {
    const server = await start();
    const database = await server.freshDatabase();
    const pooler = await startPgbouncer(server.port, database);
    onTestFinished(() => pooler.stop());
    const load = await startFleetLoad({ urls: [pooler.url, pooler.url, pooler.url], leaseMs: LEASE_MS });
    for (let round = 0; round < 5; round += 1) {
      await wait(1_500);
      await pooler.crash();
      await wait(round % 2 === 0 ? 100 : 1_000);
      await pooler.start();
    }
    await wait(1_000);
    await load.settle(pooler.url);
  },
);

test(
  'clocks that differ by hours change nothing: not the order, not the leases, and no retry waits for them',
  { timeout: 120_000 },
  async () => {
    const server = await start();
    const url = await server.freshUrl();
    const HOUR_MS = 3_600_000;
    const clockOf = (offMs: number) => ({ ...systemClock, wallMs: () => Date.now() + offMs });
    const failed = new Set<string>();
    const load = await startFleetLoad({
      urls: [url, url, url],
      leaseMs: LEASE_MS,
      clocks: [clockOf(-HOUR_MS), undefined, clockOf(HOUR_MS)],
      // Every tenth is put off once, until a time by the clock of whoever took it.
      fail: (message) => {
        if (!message.endsWith('0') || failed.has(message)) return undefined;
        failed.add(message);
        return { kind: 'not-started', code: 'connection_refused', message: 'nobody listens', final: false };
      },
    });
    await wait(6_000);
    expect(load.leasesLost()).toBe(0);
    await load.settle(url);
    expect(failed.size).toBeGreaterThan(5);
    const rows = await query(url, 'SELECT count(*) AS dead FROM runs WHERE state = 5');
    expect(rows).toEqual([{ dead: '0' }]);
  },
);
