/** Strangers cannot lock out senders that have the token. The long form is in `npm run redteam`. */
import { setTimeout as delay } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { afterEach, describe, expect, onTestFinished, test } from 'vitest';
import { postAsGoodSender } from '../../lab/redteam/good-sender.ts';
import { startWriters } from '../../lab/redteam/writers.ts';
import { startStrangers, STRANGER_KINDS, type StrangerKind } from '../../lab/redteam/strangers.ts';
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
  wakeAction,
} from '../../support/server-fixture.ts';

afterEach(stopServers);

/** At a stop, bodies that never end are not waited for. */
function limitsOf(over: Partial<(typeof SERVER)['limits']>): { readonly server: Partial<typeof SERVER> } {
  return { server: { limits: { ...SERVER.limits, ...over }, stopGraceSeconds: 0.1 } };
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
    const good = { port: server.port, path: '/hooks/agent', token: TOKEN, posts: 30, concurrency: 4 };
    expect(await postAsGoodSender(good)).toMatchObject({ accepted: 30, failures: [] });
    expect(server.accepted).toHaveLength(30);
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

const SLOW = `${head('/hooks/agent', 'Content-Length: 100')}{`;

describe('a slow body of a proved sender', () => {
  test('gives way to others, the longest first, and a complete one never does', async () => {
    const held = new Promise<never>(() => undefined);
    const server = await startTestServer({
      ...limitsOf({ connections: 3 }),
      generation: {
        evaluate: (request) =>
          request.path === 'wake' ? evaluationOf({ kind: 'accepted', actions: [wakeAction(request)] }) : held,
      },
    });
    const raws = [await openRaw(server), await openRaw(server), await openRaw(server)] as const;
    const [complete, slow, second] = raws;
    for (const [index, bytes] of [`${head('/hooks/agent', 'Content-Length: 2')}{}`, SLOW, SLOW].entries()) {
      raws[index]?.socket.write(bytes);
      // oxlint-disable-next-line no-await-in-loop -- one after the other
      while (server.openRequests() <= index) await delay(1);
    }
    const late = await openRaw(server);
    late.socket.write(`${head('/hooks/wake', 'Content-Length: 12')}{"text":"x"}`);
    expect(await slow.closed()).toBe('');
    expect(answersIn(await late.until((text) => text.includes('"ok"')))[0]?.status).toBe(200);
    second.socket.write('}'.padStart(99));
    while (server.evaluated.length < 3) await delay(1);
    expect([complete.socket.closed, second.socket.closed]).toEqual([false, false]);
    for (const raw of [...raws, late]) raw.socket.destroy();
  });

  test('stays, however many strangers come', async () => {
    const server = await startTestServer(limitsOf({ connections: 20 }));
    const slow = await openRaw(server);
    slow.socket.write(SLOW);
    while (server.openRequests() < 1) await delay(1);
    await attack(server, ['idle', 'slow body'], { addresses: 5, reconnectMs: 5 });
    await delay(1_200);
    slow.socket.write('}'.padStart(99));
    expect(answersIn(await slow.until((text) => text.includes('runId')))[0]?.status).toBe(202);
    slow.socket.destroy();
  });

  test.each([
    ['one address', 1],
    ['five addresses', 5],
  ])('does not keep others out, where four times as many come from %s', async (_name, addresses) => {
    const server = await startTestServer(limitsOf({ connections: 50, perAddress: 40 }));
    const { port } = server;
    const drip = { fill: '', times: 0, drip: ' ', reconnectMs: 5 };
    const writers = startWriters({ port, count: 200, addresses, head: SLOW, ...drip });
    onTestFinished(() => writers.stop());
    while (writers.opened() < 200) await delay(5);
    const good = { port, path: '/hooks/agent', token: TOKEN, posts: 30, concurrency: 4 };
    expect(await postAsGoodSender(good)).toMatchObject({ accepted: 30, failures: [] });
  });
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
  // On a busy machine it takes a second until a sender has proved itself.
  const server = await startTestServer(limitsOf({ strangerSeconds: 2, idleSeconds: 60 }));
  const known = await openRaw(server);
  known.socket.write(`${head('/hooks/agent', 'Content-Length: 2')}{}`);
  await known.until((text) => text.includes('runId'));
  const stranger = await openRaw(server);
  stranger.socket.write('POST /hooks/agent HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n\r\n');
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
  expect(performance.now() - begun).toBeLessThan(15_000);
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

test('requests written without waiting, on new connections again and again, keep nobody out', async () => {
  const server = await startTestServer({ ...limitsOf({ connections: 50, perAddress: 40 }) });
  const { port } = server;
  const [, request] = FLOODS[0];
  const flood = { head: '', fill: request, times: 2_400, drip: request };
  const writers = startWriters({ port, count: 200, addresses: 4, reconnectMs: 5, ...flood });
  onTestFinished(() => writers.stop());
  while (writers.opened() < 200) await delay(5);
  const good = { port, path: '/hooks/agent', token: TOKEN, posts: 30, concurrency: 4 };
  expect(await postAsGoodSender(good)).toMatchObject({ accepted: 30, failures: [] });
  writers.stop();
  while (server.openRequests() > 0) await delay(5);
});

describe('of requests that are written without waiting for answers a limited number is served:', () => {
  test.each(FLOODS)('%s', async (_name, request, status) => {
    const server = await startTestServer({
      ...limitsOf({ strangerSeconds: 2 }),
      hooks: { authFailuresPerMinute: 0 },
    });
    const sockets = await Promise.all(Array.from({ length: 20 }, () => openRaw(server)));
    for (const { socket } of sockets) socket.write(request.repeat(2_000));
    expect((await send(server, '/hooks/agent', { body: '{"message":"x"}' })).status).toBe(202);
    for (const raw of sockets) {
      const answers = answersIn(await raw.closed());
      // 4 may wait, and one may have been answered before they came.
      expect(answers.length).toBeLessThanOrEqual(5);
      expect(answers.every((answer) => answer.status === status)).toBe(true);
    }
    const polite = await openRaw(server);
    polite.socket.write(request.repeat(4));
    const answers = answersIn(await polite.until((text) => answersIn(text).length === 4));
    expect(answers.every((answer) => answer.status === status)).toBe(true);
    polite.socket.destroy();
    while (server.openRequests() > 0) await delay(1);
  });
});

/** The long form is in `npm run redteam`: bodies. */
test('a body in pieces of one byte is one piece of memory', async () => {
  const server = await startTestServer({ hooks: { maxBodyBytes: 20_000 } });
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  const heldBytes = (): number => {
    collect();
    return process.memoryUsage().heapUsed;
  };
  const raw = await openRaw(server);
  raw.socket.write(head('/hooks/agent', 'Transfer-Encoding: chunked'));
  const pieces = ['"', ...Array.from({ length: 9_998 }, () => 'x'), '"'];
  const text = pieces.map((byte) => `1\r\n${byte}\r\n`).join('');
  const before = heldBytes();
  raw.socket.write(text);
  while (server.openRequests() < 1) await delay(1);
  await delay(50);
  // An object for each would be over a megabyte.
  expect(heldBytes() - before).toBeLessThan(500_000);
  raw.socket.write('0\r\n\r\n');
  expect(answersIn(await raw.until((text) => text.includes('runId')))[0]?.status).toBe(202);
  raw.socket.destroy();
});
