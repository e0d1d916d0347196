import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { expect, onTestFinished, test } from 'vitest';
import { openStorage } from '../../../src/engine/storage/storage.ts';
import { untilPerformed } from '../../support/fleet-load.ts';
import { HeldRunner, openHouse, agentAction } from '../../support/gateway-fixture.ts';
import { query, startPostgres } from '../../support/postgres-server.ts';
import { until } from '../../support/service-process.ts';
import { agent, completion, work } from '../../support/storage-builders.ts';
import { claim, ids } from '../../support/storage-harness.ts';
import { mountSmallDisk } from '../../support/small-disk.ts';
import { startTcpProxy } from '../../support/tcp-proxy.ts';

/** The long forms of what goes wrong with a database; the short ones are in test/engine/storage and test/service/gateway. */

const isRoot = process.getuid?.() === 0;

async function isAnswering(url: string): Promise<boolean> {
  return query(url, 'CREATE TABLE probe (one INTEGER); DROP TABLE probe').then(
    () => true,
    () => false,
  );
}

test.skipIf(!isRoot)(
  'a full disk of the database: senders get 503, nothing accepted is lost, and it goes on when there is space',
  { timeout: 120_000 },
  async (context) => {
    const data = mountSmallDisk('72m');
    if (data === undefined) return context.skip();
    const server = await startPostgres({
      data,
      settings: { max_wal_size: '32MB', min_wal_size: '32MB', wal_keep_size: '0' },
    });
    onTestFinished(() => server.stop());
    const url = await server.freshUrl();
    const filler = join(data, 'filler');
    writeFileSync(filler, Buffer.alloc(8_000_000));
    const storage = await openStorage(url);
    const accepted: string[] = [];
    const refusals: unknown[] = [];
    while (refusals.length === 0 && accepted.length < 20_000) {
      const run = agent({ message: Array.from({ length: 400 }, () => Math.random().toString(36)).join('') });
      await storage.accept(work([run])).then(
        () => accepted.push(run.id),
        (error: unknown) => refusals.push(error),
      );
    }
    expect(refusals).toMatchObject([{ status: 503 }]);
    rmSync(filler);
    // A database that cannot write its log ends itself; whoever runs it starts it again.
    if (!(await isAnswering(url))) await server.start();
    await until('the store to be well', () => storage.health().kind === 'ok');
    const stored = new Set(ids(await storage.listRuns({ limit: 100_000 })));
    expect(accepted.filter((id) => !stored.has(id))).toEqual([]);
    await storage.accept(work([agent()]));
    expect(await storage.verify()).toEqual([]);
    await storage.close();
  },
);

test(
  'a database that is killed again and again loses nothing that was answered',
  { timeout: 180_000 },
  async () => {
    const server = await startPostgres();
    onTestFinished(() => server.stop());
    const storage = await openStorage(await server.freshUrl());
    const answered: string[] = [];
    const ended: string[] = [];
    const stopping = new AbortController();
    const sender = async (): Promise<void> => {
      while (!stopping.signal.aborted) {
        const run = agent({ sessionKey: `lane-${answered.length % 3}` });
        await storage.accept(work([run])).then(
          () => answered.push(run.id),
          () => wait(20),
        );
        for (const { id } of await claim(storage, 2).catch(() => [])) {
          const isEnded = await storage.completeRun(completion(id)).catch(() => false);
          if (isEnded) ended.push(id);
        }
      }
    };
    const senders = [sender(), sender(), sender()];
    for (let kill = 0; kill < 12; kill += 1) {
      await wait(300 + Math.random() * 500);
      await server.crash();
      await wait(Math.random() * 800);
      await server.start();
      await until('the store to be well', () => storage.health().kind === 'ok');
    }
    stopping.abort();
    await Promise.all(senders);
    const runs = new Map((await storage.listRuns({ limit: 100_000 })).map((run) => [run.id, run]));
    expect(answered.filter((id) => !runs.has(id))).toEqual([]);
    expect(ended.filter((id) => runs.get(id)?.state !== 'completed')).toEqual([]);
    expect(new Set(ended).size).toBe(ended.length);
    expect(await storage.verify()).toEqual([]);
    await storage.close();
  },
);

test(
  'a lock that is held for longer than anybody waits: 503, and then it goes on',
  { timeout: 60_000 },
  async () => {
    const server = await startPostgres();
    onTestFinished(() => server.stop());
    const url = await server.freshUrl();
    const storage = await openStorage(url);
    const held = query(url, 'BEGIN; SELECT one FROM counters FOR UPDATE; SELECT pg_sleep(12); COMMIT');
    await wait(300);
    await expect(storage.accept(work([agent()]))).rejects.toMatchObject({
      status: 503,
      cause: { code: 'busy' },
    });
    expect(storage.lease?.isHeld).toBe(true);
    await held;
    await until('the store to be well', () => storage.health().kind === 'ok');
    await storage.accept(work([agent()]));
    expect(await storage.backlog()).toMatchObject({ queuedRuns: 1 });
    await storage.close();
  },
);

test(
  'services that are cut off in turns never perform one run at the same time',
  { timeout: 180_000 },
  async () => {
    const server = await startPostgres();
    onTestFinished(() => server.stop());
    const url = await server.freshUrl();
    const LEASE_MS = 2_000;
    const underWay = new Map<string, number>();
    const overlaps: string[] = [];
    const members = await Promise.all(
      [0, 1, 2].map(async () => {
        const proxy = await startTcpProxy(server.port);
        onTestFinished(() => proxy.stop());
        const held = new HeldRunner();
        const runner: typeof held = Object.assign(Object.create(held) as typeof held, {
          run: async (...args: Parameters<HeldRunner['run']>) => {
            const [turn] = args;
            underWay.set(turn.message, (underWay.get(turn.message) ?? 0) + 1);
            if ((underWay.get(turn.message) ?? 0) > 1) overlaps.push(turn.message);
            setTimeout(() => held.finish(turn.message), 150 + Math.random() * 600).unref();
            try {
              return await held.run(...args);
            } finally {
              underWay.set(turn.message, (underWay.get(turn.message) ?? 0) - 1);
            }
          },
        });
        const through = url.replace(`:${server.port}/`, `:${proxy.port}/`);
        const house = await openHouse({ url: through, leaseMs: LEASE_MS, runners: { default: runner } });
        return { proxy, house };
      }),
    );
    const judge = await openStorage(url);
    const accepted: string[] = [];
    for (let round = 0; round < 12; round += 1) {
      const cut = members[round % members.length]!;
      for (let index = 0; index < 10; index += 1) {
        const action = agentAction({ message: `${round}-${index}`, sessionKey: `lane-${index % 4}` });
        await judge.accept(work([action]));
        accepted.push(action.id);
      }
      cut.proxy.cut();
      await wait(500 + Math.random() * 2 * LEASE_MS);
      cut.proxy.heal();
      await wait(500);
    }
    await untilPerformed(judge);
    expect(overlaps).toEqual([]);
    const runs = new Map((await judge.listRuns({ limit: 1_000 })).map((run) => [run.id, run]));
    expect(accepted.filter((id) => !['completed', 'dead'].includes(runs.get(id)?.state ?? ''))).toEqual([]);
    expect(await judge.verify()).toEqual([]);
    await judge.close();
  },
);
