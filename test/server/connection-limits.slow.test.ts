/** Strangers cannot lock out senders that have the token. The long form is in `npm run redteam`. */
import { setTimeout as delay } from 'node:timers/promises';
import { afterEach, describe, expect, onTestFinished, test } from 'vitest';
import { postAsGoodSender } from '../redteam/good-sender.ts';
import { startStrangers, STRANGER_KINDS, type StrangerKind } from '../redteam/strangers.ts';
import {
  agentAction,
  answersIn,
  evaluationOf,
  head,
  openRaw,
  SERVER,
  send,
  startTestServer,
  stopServers,
  type TestServer,
  TOKEN,
} from '../support/server-fixture.ts';

afterEach(stopServers);

function limitsOf(over: Partial<(typeof SERVER)['limits']>): { readonly server: Partial<typeof SERVER> } {
  return { server: { limits: { ...SERVER.limits, ...over } } };
}

async function attack(
  server: TestServer,
  kinds: readonly StrangerKind[],
  { addresses, reconnectMs }: { readonly addresses: number; readonly reconnectMs: number },
): Promise<void> {
  const strangers = startStrangers({
    port: server.port,
    path: '/hooks/agent',
    count: 200,
    addresses: Array.from({ length: addresses }, (_, index) => `127.0.0.${index + 1}`),
    kinds,
    reconnectMs,
  });
  onTestFinished(() => strangers.stop());
  while (strangers.opened() < 200) await delay(5);
}

describe('with four times as many strangers as connections, all good posts are accepted:', () => {
  const attacks: readonly [string, readonly StrangerKind[], number, number][] = [
    ...STRANGER_KINDS.map((kind): [string, readonly StrangerKind[], number, number] => [kind, [kind], 5, 20]),
    ['all kinds, one address', STRANGER_KINDS, 1, 20],
    ['all kinds, a hundred addresses', STRANGER_KINDS, 100, 20],
    ['all kinds, back at once', STRANGER_KINDS, 5, 1],
  ];
  test.each(attacks)('%s', async (_name, kinds, addresses, reconnectMs) => {
    const server = await startTestServer({
      ...limitsOf({ connections: 50, perAddress: 40 }),
      hooks: { authFailuresPerMinute: 0 },
    });
    await attack(server, kinds, { addresses, reconnectMs });
    const good = { port: server.port, path: '/hooks/agent', token: TOKEN, posts: 60, concurrency: 4 };
    expect(await postAsGoodSender(good)).toMatchObject({ accepted: 60, failures: [] });
    expect(server.accepted).toHaveLength(60);
  });
});

test('a request whose sender is proved is answered, however many come after it', async () => {
  let release = (): void => undefined;
  const held = new Promise<void>((resolve) => {
    release = resolve;
  });
  const server = await startTestServer({
    ...limitsOf({ connections: 2 }),
    generation: {
      evaluate: async (request) => {
        await held;
        return evaluationOf({ kind: 'accepted', actions: [agentAction(request)] });
      },
    },
  });
  const waiting = await Promise.all([openRaw(server), openRaw(server)]);
  for (const raw of waiting) raw.socket.write(`${head('/hooks/agent', 'Content-Length: 2')}{}`);
  while (server.openRequests() < 2) await delay(1);
  // Nobody can go: the new one has to.
  const late = await openRaw(server);
  expect(await late.closed()).toBe('');
  release();
  for (const raw of waiting)
    expect(answersIn(await raw.until((text) => text.includes('runId')))[0]?.status).toBe(202);
  while (!server.log.some(({ message }) => message.startsWith('too many connections'))) await delay(1);
  const warning = server.log.find(({ message }) => message.startsWith('too many connections'));
  expect(warning).toMatchObject({ level: 'warn', fields: { closed: 0, refused: 1, connections: 2 } });
});

test('strangers that say nothing go before those that send, and those before senders that rest', async () => {
  const server = await startTestServer(limitsOf({ connections: 3 }));
  const known = await openRaw(server);
  known.socket.write(`${head('/hooks/agent', 'Content-Length: 2')}{}`);
  await known.until((text) => text.includes('runId'));
  const slow = await openRaw(server);
  slow.socket.write('POST /hooks/agent HTTP/1.1\r\nHost: x\r\n');
  const silent = await openRaw(server);
  await delay(1_100);
  const [fourth, fifth] = [await openRaw(server), await openRaw(server)];
  await silent.closed();
  await slow.closed();
  known.socket.write(`${head('/hooks/agent', 'Content-Length: 2')}{}`);
  await known.until((text) => answersIn(text).length === 2);
  for (const raw of [fourth, fifth]) raw.socket.destroy();
});

test('an address has a limit of its own, a trusted proxy has none', async () => {
  const limited = await startTestServer(limitsOf({ perAddress: 2 }));
  const first = await openRaw(limited);
  await openRaw(limited);
  await openRaw(limited);
  expect(await first.closed()).toBe('');
  const proxied = await startTestServer({
    server: { ...limitsOf({ perAddress: 2 }).server, trustedProxies: ['127.0.0.0/8'] },
  });
  const many = await Promise.all(Array.from({ length: 10 }, () => openRaw(proxied)));
  await delay(50);
  expect(many.filter(({ socket }) => socket.closed)).toEqual([]);
  for (const raw of many) raw.socket.destroy();
});

test('where places are short, a stranger past its limit of failures is closed instead of answered', async () => {
  let release = (): void => undefined;
  const held = new Promise<void>((resolve) => {
    release = resolve;
  });
  const server = await startTestServer({
    ...limitsOf({ connections: 4 }),
    hooks: { authFailuresPerMinute: 1 },
    generation: {
      evaluate: async (request) => {
        await held;
        return evaluationOf({ kind: 'accepted', actions: [agentAction(request)] });
      },
    },
  });
  const refused = 'POST /hooks/agent HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n\r\n';
  const early = await openRaw(server);
  early.socket.write(refused.repeat(2));
  const answers = answersIn(await early.until((text) => answersIn(text).length === 2));
  expect(answers.map(({ status }) => status)).toEqual([401, 429]);
  // A request whose sender is proved waits on the connection: it stays.
  const proved = await openRaw(server);
  proved.socket.write(`${head('/hooks/agent', 'Content-Length: 2')}{}${refused}`);
  const others = [await openRaw(server), await openRaw(server), await openRaw(server)];
  await early.closed();
  const late = await openRaw(server);
  late.socket.write(refused);
  expect(await late.closed()).toBe('');
  release();
  const both = answersIn(await proved.until((text) => answersIn(text).length === 2));
  expect(both.map(({ status }) => status)).toEqual([202, 429]);
  for (const raw of [proved, ...others]) raw.socket.destroy();
});

test('a connection without proof is kept shortly after its answer, one with proof longer', async () => {
  const server = await startTestServer(limitsOf({ strangerSeconds: 0.3, idleSeconds: 60 }));
  const stranger = await openRaw(server);
  stranger.socket.write('POST /hooks/agent HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n\r\n');
  const known = await openRaw(server);
  known.socket.write(`${head('/hooks/agent', 'Content-Length: 2')}{}`);
  await known.until((text) => text.includes('runId'));
  expect(answersIn(await stranger.closed())[0]?.status).toBe(401);
  expect(known.socket.closed).toBe(false);
  known.socket.destroy();
});

test('a stop does not wait for strangers', async () => {
  const server = await startTestServer({ server: { stopGraceSeconds: 15 } });
  const raw = await openRaw(server);
  raw.socket.write('POST /hooks/agent HTTP/1.1\r\nHost: x\r\n');
  await delay(20);
  const begun = performance.now();
  await server.stop();
  expect(performance.now() - begun).toBeLessThan(10_000);
});

test('health has a listener of its own where one is configured', async () => {
  let release = (): void => undefined;
  const held = new Promise<void>((resolve) => {
    release = resolve;
  });
  const server = await startTestServer({
    server: { health: { host: '127.0.0.1', port: 0 } },
    generation: {
      gatewayToken: 'gateway-token-0123456789',
      evaluate: async (request) => {
        await held;
        return evaluationOf({ kind: 'accepted', actions: [agentAction(request)] });
      },
    },
  });
  const url = new URL(server.healthUrl ?? '');
  const health = { ...server, port: Number(url.port) };
  const get = { method: 'GET', headers: {} };
  expect((await send(health, '/healthz', get)).text).toBe('{"ok":true}');
  expect((await send(health, '/readyz', get)).status).toBe(200);
  const headers = { authorization: 'Bearer gateway-token-0123456789' };
  expect((await send(health, '/readyz', { method: 'GET', headers })).text).toContain('"problems":[]');
  expect((await send(health, '/hooks/agent', { body: '{}' })).status).toBe(404);
  const last = send(server, '/hooks/agent', { body: '{}' });
  while (server.openRequests() === 0) await delay(1);
  const stopped = server.stop();
  expect((await send(health, '/readyz', get)).text).toContain('"code":"stopping"');
  release();
  expect((await last).status).toBe(202);
  await stopped;
  await expect(send(health, '/healthz', get)).rejects.toThrow(/ECONNREFUSED/);
});

test('connections that say nothing, or only half of it, do not keep a probe from the listener of health', async () => {
  const server = await startTestServer({ server: { health: { host: '127.0.0.1', port: 0 } } });
  const health = { ...server, port: Number(new URL(server.healthUrl ?? '').port) };
  const idle = await Promise.all(Array.from({ length: 60 }, () => openRaw(health)));
  for (const { socket } of idle) socket.write('GET /healthz HTTP/1.1\r\nHost: ');
  expect((await send(health, '/readyz', { method: 'GET', headers: {} })).status).toBe(200);
  for (const { socket } of idle) socket.destroy();
});

test('an address in use names the setting of the health listener', async () => {
  const server = await startTestServer();
  const health = { host: '127.0.0.1', port: server.port };
  await expect(startTestServer({ server: { health } })).rejects.toThrow(/server\.health\.port/);
});

const FLOODS = [
  ['probes', 'GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n', 200],
  ['no token', 'POST /hooks/agent HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\n{}', 401],
  ['with the token', `${head('/hooks/agent', 'Content-Length: 15')}{"message":"x"}`, 202],
] as const;

describe('of requests that are written without waiting for answers a limited number is served:', () => {
  test.each(FLOODS)('%s', async (_name, request, status) => {
    const server = await startTestServer({ hooks: { authFailuresPerMinute: 0 } });
    const sockets = await Promise.all(Array.from({ length: 20 }, () => openRaw(server)));
    for (const { socket } of sockets) socket.write(request.repeat(10_000));
    expect((await send(server, '/hooks/agent', { body: '{"message":"x"}' })).status).toBe(202);
    for (const raw of sockets) {
      const answers = answersIn(await raw.closed());
      // 64 may wait, and one may have been answered before they came.
      expect(answers.length).toBeLessThanOrEqual(65);
      expect(answers.every((answer) => answer.status === status)).toBe(true);
    }
    const polite = await openRaw(server);
    polite.socket.write(request.repeat(60));
    const answers = answersIn(await polite.until((text) => answersIn(text).length === 60));
    expect(answers.every((answer) => answer.status === status)).toBe(true);
    polite.socket.destroy();
    while (server.openRequests() > 0) await delay(1);
  });
});
