import { deflateSync, gzipSync } from 'node:zlib';
import { setTimeout as delay } from 'node:timers/promises';
import { request as httpRequest } from 'node:http';
import { afterEach, describe, expect, test } from 'vitest';
import { VerifySettings } from '../../../src/engine/verify/verify.ts';
import { evaluateHook, settingsWith } from '../../support/hook-fixture.ts';
import {
  answersIn,
  BEARER,
  head,
  json,
  openRaw,
  type Reply,
  send,
  SERVER,
  startTestServer,
  stopServers,
  type TestServer,
} from '../../support/server-fixture.ts';

afterEach(stopServers);

/** Nothing but the decision on the refusal is left, and no word of the body is in it. */
function expectOnlyRefusal(server: TestServer): void {
  expect([server.accepted, server.kept, server.evaluated]).toEqual([[], [], []]);
  expect(server.decisions).toMatchObject([{ outcome: 'rejected', actionIds: [] }]);
  expect(JSON.stringify(server.decisions)).not.toContain('secret-part');
}

describe('what a body may be', () => {
  test.each([
    ['an empty body', '', {}],
    ['white space', ' \r\n\t ', {}],
    ['an object', '{"a":[1,null]}', { a: [1, null] }],
    ['an array', '[1]', [1]],
    ['a string', '"x"', 'x'],
    ['a number', '0', 0],
    ['null', 'null', null],
    ['false', 'false', false],
  ])('a mapped hook takes %s', async (_name, body, payload) => {
    const server = await startTestServer();
    expect((await send(server, '/hooks/mapped', { body })).status).toBe(202);
    expect(server.evaluated[0]?.payload).toEqual(payload);
  });

  test('the Content-Type is not asked for', async () => {
    const server = await startTestServer();
    const headers = { ...BEARER, 'content-type': 'text/plain' };
    expect((await send(server, '/hooks/wake', { headers, body: '{"text":"x"}' })).status).toBe(200);
  });

  test.each(['[]', '"text"', '1', 'null', 'true'])('wake and agent refuse %s', async (body) => {
    const settings = settingsWith();
    const server = await startTestServer({
      generation: { evaluate: (request) => evaluateHook(request, settings).evaluation },
    });
    for (const name of ['wake', 'agent']) {
      const reply = await send(server, `/hooks/${name}`, { body });
      expect([reply.status, json(reply)['code']]).toEqual([400, 'invalid_body']);
      expect(server.decisions.pop()).toMatchObject({ path: name, status: 400, code: 'invalid_body' });
    }
    expect([server.accepted, server.kept]).toEqual([[], []]);
  });

  test('a key named __proto__ is an ordinary key', async () => {
    const server = await startTestServer();
    await send(server, '/hooks/mapped', { body: '{"__proto__":{"polluted":true}}' });
    expect(Object.keys(server.evaluated[0]?.payload as object)).toEqual(['__proto__']);
    expect(({} as { polluted?: boolean }).polluted).toBeUndefined();
  });

  test.each<[string, Buffer, string]>([
    ['truncated JSON', Buffer.from('{"text":"secret-part'), 'invalid_json'],
    ['text that is not JSON', Buffer.from('secret-part=1'), 'invalid_json'],
    ['invalid UTF-8', Buffer.from([0x22, 0xff, 0xfe, 0x22]), 'invalid_utf8'],
    ['an overlong encoding', Buffer.from([0x22, 0xc0, 0xaf, 0x22]), 'invalid_utf8'],
    ['a lone surrogate in UTF-8', Buffer.from([0x22, 0xed, 0xa0, 0x80, 0x22]), 'invalid_utf8'],
    ['UTF-16', Buffer.from('{"text":"x"}', 'utf16le'), 'invalid_json'],
  ])('%s is answered 400 without quoting it', async (_name, body, code) => {
    const server = await startTestServer();
    const reply = await send(server, '/hooks/wake', { body });
    expect([reply.status, json(reply)['code']]).toEqual([400, code]);
    expect(reply.text + JSON.stringify(server.log)).not.toContain('secret-part');
    expectOnlyRefusal(server);
  });

  test('the answer names the place where the body stops being JSON', async () => {
    const server = await startTestServer();
    const reply = await send(server, '/hooks/wake', { body: '{\n  "text": hello\n}' });
    expect(json(reply)['detail']).toBe('the body is not JSON at line 2, column 11: expected a value');
  });

  test.each([
    ['arrays', '['.repeat(100_000), 'invalid_json'],
    ['closed arrays', '['.repeat(100_000) + ']'.repeat(100_000), 'invalid_body'],
    ['objects', '{"a":'.repeat(50_000) + '1' + '}'.repeat(50_000), 'invalid_body'],
    ['513 levels', '['.repeat(513) + ']'.repeat(513), 'invalid_body'],
  ])('deeply nested %s are answered 400', async (_name, body, code) => {
    const server = await startTestServer({ hooks: { maxBodyBytes: 1_000_000 } });
    const reply = await send(server, '/hooks/mapped', { body });
    expect([reply.status, json(reply)['code']]).toEqual([400, code]);
    expectOnlyRefusal(server);
  });

  test('512 levels are taken', async () => {
    const server = await startTestServer({ hooks: { maxBodyBytes: 1_000_000 } });
    const body = '['.repeat(512) + ']'.repeat(512);
    expect((await send(server, '/hooks/mapped', { body })).status).toBe(202);
  });

  test.each(['br', 'zstd', 'gzip, gzip', 'identity, gzip'])(
    'Content-Encoding %s is answered 415',
    async (encoding) => {
      const server = await startTestServer();
      const reply = await send(server, '/hooks/wake', {
        headers: { ...BEARER, 'content-encoding': encoding },
        body: '{}',
      });
      expect([reply.status, json(reply)['code']]).toEqual([415, 'unsupported_encoding']);
      expect(reply.headers['accept-encoding']).toBe('gzip, deflate');
      expectOnlyRefusal(server);
    },
  );

  test.each([
    ['gzip', gzipSync],
    ['x-gzip', gzipSync],
    ['deflate', deflateSync],
  ] as const)('Content-Encoding %s is unpacked', async (encoding, pack) => {
    const server = await startTestServer();
    const headers = { ...BEARER, 'content-encoding': encoding };
    const body = pack('{"text":"packed"}');
    expect((await send(server, '/hooks/wake', { headers, body })).status).toBe(200);
    expect(server.evaluated[0]?.payload).toEqual({ text: 'packed' });
  });

  test('a bomb is 413 and is unpacked no further than the limit', async () => {
    const server = await startTestServer({ hooks: { maxBodyBytes: 100_000 } });
    const headers = { ...BEARER, 'content-encoding': 'gzip' };
    const body = gzipSync(Buffer.alloc(50_000_000));
    const reply = await send(server, '/hooks/wake', { headers, body });
    expect([reply.status, json(reply)['code']]).toEqual([413, 'body_too_large']);
    expectOnlyRefusal(server);
  });

  test('what is not packed as it says is 400', async () => {
    const server = await startTestServer();
    const headers = { ...BEARER, 'content-encoding': 'gzip' };
    const reply = await send(server, '/hooks/wake', { headers, body: '{"text":"plain"}' });
    expect([reply.status, json(reply)['code']]).toEqual([400, 'invalid_body']);
  });

  test('Content-Encoding identity is taken', async () => {
    const server = await startTestServer();
    const headers = { ...BEARER, 'content-encoding': 'Identity' };
    expect((await send(server, '/hooks/wake', { headers, body: '{}' })).status).toBe(200);
  });
});

describe('limits', () => {
  const exact = JSON.stringify('x'.repeat(1022));

  test('a body of exactly the limit is accepted, announced or not', async () => {
    const server = await startTestServer();
    expect(exact).toHaveLength(1024);
    expect((await send(server, '/hooks/mapped', { body: exact })).status).toBe(202);
    const chunked = { ...BEARER, 'transfer-encoding': 'chunked' };
    expect((await send(server, '/hooks/mapped', { headers: chunked, body: exact })).status).toBe(202);
  });

  test('one byte more is answered 413, announced or not, and the connection stays usable', async () => {
    const server = await startTestServer();
    const raw = await openRaw(server);
    raw.socket.write(head('/hooks/mapped', 'Content-Length: 1025') + `${exact} `);
    raw.socket.write(head('/hooks/mapped', 'Content-Length: 2', 'Connection: close') + '{}');
    expect(answersIn(await raw.closed()).map((answer) => answer.status)).toEqual([413, 202]);
    const chunked = { ...BEARER, 'transfer-encoding': 'chunked' };
    expect((await send(server, '/hooks/mapped', { headers: chunked, body: `${exact} ` })).status).toBe(413);
    expect(server.accepted).toHaveLength(1);
  });

  test('a path may have a limit of its own', async () => {
    const server = await startTestServer({
      generation: {
        settingsOf: (path) =>
          path === 'big' ? { maxBodyBytes: 5_000 } : path === 'small' ? { maxBodyBytes: 10 } : {},
      },
    });
    const body = JSON.stringify('x'.repeat(3_000));
    expect((await send(server, '/hooks/big', { body })).status).toBe(202);
    expect((await send(server, '/hooks/other', { body })).status).toBe(413);
    expect((await send(server, '/hooks/small', { body: exact })).status).toBe(413);
  });

  /** Writes on until the server stops reading, as a sender does that looks at the answer only at the end. */
  function sendStubbornly(server: TestServer, size: number, headers: Record<string, string>): Promise<Reply> {
    return new Promise((resolve, reject) => {
      const req = httpRequest({
        host: server.host,
        port: server.port,
        path: '/hooks/mapped',
        method: 'POST',
        headers,
        agent: false,
      });
      let answered: Reply | undefined;
      req.on('response', (res) => {
        let text = '';
        res.setEncoding('utf8');
        res.on('data', (chunk: string) => (text += chunk));
        res.on('end', () => {
          answered = { status: res.statusCode ?? 0, headers: res.headers, text };
        });
      });
      req.on('error', (error) => (answered === undefined ? reject(error) : undefined));
      req.on('close', () => (answered === undefined ? reject(new Error('no answer')) : resolve(answered)));
      const chunk = Buffer.alloc(65_536, 'x');
      const write = (left: number): void => {
        if (left <= 0) req.end();
        else if (req.write(chunk)) setImmediate(write, left - chunk.length);
        else req.once('drain', () => write(left - chunk.length));
      };
      write(size);
    });
  }

  test.each<[string, Record<string, string>, number]>([
    ['413 announced', { ...BEARER, 'content-length': String(160 * 65_536) }, 413],
    ['413 counted', { ...BEARER, 'transfer-encoding': 'chunked' }, 413],
    ['401', { 'content-length': String(160 * 65_536) }, 401],
    ['401 chunked', { 'transfer-encoding': 'chunked' }, 401],
    ['415', { ...BEARER, 'content-encoding': 'br', 'transfer-encoding': 'chunked' }, 415],
  ])('%s reaches a sender that is still writing 10 MB', async (_name, headers, status) => {
    const server = await startTestServer();
    const reply = await sendStubbornly(server, 160 * 65_536, headers);
    expect(reply.status).toBe(status);
    expect(reply.headers['connection']).toBe('close');
    expect(json(reply)['code']).toBe(
      { 413: 'body_too_large', 401: 'unauthorized', 415: 'unsupported_encoding' }[status],
    );
    if (status === 401) {
      expect([server.accepted, server.decisions, server.kept, server.evaluated]).toEqual([[], [], [], []]);
    } else expectOnlyRefusal(server);
  });

  test('a sender that never stops is cut off after the drain limit', async () => {
    const server = await startTestServer({ deps: { limits: { drainBytes: 1_000_000 } } });
    const raw = await openRaw(server);
    raw.socket.write(head('/hooks/mapped', 'Transfer-Encoding: chunked'));
    const chunk = `10000\r\n${'x'.repeat(65_536)}\r\n`;
    const write = (): void =>
      void (
        raw.socket.destroyed ||
        (raw.socket.write(chunk) ? setImmediate(write) : raw.socket.once('drain', write))
      );
    write();
    const text = await raw.closed();
    expect(answersIn(text)[0]?.status).toBe(413);
  });

  test('a sender that goes silent after its refusal is cut off in time', async () => {
    const server = await startTestServer({ deps: { limits: { drainMs: 100 } } });
    const raw = await openRaw(server);
    raw.socket.removeAllListeners('end');
    raw.socket.write(head('/hooks/mapped', 'Content-Length: 999999999'));
    await raw.until((text) => text.includes('"ok":false'));
    // Only writing shows a sender whose own side is open that the other end is gone.
    const drip = setInterval(() => raw.socket.write('x'), 20);
    const text = await raw.closed();
    clearInterval(drip);
    expect(answersIn(text)[0]?.status).toBe(413);
  });
});

describe('100-continue', () => {
  test('is answered only once the request is let in', async () => {
    const server = await startTestServer();
    const raw = await openRaw(server);
    raw.socket.write(head('/hooks/wake', 'Expect: 100-continue', 'Content-Length: 12', 'Connection: close'));
    await raw.until((text) => text.startsWith('HTTP/1.1 100 Continue\r\n\r\n'));
    raw.socket.write('{"text":"x"}');
    const text = await raw.closed();
    expect(answersIn(text.slice(25))[0]?.status).toBe(200);
  });

  test.each([
    [
      '401',
      'POST /hooks/wake HTTP/1.1\r\nHost: t\r\nExpect: 100-continue\r\nContent-Length: 12\r\n\r\n',
      401,
    ],
    ['413', head('/hooks/wake', 'Expect: 100-continue', 'Content-Length: 5000'), 413],
    ['404', head('/hooks/unknown', 'Expect: 100-continue', 'Content-Length: 12'), 404],
  ])('%s comes instead of it, and the connection ends', async (_name, request, status) => {
    const server = await startTestServer();
    const raw = await openRaw(server);
    raw.socket.write(request);
    const text = await raw.closed();
    expect(text).not.toContain('100 Continue');
    expect(answersIn(text).map((answer) => answer.status)).toEqual([status]);
    expect(text).toMatch(/connection: close/i);
  });
});

describe('senders that do not finish', () => {
  test('a body that does not end in time is answered 408', async () => {
    const server = await startTestServer({ deps: { limits: { headersTimeoutMs: 200, bodyTimeoutMs: 400 } } });
    const raw = await openRaw(server);
    raw.socket.write(`${head('/hooks/wake', 'Content-Length: 100')}{"text":`);
    const [answer] = answersIn(await raw.closed());
    expect(answer?.status).toBe(408);
    expect(JSON.parse(answer?.body ?? '')).toMatchObject({ code: 'body_timeout' });
    expectOnlyRefusal(server);
  });

  test.each([
    ['headers that drip', 'POST /hooks/wake HTTP/1.1\r\nHost: t\r\nX-A'],
    ['a connection that says nothing', ''],
  ])('%s are answered 408', async (_name, bytes) => {
    const server = await startTestServer({ deps: { limits: { headersTimeoutMs: 200, bodyTimeoutMs: 400 } } });
    const raw = await openRaw(server);
    if (bytes !== '') raw.socket.write(bytes);
    const [answer] = answersIn(await raw.closed());
    expect(answer?.status).toBe(408);
    expect(JSON.parse(answer?.body ?? '')).toMatchObject({ code: 'headers_timeout' });
  });

  test('a refused body that drips on is cut off without a second answer', async () => {
    const server = await startTestServer({ deps: { limits: { headersTimeoutMs: 200, bodyTimeoutMs: 400 } } });
    const raw = await openRaw(server);
    raw.socket.write(`${head('/hooks/mapped', 'Content-Length: 2000')}{"text":`);
    expect(answersIn(await raw.closed()).map((answer) => answer.status)).toEqual([413]);
  });

  test('a sender that closes its side in the middle of the body is answered 400', async () => {
    const server = await startTestServer();
    const raw = await openRaw(server);
    raw.socket.end(`${head('/hooks/wake', 'Content-Length: 100')}{"text":`);
    const [answer] = answersIn(await raw.closed());
    expect(answer?.status).toBe(400);
    expect(JSON.parse(answer?.body ?? '')).toMatchObject({ code: 'request_aborted' });
    expectOnlyRefusal(server);
  });

  test('a sender that vanishes leaves no trace but a log line', async () => {
    const server = await startTestServer();
    const raw = await openRaw(server);
    raw.socket.write(`${head('/hooks/wake', 'Content-Length: 100')}{"text":`);
    while (server.openRequests() === 0) await delay(1);
    raw.socket.resetAndDestroy();
    while (server.openRequests() > 0) await delay(1);
    expectOnlyRefusal(server);
    expect(server.log.map((line) => line.fields['code'])).toContain('request_aborted');
  });

  test('a sender that closes its side after a whole request still gets its answer', async () => {
    const server = await startTestServer();
    const raw = await openRaw(server);
    raw.socket.end(`${head('/hooks/wake', 'Content-Length: 12')}{"text":"x"}`);
    expect(answersIn(await raw.closed())[0]?.status).toBe(200);
  });
});

test('a hook name can have a limit of its own, which mappings of its path override', async () => {
  const hooks = { maxBodyBytes: 1024, maxBodyBytesByName: { gmail: 4096 } };
  const server = await startTestServer({ hooks });
  const body = JSON.stringify({ message: 'x'.repeat(2000) });
  expect((await send(server, '/hooks/gmail', { headers: BEARER, body })).status).not.toBe(413);
  expect((await send(server, '/hooks/agent', { headers: BEARER, body })).status).toBe(413);
  const narrow = await startTestServer({ hooks, generation: { settingsOf: () => ({ maxBodyBytes: 100 }) } });
  expect((await send(narrow, '/hooks/gmail', { headers: BEARER, body })).status).toBe(413);
});

describe('a body in chunks of one byte', () => {
  const BYTES = 1_000;
  const CHUNKS = '1\r\nx\r\n'.repeat(BYTES);
  const chunked = (path: string): string =>
    `POST ${path} HTTP/1.1\r\nHost: t\r\nTransfer-Encoding: chunked\r\n\r\n`;

  test.each([
    ['without a proof', '/hooks/agent', 401],
    ['outside the hooks', '/', 404],
  ])('%s is not parsed further, and its connection rests until it is swept', async (_name, path, status) => {
    const server = await startTestServer({
      server: { limits: { ...SERVER.limits, strangerSeconds: 0.5 } },
      hooks: { authFailuresPerMinute: 0 },
    });
    const raw = await openRaw(server);
    raw.socket.write(chunked(path) + CHUNKS);
    await raw.until((text) => text.includes('"code"'));
    await delay(100);
    expect(raw.socket.readableEnded).toBe(false);
    raw.socket.write(`${CHUNKS}0\r\n\r\n`);
    const answers = answersIn(await raw.closed());
    expect(answers.map((answer) => answer.status)).toEqual([status]);
    expect(server.openRequests()).toBe(0);
    // The parser serves another connection as if nothing had been.
    expect((await send(server, '/hooks/mapped', { body: '{"a":1}' })).status).toBe(202);
  });

  test('is refused where the proof is made of it', async () => {
    const verify = {
      settings: VerifySettings.parse({ scheme: 'github', secrets: ['${S}'] }),
      secrets: ['secret'],
    };
    const server = await startTestServer({ generation: { settingsOf: () => ({ verify }) } });
    const raw = await openRaw(server);
    const signature = `X-Hub-Signature-256: sha256=${'0'.repeat(64)}\r\n\r\n`;
    raw.socket.write(chunked('/hooks/mapped').replace(/\r\n$/, signature) + CHUNKS);
    const [answer] = answersIn(await raw.until((text) => text.includes('"code"')));
    expect(answer?.status).toBe(400);
    expect(answer?.body).toContain('chunks of a few bytes');
    raw.socket.destroy();
  });

  test('is taken of a sender whose token came before it', async () => {
    const server = await startTestServer();
    const raw = await openRaw(server);
    const text = `"${'x'.repeat(BYTES)}"`;
    const chunks = text.replaceAll(/./g, '1\r\n$&\r\n');
    raw.socket.write(`${head('/hooks/mapped', 'Transfer-Encoding: chunked')}${chunks}0\r\n\r\n`);
    expect(answersIn(await raw.until((answer) => answer.includes('runId')))[0]?.status).toBe(202);
    expect(server.evaluated[0]?.payload).toBe('x'.repeat(BYTES));
    raw.socket.destroy();
  });
});
