import { afterEach, expect, test } from 'vitest';
import { json, send, startTestServer, stopServers } from '../support/server-fixture.ts';

afterEach(stopServers);

const GET = { method: 'GET', headers: {} };
const BACKLOG = {
  queuedRuns: 3,
  activeRuns: 1,
  deadRuns: 2,
  queuedOutbox: 4,
  deadOutbox: 1,
  pendingEvents: 5,
  deadEvents: 1,
  bytes: 1_234,
  oldestQueuedAt: 10_000,
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
  const { oldestQueuedAt: _, ...counts } = BACKLOG;
  expect(json(reply)).toEqual({
    ok: true,
    ready: true,
    problems: [],
    generation: 'g1',
    hooksEnabled: true,
    backlog: { ...counts, oldestQueuedSeconds: 15.5 },
    dead: 4,
  });
});

test('/readyz is 503 with the problems where the service is not ready', async () => {
  const server = await startTestServer({
    deps: { readiness: () => ({ ready: false, problems: ['the last reload has errors'] }) },
  });
  const reply = await send(server, '/readyz', GET);
  expect([reply.status, reply.headers['retry-after']]).toEqual([503, '1']);
  expect(json(reply)).toMatchObject({ ok: false, ready: false, problems: ['the last reload has errors'] });
});

test('/readyz is 503 where the store fails', async () => {
  const server = await startTestServer({ storage: { backlog: () => Promise.reject(new Error('gone')) } });
  const reply = await send(server, '/readyz', GET);
  expect([reply.status, json(reply)['problems']]).toEqual([503, ['the store does not answer']]);
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
  const server = await startTestServer();
  await send(server, '/healthz', GET);
  await send(server, '/readyz', GET);
  await send(server, '/favicon.ico', GET);
  expect(server.log.map((line) => line.level)).toEqual(['debug', 'debug', 'debug']);
});
