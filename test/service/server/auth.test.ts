import * as fc from 'fast-check';
import { afterEach, describe, expect, test } from 'vitest';
import {
  authenticate,
  compileTokens,
  findToken,
  isSecret,
} from '../../../src/service/server/authenticate.ts';
import {
  answersIn,
  BEARER,
  head,
  json,
  openRaw,
  send,
  type SendOptions,
  startTestServer,
  type TestServer,
  stopServers,
  TOKEN,
} from '../../support/server-fixture.ts';
import { CODE_POINT } from '../../support/code-point.ts';

afterEach(stopServers);

describe('a text is compared with tokens', () => {
  const text = fc.oneof(
    fc.string({ unit: CODE_POINT, maxLength: 20 }),
    // Around the length from which on a digest stands for the text.
    fc.integer({ min: 125, max: 130 }).map((length) => 'x'.repeat(length)),
    fc.constantFrom('', '\0', 'a', 'a\0', '\0a', 'ab', 'ä', 'x'.repeat(5_000), `${'x'.repeat(4_999)}y`),
  );

  test('by all its bytes, and the last of equal ones is not taken for the first', () => {
    fc.assert(
      fc.property(fc.array(text, { minLength: 1, maxLength: 4 }), text, (tokens, presented) => {
        const [token = '', ...previousTokens] = tokens;
        const set = compileTokens({ token, previousTokens, queryToken: 'warn' });
        const headers = { bearer: undefined, serviceToken: undefined, values: {}, hosts: 1 };
        const target = { path: '', url: '', query: {}, token: presented };
        const expected = presented === '' ? -1 : tokens.indexOf(presented);
        const judged = authenticate(set, headers, target);
        expect(judged).toEqual(
          expected < 0
            ? { kind: 'refused', reason: 'wrong' }
            : { kind: 'accepted', carrier: 'query', retired: expected },
        );
        const sent = Buffer.from(presented, 'utf8').toString('latin1');
        expect(findToken(set, sent)).toBe(expected >= 0);
        expect(tokens.map((each) => isSecret(each, sent))).toEqual(tokens.map((each) => each === presented));
      }),
      { seed: 7, numRuns: 500 },
    );
  });
});

const WRONG = 'wrong-token';
const LINK = /^<https:\/\/\S+\/docs\/http\.md#token>; rel="deprecation"$/;

async function statusOf(server: TestServer, headers: SendOptions['headers'] & object, path = '/hooks/wake') {
  return (await send(server, path, { headers, body: '{"text":"x"}' })).status;
}

describe('carriers', () => {
  test.each<[string, Record<string, string>, string, boolean]>([
    ['a token in the address', {}, `?token=${TOKEN}`, true],
    ['one beside a right header', { authorization: `Bearer ${TOKEN}` }, `?token=${TOKEN}`, false],
    ['one in a header', { 'x-service-token': TOKEN }, '', false],
    ['a wrong one in the address', {}, '?token=no', true],
    ['none', {}, '', false],
    ['a wrong one beside a wrong header', { authorization: 'Bearer no' }, '?token=no', false],
  ])('the answer to %s says whether that goes', async (_, headers, query, isTold) => {
    const server = await startTestServer();
    const answer = await send(server, `/hooks/wake${query}`, { headers, body: '{"text":"x"}' });
    // RFC 9745: a date of RFC 9651, and a link to what is said of it.
    expect(/^@\d{10}$/.test(String(answer.headers['deprecation']))).toBe(isTold);
    expect(LINK.test(String(answer.headers['link']))).toBe(isTold);
  });

  test.each<[string, Record<string, string>, string, number]>([
    ['Authorization: Bearer', { authorization: `Bearer ${TOKEN}` }, '', 200],
    ['a bearer scheme in any case', { authorization: `bEARER ${TOKEN}` }, '', 200],
    ['several blanks after the scheme', { authorization: `Bearer   ${TOKEN}` }, '', 200],
    ['x-service-token', { 'x-service-token': TOKEN }, '', 200],
    ['x-openclaw-token', { 'x-openclaw-token': TOKEN }, '', 200],
    ['the query', {}, `?token=${TOKEN}`, 200],
    ['the query with an escaped name', {}, `?%74oken=${TOKEN}`, 200],
    [
      'a wrong bearer with a right header',
      { authorization: `Bearer ${WRONG}`, 'x-service-token': TOKEN },
      '',
      401,
    ],
    ['a wrong bearer with a right query', { authorization: `Bearer ${WRONG}` }, `?token=${TOKEN}`, 401],
    ['a wrong header with a right query', { 'x-service-token': WRONG }, `?token=${TOKEN}`, 401],
    [
      'a wrong x-service-token with a right x-openclaw-token',
      { 'x-service-token': WRONG, 'x-openclaw-token': TOKEN },
      '',
      401,
    ],
    [
      'a right bearer with a wrong header and query',
      { authorization: `Bearer ${TOKEN}`, 'x-service-token': WRONG },
      '?token=no',
      200,
    ],
    ['a blank bearer with a right header', { authorization: 'Bearer  ', 'x-service-token': TOKEN }, '', 200],
    [
      'another scheme with a right header',
      { authorization: 'Basic dXNlcjpwYXNz', 'x-service-token': TOKEN },
      '',
      200,
    ],
    ['another scheme with a right query', { authorization: `Digest ${TOKEN}` }, `?token=${TOKEN}`, 200],
    ['a blank header with a right query', { 'x-service-token': ' ' }, `?token=${TOKEN}`, 200],
    ['the token without a scheme', { authorization: TOKEN }, '', 401],
    ['a token that only begins right', { authorization: `Bearer ${TOKEN}x` }, '', 401],
    ['a token in another case', { authorization: `Bearer ${TOKEN.toUpperCase()}` }, '', 401],
    ['no carrier', {}, '', 401],
    ['a blank query token', {}, '?token=', 401],
  ])('%s', async (_name, headers, query, status) => {
    const server = await startTestServer();
    expect(await statusOf(server, headers, `/hooks/wake${query}`)).toBe(status);
    expect(server.accepted).toHaveLength(status === 200 ? 1 : 0);
  });

  test('of two Authorization headers the first bearer counts', async () => {
    const server = await startTestServer();
    const post = async (...lines: string[]): Promise<number | undefined> => {
      const raw = await openRaw(server);
      raw.socket.write(
        [
          'POST /hooks/wake HTTP/1.1',
          'Host: t',
          ...lines,
          'Connection: close',
          'Content-Length: 2',
          '',
          '{}',
        ].join('\r\n'),
      );
      return answersIn(await raw.closed())[0]?.status;
    };
    expect(await post('Authorization: Basic eDp5', `Authorization: Bearer ${TOKEN}`)).toBe(200);
    expect(await post(`Authorization: Bearer ${TOKEN}`, `Authorization: Bearer ${WRONG}`)).toBe(200);
    expect(await post(`Authorization: Bearer ${WRONG}`, `Authorization: Bearer ${TOKEN}`)).toBe(401);
  });

  test('a token beyond ASCII is compared as its UTF-8 bytes', async () => {
    const server = await startTestServer({ hooks: { token: 'schlüssel-✓-0123' } });
    const raw = await openRaw(server);
    raw.socket.write(
      Buffer.from(
        'POST /hooks/wake HTTP/1.1\r\nHost: t\r\nAuthorization: Bearer schlüssel-✓-0123\r\nConnection: close\r\nContent-Length: 2\r\n\r\n{}',
      ),
    );
    expect(answersIn(await raw.closed())[0]?.status).toBe(200);
    expect(await statusOf(server, {}, `/hooks/wake?token=${encodeURIComponent('schlüssel-✓-0123')}`)).toBe(
      200,
    );
  });

  test('a server without a token lets nobody in', async () => {
    const server = await startTestServer({ hooks: { token: undefined } as object });
    expect(await statusOf(server, { authorization: 'Bearer undefined' })).toBe(401);
    expect(await statusOf(server, { authorization: 'Bearer' })).toBe(401);
    expect(await statusOf(server, {}, '/hooks/wake?token=')).toBe(401);
  });
});

describe('what the log says of tokens', () => {
  test('each use of the query carrier is one warning, after it succeeded', async () => {
    const server = await startTestServer();
    await statusOf(server, {}, `/hooks/wake?token=${TOKEN}`);
    await statusOf(server, {}, `/hooks/wake?token=${TOKEN}`);
    await statusOf(server, {}, `/hooks/wake?token=${WRONG}`);
    await statusOf(server, BEARER, `/hooks/wake?token=${TOKEN}`);
    const warnings = server.log.filter((line) => line.level === 'warn');
    expect(warnings).toHaveLength(2);
    expect(warnings[0]?.message).toContain('deprecated');
    expect(JSON.stringify(server.log)).not.toContain(TOKEN);
    expect(JSON.stringify(server.log)).not.toContain(WRONG);
  });

  test('each use of a retired token is logged with its position', async () => {
    const server = await startTestServer({ hooks: { previousTokens: ['old-1', 'old-2'] } });
    expect(await statusOf(server, { authorization: 'Bearer old-2' })).toBe(200);
    expect(await statusOf(server, { authorization: 'Bearer old-1' })).toBe(200);
    expect(await statusOf(server, BEARER)).toBe(200);
    const warnings = server.log.filter((line) => line.level === 'warn');
    expect(warnings.map((line) => line.fields['retired'])).toEqual([2, 1]);
    expect(JSON.stringify(server.log)).not.toContain('old-');
  });

  test('the query carrier can be switched off, and the answer says so', async () => {
    const server = await startTestServer({ hooks: { queryToken: 'reject' } });
    const reply = await send(server, `/hooks/wake?token=${TOKEN}`, { headers: {}, body: '{}' });
    expect(reply.status).toBe(401);
    expect(json(reply)['detail']).toContain('not accepted from the query');
    expect(await statusOf(server, BEARER, '/hooks/wake?token=ignored')).toBe(200);
  });
});

describe('failed authentications', () => {
  test('past the limit of an address 429 with Retry-After stands for 401, and a right token still passes', async () => {
    const server = await startTestServer({ hooks: { authFailuresPerMinute: 3 } });
    const statuses: number[] = [];
    for (let i = 0; i < 5; i += 1)
      statuses.push(await statusOf(server, { authorization: `Bearer ${WRONG}` }));
    expect(statuses).toEqual([401, 401, 401, 429, 429]);
    const reply = await send(server, '/hooks/wake', { headers: {} });
    expect(json(reply)['code']).toBe('too_many_failures');
    expect(Number(reply.headers['retry-after'])).toBeGreaterThan(0);
    expect(Number(reply.headers['retry-after'])).toBeLessThanOrEqual(60);
    expect(await statusOf(server, BEARER)).toBe(200);
    // Each refusal has a line of its own only up to the limit.
    const told = (): (typeof server.log)[number] | undefined =>
      server.log.find(({ message }) => message.startsWith('requests were refused'));
    await expect.poll(told).toMatchObject({ level: 'warn', fields: { refused: 3 } });
    const lines = server.log.filter(
      ({ message, fields }) => message === 'request' && fields['status'] === 429,
    );
    expect(lines.map(({ level }) => level)).toEqual(['debug', 'debug', 'debug']);
  });

  test('0 turns the limit off', async () => {
    const server = await startTestServer({ hooks: { authFailuresPerMinute: 0 } });
    for (let i = 0; i < 30; i += 1) expect(await statusOf(server, {})).toBe(401);
  });

  test('X-Forwarded-For counts only when a trusted proxy wrote it', async () => {
    const direct = await startTestServer({ hooks: { authFailuresPerMinute: 1 } });
    expect(await statusOf(direct, { 'x-forwarded-for': '192.0.2.1' })).toBe(401);
    expect(await statusOf(direct, { 'x-forwarded-for': '192.0.2.2' })).toBe(429);

    const proxied = await startTestServer({
      hooks: { authFailuresPerMinute: 1 },
      server: { trustedProxies: ['127.0.0.0/8', '10.1.1.1'] },
    });
    expect(await statusOf(proxied, { 'x-forwarded-for': '192.0.2.1' })).toBe(401);
    expect(await statusOf(proxied, { 'x-forwarded-for': '192.0.2.2' })).toBe(401);
    expect(await statusOf(proxied, { 'x-forwarded-for': '192.0.2.1' })).toBe(429);
    // What the sender itself claims stands left of what the proxies wrote.
    expect(await statusOf(proxied, { 'x-forwarded-for': '203.0.113.9, 192.0.2.1, 10.1.1.1' })).toBe(429);
    expect(await statusOf(proxied, { 'x-forwarded-for': '192.0.2.1, 203.0.113.9' })).toBe(401);
  });
});

test('headers beyond 16 KB are answered 431 and the connection is closed', async () => {
  const server = await startTestServer();
  const raw = await openRaw(server);
  raw.socket.write(head('/hooks/wake', `X-Long: ${'a'.repeat(20_000)}`, 'Content-Length: 2') + '{}');
  const [answer] = answersIn(await raw.closed());
  expect(answer?.status).toBe(431);
  expect(JSON.parse(answer?.body ?? '')).toMatchObject({ code: 'headers_too_large', ok: false });
});

test('headers reach evaluation in lower case, joined, without credentials and without a prototype', async () => {
  const server = await startTestServer();
  await send(server, '/hooks/x?b=1&b=2&__proto__=3&token=t&c=%zz', {
    headers: {
      ...BEARER,
      'X-Service-Token': 'st',
      'X-OpenClaw-Token': 'ot',
      'Proxy-Authorization': 'Basic x',
      'X-Many': ['one', 'two'],
      __proto__x: '1',
    },
    body: '{}',
  });
  const request = server.evaluated[0];
  expect(Object.getPrototypeOf(request?.headers)).toBe(null);
  expect(Object.getPrototypeOf(request?.query)).toBe(null);
  expect(request?.headers['x-many']).toBe('one, two');
  expect(Object.keys(request?.headers ?? {})).not.toEqual(
    expect.arrayContaining([expect.stringMatching(/authorization|x-service-token|x-openclaw-token/)]),
  );
  expect({ ...request?.query }).toEqual(
    Object.fromEntries([
      ['b', '1, 2'],
      ['__proto__', '3'],
      ['c', '%zz'],
    ]),
  );
  expect(request?.url).toBe('/hooks/x?b=1&b=2&__proto__=3&c=%zz');
  expect(request?.id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
  expect(request?.nonce).toMatch(/^[0-9a-f]{16}$/);
  expect(request?.seed).toBeLessThan(2 ** 32);
});

describe('a token in the wrong place is masked', () => {
  test.each<[string, string, Record<string, string>]>([
    ['as the hook name', `/hooks/${TOKEN}`, {}],
    ['as a part of the hook name', `/hooks/mapped/${TOKEN}`, {}],
    ['in percent escapes', `/hooks/%74${TOKEN.slice(1)}`, {}],
    ['under another query name', `/hooks/mapped?access_token=${TOKEN}&a=1`, {}],
    ['as a query name', `/hooks/mapped?${TOKEN}`, {}],
    ['twice in the query', `/hooks/mapped?key=${TOKEN}&key=${TOKEN}`, {}],
    ['in a header of its own', '/hooks/mapped', { 'x-api-key': TOKEN }],
    ['in a cookie', '/hooks/mapped', { cookie: `a=b; session=${TOKEN}; c=d` }],
    ['after a word in a header', '/hooks/mapped', { 'x-auth': `Token ${TOKEN}` }],
    ['in an address in a header', '/hooks/mapped', { referer: `https://h.example/?token=${TOKEN}&a=1` }],
    ['twice in a header', '/hooks/mapped', { 'x-api-key': `a, ${TOKEN}` }],
  ])('%s', async (_where, path, headers) => {
    const server = await startTestServer();
    const reply = await send(server, path, { headers: { ...BEARER, ...headers }, body: '{}' });
    expect(reply.status).toBe(202);
    const { evaluated, log, decisions, accepted, seen } = server;
    expect(JSON.stringify([evaluated, log, decisions, accepted, seen, reply.text])).not.toContain(TOKEN);
    expect(JSON.stringify(evaluated)).toContain('[redacted]');
  });

  test('what is no token stays as it was sent', async () => {
    const server = await startTestServer();
    await send(server, '/hooks/a%2Fb/c?x=%31&y=a,%20b&x=2', {
      headers: { ...BEARER, 'x-key': 'a, b' },
      body: '{}',
    });
    expect(server.evaluated[0]).toMatchObject({
      path: 'a%2Fb/c',
      url: '/hooks/a%2Fb/c?x=%31&y=a,%20b&x=2',
      query: { x: '1, 2', y: 'a, b' },
      headers: { 'x-key': 'a, b' },
    });
  });
});
