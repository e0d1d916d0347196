/**
 * The listeners beside that of the hooks: who keeps a place when there are too many connections, and how those that
 * hand requests on (`dev --tunnel`) frame them.
 */
import { createServer } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { afterEach, describe, expect, onTestFinished, test } from 'vitest';
import {
  type ListenerResponse,
  openHookGate,
  startHandlerListener,
} from '../../../src/service/server/server.ts';
import { answersIn, openRaw, startTestServer, stopServers, TOKEN } from '../../support/server-fixture.ts';

afterEach(stopServers);

const get = (path: string): string => `GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`;

test('a connection keeps its place until the last of the requests that it wrote at once is answered', async () => {
  const held: ListenerResponse[] = [];
  const listener = await startHandlerListener({
    host: '127.0.0.1',
    port: 0,
    setting: 'test',
    handle: ({ url }, res) => {
      if (url === '/later') held.push(res);
      else res.end('now');
    },
  });
  onTestFinished(() => listener.stop());
  const several = await openRaw(listener);
  several.socket.write(`${get('/now')}${get('/later')}`);
  await several.until((text) => answersIn(text).length === 1 && held.length === 1);
  const silent = await Promise.all(Array.from({ length: 50 }, () => openRaw(listener)));
  await silent[0]?.closed();
  expect(several.socket.closed).toBe(false);
  held[0]?.end('later');
  await several.until((text) => answersIn(text).length === 2);
  for (const { socket } of [several, ...silent]) socket.destroy();
});

test('a connection that writes more requests than may wait is closed', async () => {
  let handled = 0;
  const listener = await startHandlerListener({
    host: '127.0.0.1',
    port: 0,
    setting: 'test',
    handle: () => void (handled += 1),
  });
  onTestFinished(() => listener.stop());
  const flood = await openRaw(listener);
  flood.socket.write(get('/').repeat(2_000));
  await flood.closed();
  expect(handled).toBe(4);
});

interface Target {
  readonly url: string;
  /** Requests in the order in which they came, with the connection that each came on. */
  readonly received: { method: string; url: string; body: string; frames: string[]; socket: Socket }[];
}

/** Takes every request on connections that it keeps. */
async function startTarget(): Promise<Target> {
  const received: Target['received'] = [];
  const server = createServer((req, res) => {
    let body = '';
    req.on('data', (part: Buffer) => (body += part.toString()));
    req.on('end', () => {
      const frames = req.rawHeaders.filter((name) => /^(content-length|transfer-encoding)$/i.test(name));
      received.push({ method: req.method ?? '', url: req.url ?? '', body, frames, socket: req.socket });
      res.writeHead(200, { 'content-length': 2 }).end('ok');
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.close();
    server.closeAllConnections();
  });
  return { url: `http://127.0.0.1:${String((server.address() as AddressInfo).port)}`, received };
}

const GATES = {
  'the gate of a tunnel': (url: string) => openHookGate({ service: new URL(url), hooksPath: '/hooks' }),
};

const GOOD = `POST /hooks/good HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${TOKEN}\r\nContent-Length: 2\r\n\r\n{}`;
/** Takes the head of whatever follows it on a connection for its body: the token of the next sender with it. */
const SMUGGLED =
  'POST /hooks/agent HTTP/1.1\r\nHost: x\r\nContent-Type: text/plain\r\nContent-Length: 400\r\n\r\n{"message":"';
const chunked = (body: string): string => `${body.length.toString(16)}\r\n${body}\r\n0\r\n\r\n`;
const inChunks = (method: string, ...lines: string[]): string =>
  [
    `${method} /hooks/good HTTP/1.1`,
    'Host: x',
    'Transfer-Encoding: chunked',
    ...lines,
    '',
    chunked(SMUGGLED),
  ].join('\r\n');
const counted = (method: string, ...lines: string[]): string =>
  [
    `${method} /hooks/good HTTP/1.1`,
    'Host: x',
    `Content-Length: ${String(SMUGGLED.length)}`,
    ...lines,
    '',
    SMUGGLED,
  ].join('\r\n');

/** Requests whose end two readers could see differently, or that would take from the next server what it reads by. */
const ATTACKS: Readonly<Record<string, string>> = {
  ...Object.fromEntries(
    ['GET', 'HEAD', 'DELETE', 'OPTIONS', 'PUT', 'PATCH', 'POST'].flatMap((method) => [
      [`${method} in chunks`, inChunks(method)],
      [`${method} with a length`, counted(method)],
      [
        `${method} whose Connection names the length`,
        counted(method, 'Connection: keep-alive, Content-Length'),
      ],
      [`${method} whose Connection names the coding`, inChunks(method, 'connection: transfer-encoding')],
    ]),
  ),
  'an offer of another protocol': counted('GET', 'Connection: Upgrade', 'Upgrade: websocket'),
  'an offer of another protocol, in chunks': inChunks('POST', 'Connection: Upgrade', 'Upgrade: h2c'),
  'an expectation': inChunks('OPTIONS', 'Expect: 100-continue'),
  'a coding before chunked': inChunks('POST').replace('chunked', 'gzip, chunked'),
  'a coding that is none': inChunks('POST').replace('chunked', 'xchunked'),
  'a coding after a fold': inChunks('POST').replace(' chunked', '\r\n chunked'),
  'a coding behind a blank': inChunks('POST').replace('Encoding:', 'Encoding :'),
  'chunked twice': inChunks('POST', 'Transfer-Encoding: chunked'),
  'both frames': inChunks('POST', 'Content-Length: 5'),
  'two lengths': counted('POST', 'Content-Length: 0'),
  'a length with a sign': counted('POST').replace('Length: ', 'Length: +'),
  'HTTP/1.0 in chunks': inChunks('GET').replace('HTTP/1.1', 'HTTP/1.0'),
  'a second request behind the first': `${GOOD}${inChunks('GET')}`,
};

describe.each(Object.entries(GATES))('%s', (_, openGate) => {
  test.each(Object.entries(ATTACKS))('does not let %s become the next request', async (_name, attack) => {
    const target = await startTarget();
    const gate = await openGate(target.url);
    onTestFinished(() => gate.stop());
    const attacker = await openRaw(gate);
    attacker.socket.write(attack, 'latin1');
    await attacker.until((text) => /HTTP\/1\.1 [2-5]/.test(text));
    for (let i = 0; i < 3; i += 1) {
      const good = await openRaw(gate);
      good.socket.write(GOOD);
      expect(answersIn(await good.until((text) => text.includes('\r\n\r\n')))[0]?.status).toBe(200);
      good.socket.destroy();
    }
    attacker.socket.destroy();
    expect(target.received.map(({ url }) => url)).not.toContain('/hooks/agent');
    const sockets = target.received.map(({ socket }) => socket);
    expect(new Set(sockets).size).toBe(sockets.length);
    for (const { frames, body } of target.received) {
      expect(frames.length).toBeLessThanOrEqual(1);
      expect(frames.length === 0 ? '' : body).toBe(body);
    }
  });

  test('hands a body on with the frame that it came with, whatever the method', async () => {
    const target = await startTarget();
    const gate = await openGate(target.url);
    onTestFinished(() => gate.stop());
    for (const method of ['POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']) {
      for (const request of [inChunks(method), counted(method)]) {
        const sender = await openRaw(gate);
        sender.socket.write(request);
        expect(answersIn(await sender.until((text) => text.includes('\r\n\r\n')))[0]?.status).toBe(200);
        sender.socket.destroy();
        const frame = request === inChunks(method) ? 'transfer-encoding' : 'content-length';
        const { frames, body } = target.received.at(-1)!;
        expect({ method, frames: frames.map((name) => name.toLowerCase()), body }).toEqual({
          method,
          frames: [frame],
          body: SMUGGLED,
        });
      }
    }
  });

  test.each([
    ['a body on GET', counted('GET'), 400],
    ['a body on HEAD', inChunks('HEAD'), 400],
    ['Connection that names the length', counted('POST', 'Connection: content-length'), 400],
    ['Connection that names Host', counted('POST', 'Connection: close, HOST'), 400],
    ['Connection that names the token', counted('POST', 'Connection:authorization'), 400],
    ['Connection that names what a proxy noted', counted('POST', 'Connection: x-forwarded-for'), 400],
    ['two hosts', counted('POST', 'Host: y'), 400],
    ['a coding before chunked', ATTACKS['a coding before chunked']!, 501],
    ['an address outside the hooks', GOOD.replace('/hooks/good', '/readyz'), 404],
    ['an address that leads outside', GOOD.replace('/hooks/good', '/hooks/../console'), 404],
    ['an address of another host', GOOD.replace('/hooks/good', 'http://other/hooks/good'), 404],
  ])('refuses %s before anybody else sees it', async (_name, request, status) => {
    const target = await startTarget();
    const gate = await openGate(target.url);
    onTestFinished(() => gate.stop());
    const sender = await openRaw(gate);
    sender.socket.write(request);
    const [answer] = answersIn(await sender.closed());
    expect(answer?.status).toBe(status);
    expect(target.received).toEqual([]);
  });

  test('lets the sender see that an answer is cut off', async () => {
    const server = createServer((_req, res) => {
      res.writeHead(200, { 'content-length': 100 }).write('begun', () => res.destroy());
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    onTestFinished(() => void server.close());
    const gate = await openGate(`http://127.0.0.1:${String((server.address() as AddressInfo).port)}`);
    onTestFinished(() => gate.stop());
    const sender = await openRaw(gate);
    sender.socket.write(GOOD);
    expect(await sender.closed()).toMatch(/begun$/);
  });
});

test('through a tunnel, what a stranger wrote never becomes the run of a sender with the token', async () => {
  const server = await startTestServer();
  const gate = await openHookGate({ service: new URL(server.url), hooksPath: '/hooks' });
  onTestFinished(() => gate.stop());
  for (const attack of Object.values(ATTACKS).filter((text) => !text.includes(TOKEN))) {
    const attacker = await openRaw(gate);
    attacker.socket.write(attack, 'latin1');
    await attacker.until((text) => /HTTP\/1\.1 [2-5]/.test(text));
    const good = await openRaw(gate);
    good.socket.write(GOOD);
    expect(answersIn(await good.until((text) => text.includes('\r\n\r\n')))[0]?.status).toBe(202);
    good.socket.destroy();
    attacker.socket.destroy();
  }
  expect(new Set(server.evaluated.map(({ path }) => path))).toEqual(new Set(['good']));
});
