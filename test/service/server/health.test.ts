import { afterEach, expect, test } from 'vitest';
import { HEALTH_CONDITIONS } from '../../../src/base/telemetry/health.ts';
import { createHealth, type Health } from '../../../src/base/telemetry/telemetry.ts';
import { readPage } from '../../support/docs.ts';
import { BEARER, json, send, startTestServer, stopServers } from '../../support/server-fixture.ts';

afterEach(stopServers);

const GET = { method: 'GET', headers: {} };
const BACKLOG = {
  queuedRuns: 3,
  activeRuns: 1,
  deadRuns: 2,
  queuedOutbox: 4,
  activeOutbox: 9,
  deadOutbox: 1,
  pendingEvents: 5,
  deadEvents: 1,
  bytes: 1_234,
  oldestQueuedAt: 10_000,
  oldestDeadAt: 5_000,
};

test('/healthz is answered without a token', async () => {
  const server = await startTestServer();
  const reply = await send(server, '/healthz', GET);
  expect([reply.status, reply.text]).toEqual([200, '{"ok":true}']);
  expect((await send(server, '/healthz', { method: 'HEAD', headers: {} })).status).toBe(200);
});

test('/readyz shows generation, backlog, oldest age and dead work', async () => {
  const server = await startTestServer({
    storage: { backlog: () => Promise.resolve(BACKLOG) },
    deps: { clock: () => 25_500 },
  });
  const reply = await send(server, '/readyz', GET);
  expect(reply.status).toBe(200);
  const { oldestQueuedAt: _, oldestDeadAt: __, ...counts } = BACKLOG;
  expect(json(reply)).toEqual({
    ok: true,
    ready: true,
    unready: [],
    degraded: [],
    generation: 'g1',
    hooksEnabled: true,
    backlog: { ...counts, oldestQueuedSeconds: 15.5 },
    dead: 4,
  });
});

const GATEWAY_TOKEN = 'gateway-token-0123456789';
const SINCE = Date.parse('2026-03-01T12:00:00Z');

/** A health list that says nothing to a log. */
function healthAt(): Health {
  return createHealth({ log: { warn: () => undefined, info: () => undefined }, clock: () => SINCE });
}

test('/readyz is 503 with codes where the service cannot take hooks, and 200 again when it can', async () => {
  const health = healthAt();
  health.raise({ code: 'store_replaced', message: 'the file /srv/store.db was moved' });
  const server = await startTestServer({ deps: { health } });
  const reply = await send(server, '/readyz', GET);
  expect([reply.status, reply.headers['retry-after']]).toEqual([503, '1']);
  const unready = [{ code: 'store_replaced', since: '2026-03-01T12:00:00.000Z', count: 1 }];
  expect(json(reply)).toMatchObject({ ok: false, ready: false, unready, degraded: [] });
  expect(reply.text).not.toContain('/srv/store.db');
  health.clear({ code: 'store_replaced' });
  expect((await send(server, '/readyz', GET)).status).toBe(200);
});

test('what is degraded is listed with 200', async () => {
  const health = healthAt();
  health.raise({ code: 'runner_away', name: 'private-name', message: 'no answer' });
  health.raise({ code: 'runner_away', name: 'other', message: 'no answer' });
  const server = await startTestServer({ deps: { health } });
  const reply = await send(server, '/readyz', GET);
  expect([reply.status, json(reply)['ok']]).toEqual([200, true]);
  expect(json(reply)['degraded']).toEqual([
    { code: 'runner_away', since: '2026-03-01T12:00:00.000Z', count: 2 },
  ]);
  expect(reply.text).not.toContain('private-name');
});

test.each([
  ['the gateway token', { authorization: `Bearer ${GATEWAY_TOKEN}` }, true],
  ['the hook token', BEARER, false],
  ['no token', {}, false],
])('names and texts for %s: %o, %s', async (_who, headers, isShown) => {
  const health = healthAt();
  health.raise({ code: 'store_replaced', message: 'the file was moved' });
  health.raise({ code: 'runner_away', name: 'slow', message: 'no answer' });
  const server = await startTestServer({ deps: { health }, generation: { gatewayToken: GATEWAY_TOKEN } });
  const reply = await send(server, '/readyz', { method: 'GET', headers });
  expect(reply.status).toBe(503);
  const body = json(reply) as { degraded: { details?: unknown }[]; problems?: unknown };
  const details = [{ name: 'slow', message: 'no answer', since: '2026-03-01T12:00:00.000Z' }];
  expect(body.degraded[0]?.details).toEqual(isShown ? details : undefined);
  expect(body.problems).toEqual(isShown ? ['the file was moved'] : undefined);
});

test('/readyz is 503 where the store does not answer, which is said once and is over by itself', async () => {
  let now = 1_000;
  let works = false;
  const server = await startTestServer({
    storage: { backlog: () => (works ? Promise.resolve(BACKLOG) : Promise.reject(new Error('gone'))) },
    deps: { clock: () => now },
  });
  for (let second = 0; second < 3; second += 1) {
    const reply = await send(server, '/readyz', GET);
    expect([reply.status, json(reply)['unready']]).toMatchObject([503, [{ code: 'store_cannot_accept' }]]);
    now += 1_000;
  }
  works = true;
  expect((await send(server, '/readyz', GET)).status).toBe(200);
  const said = server.log.filter(({ fields }) => fields['condition'] === 'store_cannot_accept');
  expect(said.map(({ level }) => level)).toEqual(['warn', 'info']);
});

test('/readyz asks the store once a second at most', async () => {
  let now = 1_000;
  let asked = 0;
  const server = await startTestServer({
    storage: {
      backlog: () => {
        asked += 1;
        return Promise.resolve(BACKLOG);
      },
    },
    deps: { clock: () => now },
  });
  await Promise.all(Array.from({ length: 20 }, () => send(server, '/readyz', GET)));
  expect(asked).toBe(1);
  now = 2_000;
  await send(server, '/readyz', GET);
  expect(asked).toBe(2);
});

test.each(['/healthz', '/readyz'])('%s takes only GET and HEAD', async (path) => {
  const server = await startTestServer();
  const reply = await send(server, path, { headers: {}, body: '{}' });
  expect([reply.status, reply.headers['allow']]).toEqual([405, 'GET, HEAD']);
});

test('probes are logged below info', async () => {
  const server = await startTestServer({ generation: { knowsName: () => false } });
  await send(server, '/healthz', GET);
  await send(server, '/readyz', GET);
  await send(server, '/favicon.ico', GET);
  expect(server.log.map((line) => line.level)).toEqual(['debug', 'debug', 'debug']);
});

test('the docs list every condition with its effect', () => {
  const rows = [...readPage('docs/operations.md').matchAll(/^\| `(\w+)` +\| (503|200) /gm)].map(
    ([, code, status]) => `${code} ${status}`,
  );
  const conditions = Object.entries(HEALTH_CONDITIONS).map(
    ([code, { effect }]) => `${code} ${effect === 'unready' ? 503 : 200}`,
  );
  expect(rows).toEqual(conditions);
});
