import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import * as fc from 'fast-check';
import { afterEach, expect, test } from 'vitest';
import { head, send, startTestServer, stopServers } from '../../support/server-fixture.ts';

afterEach(stopServers);

const GOOD = `${head('/hooks/agent', 'Content-Length: 2')}{}`;
const PIECES = [
  GOOD,
  head('/hooks/agent', 'Content-Length: 5'),
  head('/hooks/agent', 'Transfer-Encoding: chunked'),
  head('/hooks/agent', 'Expect: 100-continue', 'Content-Length: 5'),
  'POST /hooks/agent HTTP/1.1\r\n',
  'Host: t\r\n',
  'Content-Length: 5\r\n',
  'Transfer-Encoding: chunked\r\n',
  '\r\n',
  '5\r\nhello\r\n',
  '0\r\n\r\n',
  'CONNECT a:1 HTTP/1.1\r\n',
  'GET /readyz HTTP/1.1\r\n',
  'HEAD /hooks/agent HTTP/1.0\r\n',
  'OPTIONS * HTTP/1.1\r\n',
  'Upgrade: websocket\r\nConnection: upgrade\r\n',
  'Connection: close\r\n',
  '\x00\xff\xfe',
  '{"a":1}',
];

/** How a sender leaves, in the order in which it is least polite. */
const ENDINGS: Readonly<Record<string, (socket: Socket) => void>> = {
  reset: (socket) => socket.resetAndDestroy(),
  close: (socket) => void setImmediate(() => socket.destroy()),
  halfClose: (socket) => socket.end(),
};

test('whatever pieces of requests arrive, however senders leave: the server lives and forgets them', async () => {
  const server = await startTestServer({ deps: { limits: { drainMs: 100 } } });
  const pieces = fc.array(fc.constantFrom(...PIECES), { minLength: 1, maxLength: 8 });
  await fc.assert(
    fc.asyncProperty(pieces, fc.constantFrom(...Object.keys(ENDINGS)), async (parts, ending) => {
      const socket = connect(server.port, server.host);
      socket.on('error', () => undefined);
      socket.resume();
      await once(socket, 'connect');
      socket.write(parts.join(''), 'latin1');
      ENDINGS[ending]?.(socket);
      if (!socket.closed) await once(socket, 'close');
    }),
    { numRuns: 200, seed: 1 },
  );
  while (server.openRequests() > 0) await delay(1);
  expect((await send(server, '/hooks/agent', { body: '{}' })).status).toBe(202);
  expect(server.accepted.length).toBe(server.evaluated.length);
});
