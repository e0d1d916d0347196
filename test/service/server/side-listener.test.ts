/** The listeners beside that of the hooks: who keeps a place when there are too many connections. */
import { afterEach, expect, onTestFinished, test } from 'vitest';
import { type ListenerResponse, startHandlerListener } from '../../../src/service/server/server.ts';
import { answersIn, openRaw, stopServers } from '../../support/server-fixture.ts';

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
