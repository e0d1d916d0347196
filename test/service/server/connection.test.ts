import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import type { IncomingMessage } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

import { afterEach, describe, expect, test } from 'vitest';
import {
  agentAction,
  answersIn,
  evaluationOf,
  generationOf,
  head,
  openRaw,
  recordingStore,
  send,
  SERVER,
  startTestServer,
  stopServers,
  TOKEN,
} from '../../support/server-fixture.ts';

afterEach(stopServers);

const GOOD = `${head('/hooks/agent', 'Content-Length: 2')}{}`;
const LAST = `${head('/hooks/agent', 'Content-Length: 2', 'Connection: close')}{}`;

function statusesIn(text: string): number[] {
  return answersIn(text).map((answer) => answer.status);
}

/** An evaluation that ends when the test says so. */
function gate(): { readonly opened: Promise<void>; open(): void } {
  let open = (): void => undefined;
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { opened, open: () => open() };
}

/** A server that answers requests to `slow` only after the gate is opened. */
function startHolding(held: ReturnType<typeof gate>): ReturnType<typeof startTestServer> {
  return startTestServer({
    generation: {
      evaluate: async (request) => {
        if (request.path === 'slow') await held.opened;
        return evaluationOf({ kind: 'accepted', actions: [agentAction(request, `run-of-${request.path}`)] });
      },
    },
  });
}

describe('several requests on one connection', () => {
  test('one after the other are served on the same connection', async () => {
    const server = await startTestServer();
    const raw = await openRaw(server);
    raw.socket.write(GOOD);
    await raw.until((text) => statusesIn(text).length === 1);
    raw.socket.write(LAST);
    expect(statusesIn(await raw.closed())).toEqual([202, 202]);
  });

  test('written at once are answered in their order, whatever finishes first', async () => {
    const held = gate();
    const server = await startHolding(held);
    const raw = await openRaw(server);
    const slow = `${head('/hooks/slow', 'Content-Length: 2')}{}`;
    const quick = `${head('/hooks/quick', 'Content-Length: 2')}{}`;
    raw.socket.write(slow + quick);
    while (server.accepted.length === 0) await delay(1);
    held.open();
    const text = await raw.until((received) => statusesIn(received).length === 2);
    expect(answersIn(text).map((answer) => (JSON.parse(answer.body) as { runId: string }).runId)).toEqual([
      'run-of-slow',
      'run-of-quick',
    ]);
    raw.socket.destroy();
  });

  test('a request behind refused ones is served', async () => {
    const server = await startTestServer();
    const raw = await openRaw(server);
    const noToken = 'POST /hooks/agent HTTP/1.1\r\nHost: t\r\nContent-Length: 2\r\n\r\n{}';
    const badJson = `${head('/hooks/agent', 'Content-Length: 2')}{]`;
    const unknown = `${head('/hooks/unknown', 'Content-Length: 2')}{}`;
    raw.socket.write(noToken + badJson + unknown + LAST);
    expect(statusesIn(await raw.closed())).toEqual([401, 400, 404, 202]);
    expect(server.accepted).toHaveLength(1);
  });

  test('a request behind an answer that closes the connection is not served', async () => {
    const server = await startTestServer();
    const raw = await openRaw(server);
    const body = `401\r\n${'x'.repeat(1025)}\r\n0\r\n\r\n`;
    raw.socket.write(head('/hooks/agent', 'Transfer-Encoding: chunked') + body + GOOD);
    expect(statusesIn(await raw.closed())).toEqual([413]);
    expect(server.accepted).toEqual([]);
  });
});

/** The long form is in `npm run redteam`: pipelining. */
test('of requests written without waiting few become objects, and none is left of a closed connection', async () => {
  const server = await startTestServer({
    server: { limits: { ...SERVER.limits, strangerSeconds: 0.2 } },
    hooks: { authFailuresPerMinute: 0 },
  });
  const made: WeakRef<IncomingMessage>[] = [];
  const note = (message: unknown): void => {
    made.push(new WeakRef((message as { request: IncomingMessage }).request));
  };
  subscribe('http.server.request.start', note);
  const flooded = await Promise.all(Array.from({ length: 20 }, () => openRaw(server)));
  for (const { socket } of flooded) socket.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n'.repeat(2_000));
  await delay(50);
  expect((await send(server, '/hooks/agent', { body: '{}' })).status).toBe(202);
  for (const raw of flooded) expect(statusesIn(await raw.closed()).length).toBeLessThanOrEqual(4);
  while (!server.log.some(({ fields }) => fields['stopped'] === 20)) await delay(5);
  unsubscribe('http.server.request.start', note);
  // Four may wait, and one is passed over.
  expect(made.length).toBeLessThanOrEqual(20 * 5 + 2);
  expect(made.length).toBeGreaterThan(20);
  setFlagsFromString('--expose-gc');
  const collectGarbage = runInNewContext('gc') as () => void;
  const left = (): number => made.filter((each) => each.deref() !== undefined).length;
  for (let tries = 20; tries > 0 && left() > 3; tries -= 1) {
    await delay(50);
    collectGarbage();
  }
  expect(left()).toBeLessThanOrEqual(3);
  expect(server.openRequests()).toBe(0);
});

describe('what the protocol asks of a request', () => {
  const TOKEN_LINE = `Authorization: Bearer ${TOKEN}`;
  const request = (...lines: string[]): string =>
    ['POST /hooks/agent HTTP/1.1', TOKEN_LINE, ...lines, '', ''].join('\r\n');

  test.each([
    ['two Host headers', request('Host: a', 'Host: b', 'Content-Length: 2') + '{}', 400, 'malformed_request'],
    [
      'the same Host twice',
      request('Host: a', 'Host: a', 'Content-Length: 2') + '{}',
      400,
      'malformed_request',
    ],
    ['no Host', request('Content-Length: 2') + '{}', 400, 'malformed_request'],
    [
      'a coding before chunked',
      request('Host: t', 'Transfer-Encoding: gzip, chunked') + '2\r\n{}\r\n0\r\n\r\n',
      501,
      'unknown_transfer_coding',
    ],
    ['another coding', request('Host: t', 'Transfer-Encoding: gzip'), 501, 'unknown_transfer_coding'],
    [
      'a coding that only looks like chunked',
      request('Host: t', 'Transfer-Encoding: xchunked') + '2\r\n{}\r\n0\r\n\r\n',
      501,
      'unknown_transfer_coding',
    ],
    [
      'chunked before another coding',
      request('Host: t', 'Transfer-Encoding: chunked, gzip') + '2\r\n{}\r\n0\r\n\r\n',
      400,
      'malformed_request',
    ],
  ])('%s is answered with problem+json and stores nothing', async (_name, bytes, status, code) => {
    const server = await startTestServer();
    const raw = await openRaw(server);
    raw.socket.write(bytes);
    const [answer] = answersIn(await raw.until((text) => text.includes('"ok":false')));
    expect(answer?.status).toBe(status);
    expect(answer?.head).toMatch(/content-type: application\/problem\+json/i);
    expect(JSON.parse(answer?.body ?? '')).toMatchObject({ status, code });
    expect([server.evaluated, server.accepted]).toEqual([[], []]);
    raw.socket.destroy();
  });

  test('HTTP/1.0 needs no Host', async () => {
    const server = await startTestServer();
    const raw = await openRaw(server);
    raw.socket.write(`POST /hooks/agent HTTP/1.0\r\n${TOKEN_LINE}\r\nContent-Length: 2\r\n\r\n{}`);
    expect(statusesIn(await raw.closed())).toEqual([202]);
  });
});

describe('an Upgrade header', () => {
  const upgrade = (protocol: string): string =>
    head('/hooks/agent', 'Connection: Upgrade', `Upgrade: ${protocol}`, 'Content-Length: 15') +
    '{"message":"x"}';

  test.each(['websocket', 'h2c', 'TLS/1.0'])(
    '%s is ignored, and the answer ends the connection, so that nobody waits for one to what stands behind it',
    async (protocol) => {
      const server = await startTestServer();
      const raw = await openRaw(server);
      raw.socket.write(upgrade(protocol) + upgrade(protocol) + LAST);
      const answer = await raw.closed();
      expect(statusesIn(answer)).toEqual([202]);
      expect(answer.toLowerCase()).toContain('connection: close');
      expect(server.evaluated.map(({ payload }) => payload)).toEqual([{ message: 'x' }]);
    },
  );

  test('does not overtake the answer before it', async () => {
    const held = gate();
    const server = await startHolding(held);
    const raw = await openRaw(server);
    raw.socket.write(`${head('/hooks/slow', 'Content-Length: 2')}{}${upgrade('websocket')}${LAST}`);
    while (server.openRequests() === 0) await delay(1);
    await delay(20);
    held.open();
    const answers = answersIn(await raw.closed());
    expect(answers.map(({ body }) => (JSON.parse(body) as { runId: string }).runId)).toEqual([
      'run-of-slow',
      'run-of-agent',
    ]);
  });

  test('a body that comes later, in pieces, is read whole', async () => {
    const server = await startTestServer();
    const raw = await openRaw(server);
    for (const byte of upgrade('h2c')) {
      raw.socket.write(byte);
      // oxlint-disable-next-line no-await-in-loop -- the pieces must not arrive as one
      await new Promise(setImmediate);
    }
    expect(statusesIn(await raw.closed())).toEqual([202]);
  });
});

describe('bytes that are no request', () => {
  test.each([
    ['text', 'hello\r\n\r\n'],
    ['a bad header', 'POST /hooks/wake HTTP/1.1\r\nHost t\r\n\r\n'],
    [
      'two lengths',
      'POST /hooks/wake HTTP/1.1\r\nHost: t\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\n{}',
    ],
    [
      'a length and chunks',
      'POST /hooks/wake HTTP/1.1\r\nHost: t\r\nContent-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n{}',
    ],
    ['a TLS hello', '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03'],
  ])('%s is answered 400 and closed', async (_name, bytes) => {
    const server = await startTestServer();
    const raw = await openRaw(server);
    raw.socket.write(bytes, 'latin1');
    const [answer] = answersIn(await raw.closed());
    expect(answer?.status).toBe(400);
    expect(JSON.parse(answer?.body ?? '')).toMatchObject({ code: 'malformed_request' });
    expect(server.evaluated).toEqual([]);
  });

  test('a broken chunk is answered 400 and nothing is stored', async () => {
    const server = await startTestServer();
    const raw = await openRaw(server);
    raw.socket.write(`${head('/hooks/agent', 'Transfer-Encoding: chunked')}zz\r\n{}\r\n0\r\n\r\n`);
    expect(statusesIn(await raw.closed())).toEqual([400]);
    expect(server.accepted).toEqual([]);
    expect(server.decisions).toMatchObject([{ status: 400, code: 'malformed_request', actionIds: [] }]);
  });

  test('behind a request under way they do not cost it its answer', async () => {
    const held = gate();
    const server = await startTestServer({
      generation: {
        evaluate: async (request) => {
          await held.opened;
          return evaluationOf({ kind: 'accepted', actions: [agentAction(request)] });
        },
      },
    });
    const raw = await openRaw(server);
    raw.socket.write(`${GOOD}garbage\r\n\r\n`);
    while (server.log.length === 0) await delay(1);
    held.open();
    const text = await raw.closed();
    expect(statusesIn(text)).toEqual([202]);
    expect(text).toMatch(/connection: close/i);
  });
});

describe('stop', () => {
  test('answers what is under way with Connection: close and refuses new connections', async () => {
    const held = gate();
    const server = await startTestServer({
      generation: {
        evaluate: async (request) => {
          await held.opened;
          return evaluationOf({ kind: 'accepted', actions: [agentAction(request)] });
        },
      },
    });
    const raw = await openRaw(server);
    raw.socket.write(GOOD);
    while (server.openRequests() === 0) await delay(1);
    const stopped = server.stop();
    await expect(send(server, '/hooks/agent', { body: '{}' })).rejects.toThrow(/ECONNREFUSED/);
    held.open();
    const text = await raw.closed();
    expect(statusesIn(text)).toEqual([202]);
    expect(text).toMatch(/connection: close/i);
    await stopped;
    expect(server.accepted).toHaveLength(1);
  });

  test('answers both of two requests under way on one connection, whatever finishes first', async () => {
    const first = gate();
    const second = gate();
    const server = await startTestServer({
      generation: {
        evaluate: async (request) => {
          await (request.path === 'first' ? first : second).opened;
          return evaluationOf({ kind: 'accepted', actions: [agentAction(request)] });
        },
      },
    });
    const raw = await openRaw(server);
    raw.socket.write(
      `${head('/hooks/first', 'Content-Length: 2')}{}${head('/hooks/second', 'Content-Length: 2')}{}`,
    );
    while (server.openRequests() < 2) await delay(1);
    const stopped = server.stop();
    second.open();
    while (server.openRequests() > 1) await delay(1);
    first.open();
    expect(statusesIn(await raw.closed())).toEqual([202, 202]);
    await stopped;
  });

  test('a request that comes on an idle connection gets a 503 with Retry-After and stores nothing', async () => {
    const server = await startTestServer();
    const raw = await openRaw(server);
    raw.socket.write(GOOD);
    await raw.until((text) => statusesIn(text).length === 1);
    const stopped = server.stop();
    raw.socket.write(GOOD);
    const text = await raw.closed();
    expect(statusesIn(text)).toEqual([202, 503]);
    expect(text).toMatch(/retry-after: 1/i);
    expect(text).toContain('"code":"stopping"');
    await stopped;
    expect(server.accepted).toHaveLength(1);
  });

  test('closes idle connections, is idempotent, and resolves', async () => {
    const server = await startTestServer();
    const raw = await openRaw(server);
    raw.socket.write(GOOD);
    await raw.until((text) => statusesIn(text).length === 1);
    await Promise.all([server.stop(), server.stop()]);
    await raw.closed();
    await server.stop();
  });

  test('cuts off what does not end within the grace', async () => {
    const server = await startTestServer({
      server: { stopGraceSeconds: 0.2 },
      generation: { evaluate: () => new Promise(() => undefined) },
    });
    const raw = await openRaw(server);
    raw.socket.write(GOOD);
    while (server.openRequests() === 0) await delay(1);
    await server.stop();
    expect(await raw.closed()).toBe('');
  });
});

test('an address in use is an error that names the setting', async () => {
  const server = await startTestServer();
  await expect(startTestServer({ server: { port: server.port } })).rejects.toThrow(
    `cannot listen on 127.0.0.1 port ${server.port}: another program listens there; choose another server.port`,
  );
});

test('a request keeps the generation it began with, and the next one gets the new, tokens included', async () => {
  const store = recordingStore();
  const held = gate();
  const old = generationOf(
    {},
    {
      id: 'g-old',
      evaluate: async (request) => {
        await held.opened;
        return evaluationOf({ kind: 'accepted', actions: [agentAction(request)] });
      },
    },
  );
  let live = old;
  const server = await startTestServer({
    storage: store.storage,
    deps: { generation: () => live },
  });
  const reply = send(server, '/hooks/agent', { body: '{}' });
  while (server.openRequests() === 0) await delay(1);
  live = generationOf({ token: 'new-token' }, { id: 'g-new' });
  held.open();
  expect((await reply).status).toBe(202);
  expect((await send(server, '/hooks/agent', { body: '{}' })).status).toBe(401);
  const headers = { authorization: 'Bearer new-token' };
  expect((await send(server, '/hooks/agent', { headers, body: '{}' })).status).toBe(202);
  expect(store.decisions.map((decision) => decision.generation)).toEqual(['g-old', 'g-new']);
});
