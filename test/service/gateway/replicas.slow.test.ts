import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { afterAll, expect, onTestFinished, test } from 'vitest';
import { systemClock } from '../../../src/service/gateway/clock.ts';
import {
  agentAction,
  answering,
  HeldRunner,
  type House,
  type HouseOptions,
  ok,
  openHouse,
  RecordingChannel,
  wakeAction,
} from '../../support/gateway-fixture.ts';
import type { Runner } from '../../../src/service/runners/runners.ts';
import { query, startPostgres } from '../../support/postgres-server.ts';
import { startServiceProcess, until } from '../../support/service-process.ts';
import { startTcpProxy } from '../../support/tcp-proxy.ts';
import { longerHere } from '../../support/longer-here.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

/** Several services on one PostgreSQL store; each is a storage and a gateway of its own. */

const server = await startPostgres();
afterAll(() => server.stop());

const LEASE_MS = 1_500;
const HOUR_MS = 3_600_000;

/** A service whose runs a test answers. */
async function replica(url: string, options: HouseOptions = {}): Promise<{ house: House; held: HeldRunner }> {
  const held = new HeldRunner();
  const house = await openHouse({ url, leaseMs: LEASE_MS, runners: { default: held }, ...options });
  return { house, held };
}

function through(url: string, port: number): string {
  return url.replace(`:${server.port}/`, `:${port}/`);
}

async function ended(house: House, id: string): Promise<void> {
  await until('the run to end', async () => (await house.storage.findRun(id))?.state === 'completed');
}

test('a conversation keeps its order whoever performs, and a request waits for a run that another service performs', async () => {
  const url = await server.freshUrl();
  const order: string[] = [];
  const runner = answering(({ message }) => {
    order.push(message);
    return ok(`re: ${message}`);
  });
  const options = { url, runners: { default: runner } };
  const houses = [await openHouse(options), await openHouse(options)];
  const front = await openHouse({ ...options, options: { performs: false } });
  const messages = Array.from({ length: 12 }, (_, index) => `${index % 2}-${index}`);
  for (const message of messages) {
    await front.accept(agentAction({ message, sessionKey: message.slice(0, 1) }));
  }
  const last = agentAction({ message: '0-last', sessionKey: '0' });
  await front.accept(last);
  expect(await front.gateway.waitForRun(last.id, 10_000)).toMatchObject({ reply: 're: 0-last' });
  await until('all to end', async () => (await front.storage.backlog()).queuedRuns === 0);
  const ofLane = (lane: string) => order.filter((message) => message.startsWith(lane));
  expect(ofLane('0')).toEqual([...messages.filter((message) => message.startsWith('0')), '0-last']);
  expect(ofLane('1')).toEqual(messages.filter((message) => message.startsWith('1')));
  expect(front.counted.runs['ok']).toBe(0);
  await expect.poll(() => houses[0]!.counted.runs['ok']! + houses[1]!.counted.runs['ok']!).toBe(13);
});

test('one service leads: it takes the turns and sends the deliveries, and another one when it has stopped', async () => {
  const url = await server.freshUrl();
  const slack = [new RecordingChannel('slack'), new RecordingChannel('slack')] as const;
  const turns: number[] = [];
  const open = (index: 0 | 1) =>
    openHouse({
      url,
      channels: [slack[index]],
      runners: {
        default: answering(({ kind, message }) => {
          if (kind === 'heartbeat') turns.push(index);
          return ok(kind === 'heartbeat' ? 'HEARTBEAT_OK' : `re: ${message}`);
        }),
      },
    });
  const first = await open(0);
  const second = await open(1);
  const deliver = { deliver: true, channel: 'slack', to: 'C1', sessionKey: 'k' } as const;
  for (const message of ['a', 'b', 'c', 'd']) await second.accept(agentAction({ message, ...deliver }));
  await second.accept(wakeAction('up'));
  await until('all to arrive', () => slack[0].texts.length === 4 && turns.length > 0);
  expect(slack[0].texts).toEqual(['re: a', 're: b', 're: c', 're: d']);
  expect(new Set(turns)).toEqual(new Set([0]));

  await first.gateway.stop(1_000);
  await first.storage.close();
  await second.accept(agentAction({ message: 'e', ...deliver }), wakeAction('again'));
  await until('the other one to lead', () => slack[1].texts.length === 1 && turns.includes(1));
  expect(slack[1].texts).toEqual(['re: e']);
});

test('a service that is cut off from the database ends its turns before another one begins them, and comes back', async () => {
  const url = await server.freshUrl();
  const proxy = await startTcpProxy(server.port);
  onTestFinished(() => proxy.stop());
  const away = await replica(through(url, proxy.port));
  const action = agentAction({ message: 'long', sessionKey: 'k' });
  await away.house.accept(action);
  await until('the turn', () => away.held.started.length === 1);
  const other = await replica(url);
  let endedAt = 0;
  away.house.storage.lease?.onChange((isHeld) => (endedAt = isHeld ? endedAt : performance.now()));

  proxy.cut();
  const cutAt = performance.now();
  await until('the other one to take it over', () => other.held.started.length === 1);
  expect(endedAt - cutAt).toBeLessThan(longerHere(LEASE_MS));
  expect(endedAt).toBeGreaterThan(cutAt);
  expect(performance.now()).toBeGreaterThan(endedAt);
  expect(away.house.storage.lease?.isHeld).toBe(false);

  proxy.heal();
  await until('the lease', () => away.house.storage.lease?.isHeld);
  other.held.finish('long');
  await ended(other.house, action.id);
  await until('the store to be well', () => away.house.storage.health().kind === 'ok');
  const next = agentAction({ message: 'next' });
  await away.house.accept(next);
  await until('somebody to perform', () => [away, other].some(({ held }) => held.messages.includes('next')));
  const [performer] = [away, other].filter(({ held }) => held.messages.includes('next'));
  performer!.held.finish('next');
  await ended(away.house, next.id);
  expect(await other.house.storage.findRun(action.id)).toMatchObject({ outcome: 'ok', reply: 're: long' });
  expect((await other.house.storage.findRun(action.id))?.attempts).toBe(2);
  expect(await other.house.storage.verify()).toEqual([]);
});

test('two services spend the sum of a day together, each cent once, also where one of them is cut off', async () => {
  const url = await server.freshUrl();
  const proxy = await startTcpProxy(server.port);
  onTestFinished(() => proxy.stop());
  // Noon: a day must not end meanwhile.
  const toNoonMs = (36 * HOUR_MS - (Date.now() % (24 * HOUR_MS))) % (24 * HOUR_MS);
  const clock = { ...systemClock, wallMs: () => Date.now() + toNoonMs };
  const usage = { inputTokens: 10, outputTokens: 3, costUsd: 0.0123 };
  const [limit, together] = [0.1, 4];
  const begun: string[] = [];
  const runner: Runner = {
    kind: 'spending',
    run: async ({ runId }) => {
      begun.push(runId);
      await wait(50);
      return { kind: 'completed', outcome: 'ok', reply: 'done', usage };
    },
  };
  const open = (through: string) =>
    openHouse({
      url: through,
      leaseMs: LEASE_MS,
      limits: { byMapping: new Map([['test', { usdPerDay: limit }]]) },
      gateway: { maxRuns: together / 2 },
      runners: { default: runner },
      options: { clock },
    });
  const away = await open(through(url, proxy.port));
  const other = await open(url);
  await other.accept(...Array.from({ length: 30 }, () => agentAction()));
  await until('both to begin', () => begun.length >= together + 1);
  proxy.cut();
  const isReached = async () =>
    (await other.storage.listMarked(0)).some(({ reason }) => reason === 'usdPerDay') &&
    (await other.storage.backlog()).activeRuns === 0;
  await until('the limit', isReached);
  const beganUntilThen = begun.length;
  proxy.heal();
  await until('the lease', () => away.storage.lease?.isHeld);
  await wait(1_500);
  expect(begun).toHaveLength(beganUntilThen);
  const runs = await other.storage.listRuns({ limit: 99 });
  const ended = runs.filter(({ outcome }) => outcome === 'ok');
  const [sum, ...more] = await other.storage.listCosts({ limit: 9 });
  expect(more).toEqual([]);
  expect(sum).toMatchObject({ mappingId: 'test', turns: ended.length, inputTokens: 10 * ended.length });
  expect(sum?.usd).toBeCloseTo(ended.length * usage.costUsd, 9);
  const enough = Math.ceil(limit / usage.costUsd);
  expect(ended.length).toBeGreaterThanOrEqual(enough);
  expect(ended.length).toBeLessThan(enough + together);
  expect(runs.filter(({ state }) => state === 'queued')).toHaveLength(30 - ended.length);
  expect(await other.storage.verify()).toEqual([]);
});

test('what ends while PostgreSQL is away is stored when it is back, and nothing is done twice', async () => {
  const url = await server.freshUrl();
  const { house, held } = await replica(url, { leaseMs: 20_000 });
  const other = await replica(url, { leaseMs: 20_000 });
  const action = agentAction({ message: 'outage', sessionKey: 'k' });
  await house.accept(action);
  await until('the turn', () => held.started.length + other.held.started.length === 1);
  await server.crash();
  await expect(house.accept(agentAction())).rejects.toMatchObject({ status: 503 });
  const performer = held.started.length === 1 ? held : other.held;
  performer.finish('outage');
  await wait(300);
  await server.start();
  await ended(other.house, action.id);
  expect(held.started.length + other.held.started.length).toBe(1);
  await until('the store to be well', () => house.storage.health().kind === 'ok');
  await house.accept(agentAction({ message: 'after' }));
  await until('work to go on', () => [...held.messages, ...other.held.messages].includes('after'));
});

test('a slow database, a lock held by hand and clocks that differ take no lease away', async () => {
  const url = await server.freshUrl();
  const proxy = await startTcpProxy(server.port);
  onTestFinished(() => proxy.stop());
  proxy.delayMs = 10;
  const slow = await replica(through(url, proxy.port));
  const HOUR_MS = 3_600_000;
  const clock = { ...systemClock, wallMs: () => Date.now() + HOUR_MS };
  const early = await replica(url, { options: { clock } });
  const lost: boolean[] = [];
  for (const { house } of [slow, early]) house.storage.lease?.onChange((isHeld) => lost.push(!isHeld));
  const action = agentAction({ message: 'slow', sessionKey: 'k' });
  await slow.house.accept(action);
  await until('the turn', () => slow.held.started.length + early.held.started.length === 1);
  const seconds = (2 * LEASE_MS) / 1000;
  await query(url, `BEGIN; SELECT one FROM counters FOR UPDATE; SELECT pg_sleep(${seconds}); COMMIT`);
  (slow.held.started.length === 1 ? slow : early).held.finish('slow');
  await ended(early.house, action.id);
  expect(slow.held.started.length + early.held.started.length).toBe(1);
  expect(lost).toEqual([]);
});

test('a killed service is taken over by another one, and its run is tried again', async () => {
  const url = await server.freshUrl();
  const folder = temporaryFolder();
  const script = `printf '%s\\n' "$PPID" >> ${folder}/performers; sleep 1; echo done`;
  writeFileSync(
    join(folder, 'sluice.yaml'),
    `
hooks: {enabled: true, token: 0123456789abcdef0123456789abcdef}
gateway: {runner: sh, heartbeat: {everySeconds: 0}, runners: {sh: {kind: command, argv: [sh, -c, ${JSON.stringify(script)}]}}}
storage: {url: "\${DATABASE_URL}", leaseSeconds: 1}
`,
  );
  const env = { DATABASE_URL: url };
  const killed = await startServiceProcess(folder, env);
  // Before the run, which may have ended by the time that this takes.
  const beside = await replica(url, { options: { performs: false } });
  const answer = await fetch(`http://127.0.0.1:${killed.port}/hooks/agent`, {
    method: 'POST',
    headers: {
      authorization: 'Bearer 0123456789abcdef0123456789abcdef',
      'content-type': 'application/json',
    },
    body: JSON.stringify({ message: 'hello' }),
  });
  expect(answer.status).toBe(202);
  const { runId } = (await answer.json()) as { readonly runId: string };
  await until('the turn', async () => (await beside.house.storage.findRun(runId))?.process !== undefined);
  await killed.end('SIGKILL');
  const next = await startServiceProcess(folder, env);
  onTestFinished(() => void next.child.kill('SIGKILL'));
  await ended(beside.house, runId);
  expect(await beside.house.storage.findRun(runId)).toMatchObject({ outcome: 'ok', attempts: 2 });
  await next.end('SIGTERM');
});
