import { afterEach, describe, expect, test } from 'vitest';
import {
  answersIn,
  BEARER,
  json,
  openRaw,
  send,
  startTestServer,
  stopServers,
  TOKEN,
} from '../../support/server-fixture.ts';

afterEach(stopServers);

describe('hook names', () => {
  test.each([
    ['/hooks/wake', 'wake'],
    ['/hooks//wake', 'wake'],
    ['/hooks/wake/', 'wake'],
    ['/hooks/wake///', 'wake'],
    ['//hooks/wake', 'wake'],
    ['/hooks/a//b/', 'a/b'],
    ['/hooks/wake?x=/y', 'wake'],
    ['/hooks/wake#fragment', 'wake'],
    ['/hooks/%77ake', '%77ake'],
    ['/hooks/Wake', 'Wake'],
    ['/hooks/../wake', '../wake'],
    ['http://other.example/hooks/wake?x=1', 'wake'],
    ['HTTPS://other.example:8443/hooks/wake', 'wake'],
  ])('%s is %s', async (path, name) => {
    const server = await startTestServer();
    const raw = await openRaw(server);
    raw.socket.write(
      `POST ${path} HTTP/1.1\r\nHost: t\r\nAuthorization: Bearer ${TOKEN}\r\nConnection: close\r\nContent-Length: 2\r\n\r\n{}`,
    );
    expect(answersIn(await raw.closed())[0]?.status).toBeLessThan(300);
    expect(server.evaluated[0]?.path).toBe(name);
  });

  test.each([
    '/',
    '/hooksfoo',
    '/hooksfoo/wake',
    '/Hooks/wake',
    '/api/hooks/wake',
    '/%68ooks/wake',
    '*',
    'http://x',
  ])('%s lies outside and is answered 404 without a look at the token', async (path) => {
    const server = await startTestServer();
    const raw = await openRaw(server);
    raw.socket.write(`POST ${path} HTTP/1.1\r\nHost: t\r\nConnection: close\r\nContent-Length: 2\r\n\r\n{}`);
    const [answer] = answersIn(await raw.closed());
    expect(answer?.status).toBe(404);
    expect(JSON.parse(answer?.body ?? '')).toMatchObject({ code: 'not_found' });
    expect([server.accepted, server.decisions, server.evaluated]).toEqual([[], [], []]);
  });

  test('another base path of several segments is honoured', async () => {
    const server = await startTestServer({ hooks: { path: '/in/bound' } });
    expect((await send(server, '/in/bound/wake', { body: '{}' })).status).toBe(200);
    expect((await send(server, '/hooks/wake', { body: '{}' })).status).toBe(404);
  });

  test('the base path itself names no hook', async () => {
    const server = await startTestServer();
    for (const path of ['/hooks', '/hooks/', '/hooks?x=1']) {
      const reply = await send(server, path, { body: '{}' });
      expect([reply.status, json(reply)['code']]).toEqual([404, 'no_mapping_matched']);
    }
  });

  test('a name that no mapping can take is answered 404 before its body is read', async () => {
    const server = await startTestServer();
    const raw = await openRaw(server);
    raw.socket.write(
      `POST /hooks/unknown HTTP/1.1\r\nHost: t\r\nAuthorization: Bearer ${TOKEN}\r\nContent-Length: 100\r\n\r\n`,
    );
    const text = await raw.until((received) => received.includes('\r\n\r\n'));
    expect(answersIn(text)[0]?.status).toBe(404);
    expect(server.decisions[0]).toMatchObject({ path: 'unknown', status: 404, code: 'no_mapping_matched' });
    raw.socket.destroy();
  });

  test.each([
    ['hook name', `/hooks/${'a'.repeat(600)}`, 512],
    ['hook name', `/hooks/${'a/'.repeat(300)}b?token=${TOKEN}`, 512],
    ['address', `/hooks/${'a'.repeat(5_000)}`, 2048],
    ['address', `/hooks/agent?token=${TOKEN}&a=${'%20'.repeat(2_000)}`, 2048],
    ['address', `/${'x'.repeat(14_000)}`, 2048],
  ])('a %s that is too long is none, whoever sends it', async (what, path, most) => {
    const server = await startTestServer({ generation: { knowsName: (name) => name === 'agent' } });
    for (const headers of [BEARER, {}]) {
      const reply = await send(server, path, { headers, body: '{}' });
      expect(reply.status).toBe(404);
      expect(json(reply)['detail']).toBe(
        `the ${what} is longer than ${most} characters; send what is long in the body`,
      );
    }
    const found = { path: '', status: 404, findings: [{ code: 'too_long', facts: { what, most } }] };
    expect(server.strangers).toMatchObject([found, found]);
    expect(JSON.stringify([server.strangers, server.log])).not.toContain(TOKEN);
  });

  test('a long query is read where the token stands behind it', async () => {
    const server = await startTestServer();
    const query = 'a=%20b&'.repeat(200);
    const reply = await send(server, `/hooks/agent?${query}token=${TOKEN}`, { headers: {}, body: '{}' });
    expect(reply.status).toBe(202);
    expect(server.evaluated[0]?.query['a']).toHaveLength(200 * 4 - 2);
    expect(server.evaluated[0]?.url).toBe(`/hooks/agent?${query.slice(0, -1)}`);
  });
});

describe('methods', () => {
  test.each(['GET', 'HEAD', 'PUT', 'DELETE', 'OPTIONS', 'PATCH', 'PROPFIND'])(
    '%s is answered 405',
    async (method) => {
      const server = await startTestServer();
      const reply = await send(server, '/hooks/wake', { method });
      expect(reply.status).toBe(405);
      expect(reply.headers['allow']).toBe('POST');
      expect(reply.text === '' ? undefined : json(reply)['code']).toBe(
        method === 'HEAD' ? undefined : 'method_not_allowed',
      );
      expect(server.accepted).toEqual([]);
      expect(server.decisions).toMatchObject([{ path: 'wake', status: 405, findings: [{ code: 'method' }] }]);
    },
  );

  test('a query of runs is no decision, whatever its answer', async () => {
    const server = await startTestServer({ hooks: { exposeRuns: true } });
    expect((await send(server, '/hooks/runs/unknown', { method: 'GET' })).status).toBe(404);
    expect(server.decisions).toEqual([]);
  });

  test('the token is asked for before the method is judged', async () => {
    const server = await startTestServer();
    expect((await send(server, '/hooks/wake', { method: 'GET', headers: {} })).status).toBe(401);
  });

  test('CONNECT is answered 404', async () => {
    const server = await startTestServer();
    const raw = await openRaw(server);
    raw.socket.write(
      `CONNECT example.com:443 HTTP/1.1\r\nHost: example.com\r\nAuthorization: Bearer ${TOKEN}\r\n\r\n`,
    );
    expect(answersIn(await raw.closed())[0]?.status).toBe(404);
  });

  test('a CONNECT whose sender vanishes harms nobody', async () => {
    const server = await startTestServer();
    for (let i = 0; i < 20; i += 1) {
      const raw = await openRaw(server);
      raw.socket.write('CONNECT example.com:443 HTTP/1.1\r\nHost: example.com\r\n\r\n', () =>
        raw.socket.resetAndDestroy(),
      );
      await raw.closed();
    }
    expect((await send(server, '/hooks/wake', { body: '{}' })).status).toBe(200);
  });

  test('an upgrade is not taken up', async () => {
    const server = await startTestServer();
    const reply = await send(server, '/hooks/wake', {
      headers: { ...BEARER, connection: 'upgrade', upgrade: 'websocket' },
      body: '{}',
    });
    expect(reply.status).toBe(200);
  });
});

test('with hooks switched off everything below the base path is 404, token or not', async () => {
  const server = await startTestServer({ hooks: { enabled: false } });
  for (const headers of [{}, BEARER]) {
    const reply = await send(server, '/hooks/wake', { headers, body: '{}' });
    expect([reply.status, json(reply)['code']]).toEqual([404, 'not_found']);
  }
  expect((await send(server, '/healthz', { method: 'GET', headers: {} })).status).toBe(200);
});
