import { afterAll, afterEach, expect, test } from 'vitest';
import type { AgentAction } from '../../../src/base/action.ts';
import {
  type AcceptedWork,
  type ClaimRunsOptions,
  openStorage,
  type Storage,
} from '../../../src/engine/storage/storage.ts';
import { query, startPostgres } from '../../support/postgres-server.ts';
import { until } from '../../support/service-process.ts';
import { AcceptConnections } from '../../../src/engine/storage/postgres/accept/accept-connections.ts';
import { entryOf } from '../../../src/engine/storage/postgres/accept/accept-statement.ts';
import { firstOf } from '../../../src/engine/storage/statements/session-queue.ts';
import { RUN } from '../../../src/engine/storage/statements/rows.ts';
import { PostgresConnection } from '../../../src/engine/storage/postgres/connection.ts';
import { freshResult, prepareRequest } from '../../../src/engine/storage/prepared-request.ts';
import { agent, agentOf, completion, conversation, NOW, wake, work } from '../../support/storage-builders.ts';
import { claim, ids, summaries } from '../../support/storage-harness.ts';
import { startTcpProxy, type TcpProxy } from '../../support/tcp-proxy.ts';

/** What goes over the connection to the database: how many questions, and answers that never come. */

const server = await startPostgres();
const proxy = await startTcpProxy(server.port);
const opened: Storage[] = [];
afterEach(async () => {
  proxy.heal();
  for (const storage of opened.splice(0)) await storage.close();
});
afterAll(async () => {
  await proxy.stop();
  await server.stop();
});

const LIMITS = { maxBacklogRuns: 1000, maxBacklogBytes: 1e9, maxPendingEvents: 1000 };

async function open(): Promise<{ readonly storage: Storage; readonly url: string }> {
  const url = await server.freshUrl();
  const storage = await openStorage(url.replace(`:${server.port}/`, `:${proxy.port}/`));
  opened.push(storage);
  return { storage, url };
}

test('questions that come at once before there is a connection share one, and none is left when it ends', async () => {
  const url = await server.freshUrl();
  const connection = new PostgresConnection({ url, isPooled: false });
  await Promise.all([1, 2, 3].map((value) => connection.ask([{ text: `SELECT ${value}` }])));
  const open = async () => Number((await query(url, COUNT_OTHERS))[0]?.['others']);
  expect(await open()).toBe(1);
  // Also where it ends while it is made anew.
  connection.abandon();
  const asked = connection.ask([{ text: 'SELECT 1' }]);
  await connection.end();
  await Promise.allSettled([asked]);
  await until('it is gone', async () => (await open()) === 0);
});

test.each([RUN.blocked, RUN.ready, RUN.active])(
  'the first run in state %s is found by the queue that its conversation has now, not by all runs that it ever had',
  async (state) => {
    const { url } = await open();
    const [row] = await query(url, `EXPLAIN (FORMAT JSON) ${firstOf("'k'", state)}`);
    // The tables are empty, as they are where a service makes its plans.
    expect(JSON.stringify(row)).toContain('"Index Name":"runs_in_line"');
  },
);

test('what a run sends is found by its own index', async () => {
  const { url } = await open();
  const asked = "SELECT seq FROM outbox WHERE run_id = 'r' ORDER BY outbox.seq DESC LIMIT 5";
  const [row] = await query(url, `EXPLAIN (FORMAT JSON) ${asked}`);
  expect(JSON.stringify(row)).toContain('"Index Name":"outbox_of_run"');
});

const COUNT_OTHERS = `SELECT count(*) AS others FROM pg_stat_activity
  WHERE application_name = 'sluice' AND pid <> pg_backend_pid()`;

const WAYS = [
  ['was stored', 'answer'],
  ['was not stored', 'question'],
  ['is stored meanwhile', 'connection'],
] as const satisfies readonly (readonly [string, Parameters<TcpProxy['breakAt']>[1]])[];

test.each(WAYS)(
  'an accept that %s when its connection broke is answered, and stored once',
  async (_, lost) => {
    const { storage } = await open();
    for (const [index, parts] of [{}, { sessionKey: 'k' }].entries()) {
      const run = agent(parts);
      const broken = proxy.breakAt('accept0', lost);
      const idempotency = { scope: 'p', key: `k${index}`, bodySha256: 'x', ttlSeconds: 60 };
      expect(await storage.accept(work([run], { idempotency }))).toMatchObject({
        duplicate: false,
        accepted: [{ id: run.id }],
      });
      await broken;
      expect(ids(await storage.listRuns({ limit: 9 })).filter((id) => id === run.id)).toHaveLength(1);
    }
    expect(await storage.backlog()).toMatchObject({ queuedRuns: 2 });
    expect(await storage.verify()).toEqual([]);
  },
);

test.each(WAYS)('a claim and an end that %s when its connection broke are done once', async (_, lost) => {
  const { storage } = await open();
  const run = agent();
  await storage.accept(work([run]));
  let broken = proxy.breakAt('COMMIT', lost);
  expect(ids(await claim(storage))).toEqual([run.id]);
  await broken;
  broken = proxy.breakAt('COMMIT', lost);
  expect(await storage.completeRun(completion(run.id))).toBe(true);
  await broken;
  expect(await summaries(storage)).toHaveLength(1);
  expect(await storage.findRun(run.id)).toMatchObject({ state: 'completed', attempts: 1 });
  expect(await storage.verify()).toEqual([]);
});

test.each(WAYS.slice(0, 2))(
  'where nobody can say whether it %s, the sender gets 503, and a repeat under its key is recognised',
  async (_, lost) => {
    const { storage } = await open();
    const idempotency = { scope: 'p', key: 'k', bodySha256: 'x', ttlSeconds: 60 };
    const broken = proxy.breakAt('accept0', lost).then(() => proxy.refuse());
    const [first, second] = [agentOf('m'), agentOf('m')];
    await expect(storage.accept(work([first], { idempotency }))).rejects.toMatchObject({
      status: 503,
      cause: { code: 'unreachable' },
    });
    await broken;
    proxy.heal();
    await until('the store to be well', () => storage.health().kind === 'ok');
    const isStored = lost === 'answer';
    expect(await storage.accept(work([second], { idempotency }))).toMatchObject({
      duplicate: isStored,
      accepted: [{ id: isStored ? first.id : second.id }],
    });
    expect(await storage.backlog()).toMatchObject({ queuedRuns: 1 });
    expect(await storage.verify()).toEqual([]);
  },
);

test('an accept that still waits for a lock when its connection breaks is stored once', async () => {
  const { storage, url } = await open();
  const held = query(url, 'BEGIN; LOCK TABLE runs IN SHARE MODE; SELECT pg_sleep(0.8); COMMIT');
  await until('the lock to be held', async () => {
    const rows = await query(url, `SELECT 1 FROM pg_stat_activity WHERE query LIKE '%pg_sleep(0.8)%'`);
    return rows.length > 1;
  });
  const broken = proxy.breakAt('accept0', 'connection');
  const run = agent();
  expect(await storage.accept(work([run]))).toMatchObject({ duplicate: false });
  await broken;
  await held;
  // What the server still worked on for the connection that is gone comes to its end, too.
  await until('nobody to wait for it', async () => {
    return (await query(url, 'SELECT 1 FROM pg_locks WHERE NOT granted')).length === 0;
  });
  expect(ids(await storage.listRuns({ limit: 9 }))).toEqual([run.id]);
  expect(await storage.backlog()).toMatchObject({ queuedRuns: 1 });
  expect(await storage.verify()).toEqual([]);
});

test('a batch of accepts, a claim and a batch of ends take a few round trips, however many they are', async () => {
  const { url } = await open();
  // It has no second connection whose questions would count, too.
  const through = url.replace(`:${server.port}/`, `:${proxy.port}/`);
  const storage = await openStorage(through, { mode: 'attached' });
  opened.push(storage);
  const tripsOf = async (act: () => Promise<unknown>): Promise<number> => {
    const before = proxy.turns;
    await act();
    return proxy.turns - before;
  };
  const sixteen = Array.from({ length: 16 }, (_, index) => index);
  const acceptAll = (requests: readonly AcceptedWork[]) =>
    tripsOf(() => Promise.all(requests.map((request) => storage.accept(request))));
  await opened[0]?.close();
  await storage.backlog();
  // What writes with a look at others takes two, one more than the lane of a service.
  expect({
    inConversations: await acceptAll(
      sixteen.map((index) => work([agentOf('a', { sessionKey: `k${index}` })])),
    ),
    withKeys: await acceptAll(
      sixteen.map((index) => {
        const idempotency = { scope: 'p', key: `k${index}`, bodySha256: 'x', ttlSeconds: 60 };
        return work([agentOf(`m${index % 5}`)], { idempotency });
      }),
    ),
    alone: await acceptAll(sixteen.map(() => work([agent()]))),
  }).toEqual({ inConversations: 2, withKeys: 2, alone: 2 });
  const lane = new AcceptConnections({ url: through, limits: LIMITS, isPooled: false });
  const inLane = (requests: readonly AcceptedWork[]) =>
    tripsOf(async () => {
      const entries = requests.map((request) => entryOf(prepareRequest(request, freshResult(request))));
      const stored = await Promise.all(
        entries.map((entry) => (entry === undefined ? Promise.resolve(false) : lane.store(entry))),
      );
      expect(stored).toEqual(requests.map(() => true));
    });
  await inLane([work([agent()])]);
  const keyed = (index: number) => ({ scope: 'lane', key: `k${index}`, bodySha256: 'x', ttlSeconds: 60 });
  expect([
    await inLane(sixteen.map(() => work([agent()]))),
    await inLane(sixteen.map((index) => work([agentOf('a', { sessionKey: `k${index % 3}` })]))),
    await inLane(sixteen.map((index) => work([agent(), wake()], { idempotency: keyed(index) }))),
  ]).toEqual([1, 1, 1]);
  await lane.close();

  let runs: Awaited<ReturnType<Storage['claimRuns']>> = [];
  const claimed = async (options: Partial<ClaimRunsOptions>) => {
    runs = await storage.claimRuns({ nowMs: NOW, limit: 16, ...options });
  };
  expect(await tripsOf(() => claimed({}))).toBe(2);
  expect(
    await tripsOf(() =>
      claimed({ limits: { default: { maxRuns: { runs: 16, isKeyed: false } }, byMapping: new Map() } }),
    ),
  ).toBe(4);
  const history = ({ sessionKey, owner }: AgentAction) => ({
    conversation: conversation(sessionKey, owner),
    turns: [{ role: 'assistant' as const, text: 'done', at: NOW }],
    maxTurns: 5,
  });
  // One recipient's are given one after the other.
  const delivery = (index: number) => ({ channel: 'slack', to: `C${index}`, text: 'done', fromMain: false });
  const endAll = () =>
    Promise.all(
      runs.map(({ id, action }, index) =>
        storage.completeRun(completion(id, { history: history(action), delivery: delivery(index) })),
      ),
    );
  expect(await tripsOf(endAll)).toBe(2);
  const entries = await storage.claimOutbox({ nowMs: NOW, limit: 16 });
  const endEntries = () =>
    Promise.all(entries.map(({ id }) => storage.completeOutbox(id, { state: 'completed', nowMs: NOW })));
  expect(await tripsOf(endEntries)).toBe(2);
  expect([runs.length, entries.length]).toEqual([16, 16]);
  expect(await storage.verify()).toEqual([]);
});

test('an end that is sent without a question is done as it has to be where others have changed the store meanwhile', async () => {
  const { storage, url } = await open();
  const runs = ['a', 'a', 'b', 'c'].map((sessionKey) => agent({ sessionKey }));
  const end = (index: number) => {
    const { id, sessionKey, owner } = runs[index]!;
    const turns = [{ role: 'assistant' as const, text: 'done', at: NOW }];
    const history = { conversation: conversation(sessionKey, owner), turns, maxTurns: 5 };
    return storage.completeRun(completion(id, { history }));
  };
  await storage.accept(work(runs));
  expect(await claim(storage)).toHaveLength(3);
  await query(url, `UPDATE runs SET holder = 'other' WHERE id = '${runs[2]!.id}'`);
  expect([await end(0), await end(2)]).toEqual([true, false]);
  expect(await claim(storage)).toHaveLength(1);
  const transcript = await storage.findConversation(conversation('a', runs[0]!.owner));
  expect(transcript.turns).toMatchObject([{ text: 'done' }]);
  await storage.clearSession(conversation('a', runs[0]!.owner));
  expect(await Promise.all([end(1), end(3)])).toEqual([true, true]);
  expect((await storage.findConversation(conversation('a', runs[0]!.owner))).turns).toHaveLength(1);
  expect(await summaries(storage)).toHaveLength(3);
  expect(await storage.verify()).toEqual([]);
});

test('pruning ends however far the database is, and goes on where a slice stopped', async () => {
  const { storage, url } = await open();
  const runs = Array.from({ length: 40 }, () => agent());
  await storage.accept(work(runs));
  await claim(storage, runs.length);
  await Promise.all(runs.map(({ id }) => storage.completeRun(completion(id))));
  const attached = await openStorage(url.replace(`:${server.port}/`, `:${proxy.port}/`), {
    mode: 'attached',
  });
  opened.push(attached);
  await opened[0]?.close();
  proxy.delayMs = 3;
  try {
    let before = proxy.turns;
    const removed = { runs: 40, events: 40, outbox: 0, keys: 0, sessions: 0 };
    expect(await attached.prune({ maxAgeMs: 1, maxRows: 0 }, NOW + 60_000)).toEqual(removed);
    // Two for each of the slices, and those of the connection that is made first.
    expect(proxy.turns - before).toBeLessThan(20);
    before = proxy.turns;
    expect(await attached.prune({ maxAgeMs: 1, maxRows: 0 }, NOW + 60_000)).toMatchObject({ runs: 0 });
    // The end of what has written nothing is not waited for.
    expect(proxy.turns - before).toBeLessThan(3);
    expect(await attached.verify()).toEqual([]);
  } finally {
    proxy.delayMs = 0;
  }
});
