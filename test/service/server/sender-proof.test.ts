/** The door of a path whose senders prove themselves: what is asked, what is answered, what gets through. */
import { createHmac } from 'node:crypto';
import { deflateSync, gzipSync } from 'node:zlib';
import { setTimeout as delay } from 'node:timers/promises';
import { afterEach, describe, expect, test } from 'vitest';
import type { PathSettings } from '../../../src/engine/mapping/mapping.ts';
import { VerifySettings } from '../../../src/engine/verify/verify.ts';
import { HookError } from '../../../src/base/errors.ts';
import type { Evaluation } from '../../../src/engine/hook/hook.ts';
import { unpackBody } from '../../../src/service/server/body.ts';
import type { Exchange } from '../../../src/service/server/exchange.ts';
import { UnprovedBodies } from '../../../src/service/server/body.ts';
import type { HookRequest } from '../../../src/base/request.ts';
import {
  agentAction,
  answersIn,
  BEARER,
  evaluationOf,
  head,
  json,
  openRaw,
  type Reply,
  send,
  type SendOptions,
  startTestServer,
  stopServers,
  type TestServer,
  type TestServerOptions,
  TOKEN,
} from '../../support/server-fixture.ts';
import { imapBlock } from '../../support/mail-fixture.ts';
import { printed } from '../../support/printed.ts';
import { sayProof } from '../../../src/authoring/advice/proofs.ts';

afterEach(stopServers);

const SECRET = 'path-secret';
const BODY = '{"ref":"refs/heads/main"}';

function verifying(
  settings: object,
  secrets: readonly string[] = [SECRET],
): NonNullable<PathSettings['verify']> {
  return { settings: VerifySettings.parse({ secrets: secrets.map(() => '${S}'), ...settings }), secrets };
}

const github = (secret = SECRET, body: string | Buffer = BODY): Record<string, string> => ({
  'x-hub-signature-256': `sha256=${createHmac('sha256', secret).update(body).digest('hex')}`,
});

function evaluateAs(outcome: string, request: HookRequest): Evaluation {
  if (outcome === 'skip') return evaluationOf({ kind: 'skipped', by: 'action' });
  if (outcome === 'take') return evaluationOf({ kind: 'accepted', actions: [agentAction(request)] });
  const error = new HookError(outcome === 'reject' ? 'invalid_field' : 'internal', 'a test');
  return evaluationOf({ kind: 'rejected', error });
}

/** A server on which `/hooks/x` has these settings. */
function start(settings: PathSettings, options: TestServerOptions = {}): Promise<TestServer> {
  const nothing: PathSettings = {};
  return startTestServer({
    ...options,
    generation: { settingsOf: (path) => (path === 'x' ? settings : nothing), ...options.generation },
  });
}

function post(server: TestServer, options: SendOptions = {}): Promise<Reply> {
  return send(server, '/hooks/x', { headers: github(), body: BODY, ...options });
}

function expectNoTrace(server: TestServer): void {
  expect([server.accepted, server.kept, server.evaluated]).toEqual([[], [], []]);
}

describe('a path with a proof of its own', () => {
  test('takes what its sender signed, without the hook token', async () => {
    const server = await start({ verify: verifying({ scheme: 'github' }) });
    expect((await post(server)).status).toBe(202);
    expect(server.evaluated[0]?.payload).toEqual({ ref: 'refs/heads/main' });
  });

  test('does not take the hook token in place of the proof, and other paths do not take the proof', async () => {
    const server = await start({ verify: verifying({ scheme: 'github' }) });
    expect((await post(server, { headers: BEARER })).status).toBe(401);
    expect((await send(server, '/hooks/y', { headers: github(), body: BODY })).status).toBe(401);
    expect((await send(server, '/hooks/wake', { headers: github(), body: BODY })).status).toBe(401);
    expectNoTrace(server);
  });

  test('the path that hooks.mail delivers to takes the hook token, too, and knows its keys for longer', async () => {
    const server = await start(
      { verify: verifying({ scheme: 'github' }), requireToken: true },
      { hooks: { mail: imapBlock(1, { path: 'x' }) } },
    );
    const headers = { ...BEARER, 'idempotency-key': 'k' };
    expect((await post(server, { headers })).status).toBe(202);
    expect(server.accepted[0]?.idempotency).toMatchObject({ key: 'k', ttlSeconds: 30 * 86_400 });
    for (const wrong of [{ authorization: 'Bearer wrong' }, github('other'), github()]) {
      expect((await post(server, { headers: wrong })).status).toBe(401);
    }
    expect((await send(server, `/hooks/x?token=${TOKEN}`, { headers: {}, body: BODY })).status).toBe(401);
    expect((await post(server, { headers: { ...github(), ...BEARER } })).status).toBe(202);
  });

  test.each([
    ['gzip', gzipSync],
    ['deflate', deflateSync],
  ] as const)('takes a body in %s that was signed before or after it was packed', async (encoding, pack) => {
    const server = await start({ verify: verifying({ scheme: 'github' }) });
    const body = pack(BODY);
    const statusOf = async (headers: Record<string, string>, bytes = body): Promise<number> =>
      (await send(server, '/hooks/x', { headers: { ...headers, 'content-encoding': encoding }, body: bytes }))
        .status;
    expect(await statusOf(github())).toBe(202);
    expect(await statusOf(github(SECRET, body))).toBe(202);
    expect(server.evaluated.map(({ payload }) => payload)).toEqual([JSON.parse(BODY), JSON.parse(BODY)]);
    expect(await statusOf(github('another'))).toBe(401);
    expect(await statusOf(github(), pack(`${BODY} `))).toBe(401);
    // Not packed as it says: without a proof nobody is told.
    expect(await statusOf(github('another'), Buffer.from(BODY))).toBe(401);
    expect(await statusOf({})).toBe(401);
    expect(server.evaluated).toHaveLength(2);
  });

  test('the time that was signed with the unpacked body is judged, and told', async () => {
    const verify = verifying({
      scheme: 'hmac',
      header: 'x-signature',
      signed: '{timestamp}.{body}',
      timestampHeader: 'x-time',
    });
    const server = await start({ verify });
    const sent = async (secondsAgo: number): Promise<number> => {
      const time = String(Math.floor(Date.now() / 1000) - secondsAgo);
      const signature = createHmac('sha256', SECRET).update(`${time}.${BODY}`).digest('hex');
      const headers = { 'x-signature': signature, 'x-time': time, 'content-encoding': 'gzip' };
      return (await send(server, '/hooks/x', { headers, body: gzipSync(BODY) })).status;
    };
    expect(await sent(0)).toBe(202);
    expect(await sent(3600)).toBe(401);
    expect(server.log.find(({ fields }) => fields['status'] === 401)?.fields['reason']).toBe('too-old');
  });

  test('requireToken asks for both', async () => {
    const server = await start({ verify: verifying({ scheme: 'github' }), requireToken: true });
    expect((await post(server)).status).toBe(401);
    expect((await post(server, { headers: BEARER })).status).toBe(401);
    expect((await post(server, { headers: { ...github(), ...BEARER } })).status).toBe(202);
    const texts = server.strangers.map(({ refusal }) => refusal && printed(sayProof(refusal)));
    expect(texts).toContainEqual(
      expect.stringMatching(/^beside the proof of the sender \(github\), requireToken: true/),
    );
    const walled = await start(
      { verify: verifying({ scheme: 'github' }), allowFrom: ['192.0.2.0/24'] },
      { hooks: { mail: imapBlock(1, { path: 'x' }) } },
    );
    expect((await post(walled, { headers: BEARER })).status).toBe(401);
  });

  test('every refusal before the proof reads the same', async () => {
    const refused = [
      await start({ verify: verifying({ scheme: 'github' }) }),
      await start({ verify: verifying({ scheme: 'github' }, ['']) }),
      await start({ verify: verifying({ scheme: 'github' }), allowFrom: ['192.0.2.0/24'] }),
      await start({ verify: verifying({ scheme: 'stripe' }) }),
      await start({}),
    ];
    const replies = await Promise.all(refused.map((server) => post(server, { headers: github('other') })));
    const texts = replies.map((reply) => {
      const { requestId: _id, ...problem } = json(reply);
      return { status: reply.status, problem, headers: { ...reply.headers, date: '', 'x-request-id': '' } };
    });
    expect(replies[0]?.status).toBe(401);
    for (const text of texts) expect(text).toEqual(texts[0]);
    for (const server of refused) expectNoTrace(server);
  });

  test('what ends the reading stays what it is', async () => {
    const server = await start({ verify: verifying({ scheme: 'github' }), maxBodyBytes: 100 });
    expect((await post(server, { body: 'x'.repeat(101) })).status).toBe(413);
  });

  test('without the header of the proof the body is not even read', async () => {
    const server = await start({ verify: verifying({ scheme: 'github' }), maxBodyBytes: 100 });
    expect((await post(server, { headers: {}, body: 'x'.repeat(101) })).status).toBe(401);
  });

  test('past the limit of failures the sender is told to wait', async () => {
    const server = await start(
      { verify: verifying({ scheme: 'github' }) },
      { hooks: { authFailuresPerMinute: 2 } },
    );
    const statuses: number[] = [];
    for (let i = 0; i < 3; i += 1) statuses.push((await post(server, { headers: github('other') })).status);
    expect(statuses).toEqual([401, 401, 429]);
  });

  test('each use of a retired secret is logged', async () => {
    const server = await start({ verify: verifying({ scheme: 'github' }, ['new', SECRET]) });
    expect((await post(server)).status).toBe(202);
    expect(server.log.find(({ message }) => message.includes('retired secret'))).toMatchObject({
      level: 'warn',
      fields: { scheme: 'github', retired: 1 },
    });
  });

  test('a header that carries the secret goes no further than the door', async () => {
    const server = await start({ verify: verifying({ scheme: 'gitlab' }) });
    const headers = { 'X-Gitlab-Token': SECRET, 'x-gitlab-event': 'Push Hook' };
    expect((await post(server, { headers })).status).toBe(202);
    expect(JSON.stringify([server.evaluated, server.log, server.decisions, server.seen])).not.toContain(
      SECRET,
    );
    expect(server.evaluated[0]?.headers['x-gitlab-event']).toBe('Push Hook');
  });
});

describe('the doctor at the refusal', () => {
  test('the operator sees why, in the log and among the decisions; the sender does not', async () => {
    const server = await start({ verify: verifying({ scheme: 'github' }) });
    const reply = await post(server, { headers: github(SECRET, '{"ref": "refs/heads/main"}') });
    expect(reply.text).not.toContain('body');
    const line = server.log.find(({ message }) => message === 'request');
    expect(line?.fields).toMatchObject({
      hook: 'x',
      status: 401,
      reason: 'wrong-proof',
      scheme: 'github',
      finding: 'wrong-secret',
    });
    expect(server.decisions).toEqual([]);
    expect(server.strangers[0]).toMatchObject({
      path: 'x',
      status: 401,
      refusal: { scheme: 'github', code: 'wrong-secret' },
    });
    expectNoTrace(server);
  });

  test('at most five a second are looked into, and none past the limit of failures', async () => {
    const server = await start(
      { verify: verifying({ scheme: 'github' }) },
      { deps: { clock: () => 1_700_000_000_000 }, hooks: { authFailuresPerMinute: 0 } },
    );
    for (let i = 0; i < 8; i += 1) await post(server, { headers: github('other') });
    expect(server.strangers.filter(({ refusal }) => refusal !== undefined)).toHaveLength(5);
    // A burst at one path leaves something for another one, and all of them have ten.
    await send(server, '/hooks/other', { headers: github('other'), body: BODY });
    expect(server.strangers.at(-1)?.refusal).toBeDefined();
    for (let i = 0; i < 8; i += 1)
      await send(server, `/hooks/another-${i}`, { headers: github('other'), body: BODY });
    expect(server.strangers.filter(({ refusal }) => refusal !== undefined)).toHaveLength(10);
    const limited = await start(
      { verify: verifying({ scheme: 'github' }) },
      { hooks: { authFailuresPerMinute: 1 } },
    );
    for (let i = 0; i < 3; i += 1) await post(limited, { headers: github('other') });
    expect(limited.strangers.filter(({ refusal }) => refusal !== undefined)).toHaveLength(1);
    expect(limited.strangers).toHaveLength(3);
  });
});

test('names of the sender\u2019s own choice share one budget of findings', async () => {
  const server = await start(
    { verify: verifying({ scheme: 'github' }) },
    {
      deps: { clock: () => 1_700_000_000_000 },
      hooks: { authFailuresPerMinute: 0 },
      generation: { knowsName: (name) => name === 'x' },
    },
  );
  const told = (): number => server.strangers.filter(({ refusal }) => refusal !== undefined).length;
  for (let i = 0; i < 8; i += 1) await send(server, `/hooks/guess-${i}`, { headers: {}, body: BODY });
  expect(told()).toBe(5);
  await post(server, { headers: github('other') });
  expect(told()).toBe(6);
});

describe('allowFrom', () => {
  test('judges the address that trusted proxies give', async () => {
    const settings = {
      verify: verifying({ scheme: 'github' }),
      allowFrom: ['192.0.2.0/24', '2001:db8::/32'],
    };
    const server = await start(settings, { server: { trustedProxies: ['127.0.0.1'] } });
    const from = (address: string): Record<string, string> => ({ ...github(), 'x-forwarded-for': address });
    expect((await post(server, { headers: from('192.0.2.7') })).status).toBe(202);
    expect((await post(server, { headers: from('2001:db8::7') })).status).toBe(202);
    expect((await post(server, { headers: from('192.0.3.7') })).status).toBe(401);
    expect((await post(server, { headers: from('192.0.2.7, 192.0.3.7') })).status).toBe(401);
  });

  test.each<readonly [string, readonly string[], string | undefined, string]>([
    ['a proxy before the trusted one', ['127.0.0.1'], '192.0.2.7, 198.51.100.20', '198.51.100.20'],
    ['a proxy that is not trusted', [], '192.0.2.7', '127.0.0.1'],
    ['a trusted proxy that names nobody', ['127.0.0.1'], undefined, '127.0.0.1'],
    ['a sender that is not listed', ['127.0.0.1'], 'unknown, 198.51.100.20', '198.51.100.20'],
  ])('a refusal names the address that was judged: %s', async (_name, proxies, forwarded, judged) => {
    const settings = { verify: verifying({ scheme: 'github' }), allowFrom: ['192.0.2.0/24'] };
    const server = await start(settings, { server: { trustedProxies: proxies } });
    const headers = { ...github(), ...(forwarded === undefined ? {} : { 'x-forwarded-for': forwarded }) };
    expect((await post(server, { headers })).text).not.toContain('allowFrom');
    expect(server.strangers[0]?.refusal).toMatchObject({ code: 'address' });
    expect(server.strangers[0]?.refusal?.facts).toEqual({ sent: judged });
  });

  test('stands beside the hook token, too', async () => {
    const server = await start({ allowFrom: ['192.0.2.1'] });
    expect((await post(server, { headers: BEARER })).status).toBe(401);
    const here = await start({ allowFrom: ['127.0.0.1'] });
    expect((await post(here, { headers: BEARER })).status).toBe(202);
    expect((await post(here, { headers: {} })).status).toBe(401);
  });
});

describe('rate', () => {
  test('counts proved requests only', async () => {
    const server = await start({ verify: verifying({ scheme: 'github' }), rate: { perMinute: 1, burst: 2 } });
    for (let i = 0; i < 5; i += 1) await post(server, { headers: github('other') });
    const replies = [await post(server), await post(server), await post(server)];
    expect(replies.map(({ status }) => status)).toEqual([202, 202, 429]);
    expect(json(replies[2] as Reply)['code']).toBe('rate_limited');
    expect(Number(replies[2]?.headers['retry-after'])).toBeGreaterThan(30);
    expect(server.accepted).toHaveLength(2);
  });
});

describe('signed ids', () => {
  const key = Buffer.alloc(24, 7);
  const now = 1_700_000_000;
  const settings = { verify: verifying({ scheme: 'standard-webhooks' }, [key.toString('base64')]) };
  const delivery = (id: string, body: string, at = now): SendOptions => ({
    headers: {
      'webhook-id': id,
      'webhook-timestamp': String(at),
      'webhook-signature': `v1,${createHmac('sha256', key).update(`${id}.${at}.${body}`).digest('base64')}`,
    },
    body,
  });
  const clock = { deps: { clock: () => now * 1000 } };

  test('a repeat of an accepted one gets the first answer, whatever its time and body', async () => {
    const server = await start(settings, clock);
    const first = await post(server, delivery('msg_1', '{"a":1}'));
    const repeat = await post(server, delivery('msg_1', '{ "a": 1 }', now + 60));
    expect([first.status, repeat.status]).toEqual([202, 202]);
    expect(json(repeat)).toEqual({ ...json(first), duplicate: true });
    expect(server.accepted).toHaveLength(1);
    expect((await post(server, delivery('msg_2', '{"a":1}'))).status).toBe(202);
    expect(server.accepted).toHaveLength(2);
  });

  test("they live apart from senders' own keys, and a key beside one does not count", async () => {
    const server = await start({}, clock);
    const signed = await start(settings, clock);
    await send(server, '/hooks/x', { headers: { ...BEARER, 'idempotency-key': 'msg_1' }, body: '{}' });
    const both = delivery('msg_1', '{"a":1}');
    await post(signed, { ...both, headers: { ...both.headers, 'idempotency-key': 'same' } });
    const next = delivery('msg_2', '{"b":1}');
    expect(
      (await post(signed, { ...next, headers: { ...next.headers, 'idempotency-key': 'same' } })).status,
    ).toBe(202);
    const scopes = [...server.accepted, ...signed.accepted].map(({ idempotency }) => [
      idempotency?.scope,
      idempotency?.key,
    ]);
    expect(scopes).toEqual([
      ['x', 'msg_1'],
      ['signed id x', 'msg_1'],
      ['signed id x', 'msg_2'],
    ]);
  });

  test('204, 4xx and 5xx free the id', async () => {
    const outcomes = ['skip', 'reject', 'break', 'take'];
    const server = await start(settings, {
      ...clock,
      generation: {
        settingsOf: () => settings,
        evaluate: (request) => evaluateAs(outcomes.shift() ?? 'take', request),
      },
    });
    const statuses: number[] = [];
    for (let i = 0; i < 4; i += 1) statuses.push((await post(server, delivery('msg_1', '{"a":1}'))).status);
    expect(statuses).toEqual([204, 400, 500, 202]);
    expect(server.accepted).toHaveLength(1);
  });
});

describe('the address that is signed', () => {
  const settings = { verify: verifying({ scheme: 'square' }) };
  const square = (url: string): Record<string, string> => ({
    'x-square-hmacsha256-signature': createHmac('sha256', SECRET)
      .update(url + BODY)
      .digest('base64'),
  });

  test('comes from server.publicUrl, with the query as it was sent', async () => {
    const server = await start(settings, { server: { publicUrl: 'https://hooks.example.com/base/' } });
    const path = '/hooks/x?b=%20&token=1';
    const headers = square(`https://hooks.example.com/base${path}`);
    expect((await send(server, path, { headers, body: BODY })).status).toBe(202);
  });

  test('comes from what a trusted proxy says', async () => {
    const server = await start(settings, { server: { trustedProxies: ['127.0.0.1'] } });
    const forwarded = { 'x-forwarded-proto': 'https', 'x-forwarded-host': 'hooks.example.com' };
    const headers = { ...square('https://hooks.example.com/hooks/x'), ...forwarded };
    expect((await post(server, { headers })).status).toBe(202);
  });

  test('never comes from a stranger', async () => {
    const server = await start(settings);
    const forwarded = {
      host: 'evil.example',
      'x-forwarded-proto': 'https',
      'x-forwarded-host': 'evil.example',
    };
    const headers = { ...square('https://evil.example/hooks/x'), ...forwarded };
    expect((await post(server, { headers })).status).toBe(401);
    const byHost = { ...square('http://evil.example/hooks/x'), host: 'evil.example' };
    expect((await post(server, { headers: byHost })).status).toBe(401);
    const listening = square(`http://127.0.0.1:${server.port}/hooks/x`);
    expect((await post(server, { headers: listening })).status).toBe(202);
  });
});

test('a path that expects the body is told that its sender signs the address as well', async () => {
  const hmac = {
    scheme: 'hmac',
    header: 'x-signature',
    algorithm: 'sha256',
    encoding: 'hex',
    signed: '{body}',
  };
  const server = await start(
    { verify: verifying(hmac) },
    { server: { publicUrl: 'https://hooks.example.com' } },
  );
  const signature = createHmac('sha256', SECRET)
    .update(`https://hooks.example.com/hooks/x${BODY}`)
    .digest('hex');
  expect((await post(server, { headers: { 'x-signature': signature } })).status).toBe(401);
  expect(server.strangers[0]?.refusal).toMatchObject({
    code: 'signed-content',
    facts: { verify: { signed: '{url}{body}' } },
  });
});

describe('producers as they are', () => {
  test('a form', async () => {
    const server = await start({ bodyFormat: 'form' });
    const headers = { ...BEARER, 'content-type': 'application/x-www-form-urlencoded' };
    expect((await post(server, { headers, body: 'From=%2B1&Body=hi' })).status).toBe(202);
    expect(server.evaluated[0]?.payload).toEqual({ From: '+1', Body: 'hi' });
  });

  test('a GET, whose query is the payload without the token', async () => {
    const server = await start({ method: 'GET' });
    const reply = await send(server, '/hooks/x?a=1&token=test-token-0123456789&b=2', {
      method: 'GET',
      headers: {},
    });
    expect(reply.status).toBe(202);
    expect(server.evaluated[0]?.payload).toEqual({ a: '1', b: '2' });
    const wrong = await post(server, { headers: BEARER });
    expect([wrong.status, wrong.headers['allow']]).toEqual([405, 'GET']);
  });

  test('their own answer, after the commit only', async () => {
    const answer = { status: 200, body: '<Response/>', contentType: 'text/xml' };
    const server = await start({ answer });
    const reply = await post(server, { headers: BEARER });
    expect([reply.status, reply.text, reply.headers['content-type']]).toEqual([
      200,
      '<Response/>',
      'text/xml',
    ]);
    expect(server.accepted).toHaveLength(1);
    expect((await post(server, { headers: BEARER, body: '{' })).status).toBe(400);
    expect((await post(server, { headers: {} })).status).toBe(401);
  });
});

describe('challenges at the door', () => {
  test('are answered without a proof where the path names one, and nothing is kept', async () => {
    const server = await start({ verify: verifying({ scheme: 'slack' }), challenge: { kind: 'slack' } });
    const body = '{"type":"url_verification","challenge":"abc","token":"t"}';
    const reply = await post(server, { headers: {}, body });
    expect([
      reply.status,
      reply.text,
      reply.headers['content-type'],
      reply.headers['x-content-type-options'],
    ]).toEqual([200, 'abc', 'text/plain', 'nosniff']);
    expectNoTrace(server);
    expect((await post(server, { headers: {}, body: '{"type":"event_callback"}' })).status).toBe(401);
  });

  test('a wrong verify token is a failed proof like any other', async () => {
    const settings = {
      verify: verifying({ scheme: 'meta' }),
      challenge: { kind: 'meta', token: 'tok' },
    } as const;
    const server = await start(settings);
    const ask = (token: string): Promise<Reply> =>
      send(server, `/hooks/x?hub.mode=subscribe&hub.challenge=42&hub.verify_token=${token}`, {
        method: 'GET',
        headers: {},
      });
    expect([(await ask('tok')).status, (await ask('tok')).text]).toEqual([200, '42']);
    expect((await ask('other')).status).toBe(401);
  });

  test('no other path echoes anything', async () => {
    const server = await start({ challenge: { kind: 'graph' } });
    expect((await send(server, '/hooks/x?validationToken=a', { headers: {} })).text).toBe('a');
    expect((await send(server, '/hooks/y?validationToken=a', { headers: {} })).status).toBe(401);
  });

  test.each<readonly [string, SendOptions, readonly SendOptions[]]>([
    ['HEAD', { method: 'HEAD' }, [{ method: 'GET' }, { body: '{}' }]],
    ['GET', { method: 'GET' }, [{ method: 'HEAD' }, { body: '{}' }]],
    ['empty', { method: 'POST' }, [{ body: '{}' }, { method: 'GET' }]],
    [
      'body.webhook_id',
      { body: 'webhook_id=7' },
      [{ body: 'webhook_id=7&order=1' }, { body: '{"id":7}' }, {}],
    ],
    [
      'body.test',
      { body: ' {"test": true} ' },
      [{ body: '{"test":true,"a":1}' }, { body: '{"test":{"a":1}}' }],
    ],
  ])('a probe by %s is answered 200, and an event is none', async (by, probe, events) => {
    const server = await start({ verify: verifying({ scheme: 'meta' }), challenge: { kind: 'probe', by } });
    const { status, text } = await send(server, '/hooks/x', { headers: {}, ...probe });
    expect([status, text]).toEqual([200, '']);
    expectNoTrace(server);
    for (const event of events)
      // oxlint-disable-next-line no-await-in-loop -- in order
      expect((await send(server, '/hooks/x', { headers: {}, ...event })).status).toBe(401);
  });

  test.each<readonly [string, string, SendOptions, string]>([
    ['WooCommerce', '/hooks/x', { body: 'webhook_id=7' }, 'write challenge: {probe: body.webhook_id} in'],
    ['Trello', '/hooks/x', { method: 'HEAD' }, 'write challenge: {probe: HEAD} in'],
    [
      'Bitbucket',
      '/hooks/x',
      { body: '{"test":true}', headers: { 'x-event-key': 'diagnostics:ping' } },
      'write challenge: {probe: body.test} in',
    ],
    ['monday.com', '/hooks/x', { body: '{"challenge":"abc"}' }, 'write challenge: {echo: body.challenge} in'],
    ['Dropbox', '/hooks/x?challenge=abc', { method: 'GET' }, 'write challenge: {echo: query.challenge} in'],
    ['Asana', '/hooks/x', { body: '{}', headers: { 'x-hook-secret': 's' } }, 'echo: headers.x-hook-secret'],
    ['Notion', '/hooks/x', { body: '{"verification_token":"abc"}' }, 'run "sluice add notion"'],
  ])(
    'of %s on a path without one are refused, and told with what to write',
    async (who, path, asked, told) => {
      for (const settings of [{ verify: verifying({ scheme: 'meta' }) }, {}]) {
        const server = await start(settings, { generation: { knowsName: () => true } });
        expect((await send(server, path, { headers: {}, ...asked })).status).toBe(401);
        const { code = '', ...refusal } = server.strangers[0]?.refusal ?? {};
        const text = printed(sayProof({ code, ...refusal }) ?? '');
        expect([code, text]).toEqual(['challenge', expect.stringContaining(told)]);
        expect(text).toContain(who);
        expect(text).not.toContain('abc');
        expectNoTrace(server);
      }
    },
  );

  test('nobody waits for the body of a request that is refused whatever it holds', async () => {
    const server = await start({ verify: verifying({ scheme: 'meta' }) });
    for (const more of ['X-A: b', 'Expect: 100-continue']) {
      const raw = await openRaw(server);
      raw.socket.write(`${head('/hooks/x', 'X-Hub-Signature: sha1=a', 'Content-Length: 9', more)}{"a"`);
      expect(await raw.until((text) => text.includes('\r\n\r\n'))).toMatch(/^HTTP\/1\.1 401 /);
      raw.socket.destroy();
    }
  });

  test('an address that may not send is not answered', async () => {
    const server = await start({ challenge: { kind: 'graph' }, allowFrom: ['192.0.2.1'] });
    expect((await send(server, '/hooks/x?validationToken=a', { headers: {} })).status).toBe(401);
  });
});

/** The long form is in `npm run redteam`: bodies. */
describe('bodies without a proof', () => {
  const MANY = 10;
  const LONG = `"${'x'.repeat(9_998)}"`;
  const begin = async (server: TestServer, secret = SECRET): Promise<Awaited<ReturnType<typeof openRaw>>> => {
    const raw = await openRaw(server);
    const lines = Object.entries(github(secret, LONG)).map(([name, value]) => `${name}: ${value}`);
    raw.socket.write(
      ['POST /hooks/x HTTP/1.1', 'Host: x', `Content-Length: ${LONG.length}`, ...lines, '', ''].join('\r\n'),
    );
    const before = server.openRequests();
    while (server.openRequests() === before) await delay(1);
    raw.socket.write(LONG.slice(0, -1));
    return raw;
  };
  const startBounded = (): Promise<TestServer> =>
    start(
      { verify: verifying({ scheme: 'github' }), maxBodyBytes: 20_000 },
      {
        deps: { limits: { unprovedBytes: MANY * LONG.length } },
        hooks: { authFailuresPerMinute: 0, maxBodyBytes: 20_000 },
      },
    );

  test('take up no more together than they may: the oldest that is not complete gives way', async () => {
    const server = await startBounded();
    const raws = [];
    // oxlint-disable-next-line no-await-in-loop -- one after the other
    for (let n = 0; n <= MANY; n += 1) raws.push(await begin(server));
    const [oldest, ...others] = raws;
    const [answer] = answersIn((await oldest?.until((text) => text.includes('"ok":false'))) ?? '');
    expect(answer?.status).toBe(503);
    expect(answer?.head).toMatch(/^retry-after: 1$/im);
    expect(JSON.parse(answer?.body ?? '')).toMatchObject({ code: 'bodies_full' });
    for (const raw of others) {
      raw.socket.write(LONG.slice(-1));
      // oxlint-disable-next-line no-await-in-loop -- one after the other
      expect(answersIn(await raw.until((text) => text.includes('runId')))[0]?.status).toBe(202);
    }
    for (const raw of raws) raw.socket.destroy();
    while (!server.log.some(({ fields }) => fields['refused'] === 1)) await delay(5);
    expect(server.log.filter(({ level }) => level === 'warn' || level === 'error')).toHaveLength(1);
  });

  test.each([
    ['the proof', SECRET, 202],
    ['the refusal', 'another', 401],
  ])('count up to %s', async (_name, secret, status) => {
    const server = await startBounded();
    for (let n = 0; n < 2 * MANY; n += 1) {
      // oxlint-disable-next-line no-await-in-loop -- one after the other
      const raw = await begin(server, secret);
      raw.socket.write(LONG.slice(-1));
      // oxlint-disable-next-line no-await-in-loop -- one after the other
      expect(answersIn(await raw.until((text) => text.includes('"ok"')))[0]?.status).toBe(status);
      raw.socket.destroy();
    }
  });

  test('count with what they unpack to, and those give way like others', async () => {
    const server = await startBounded();
    const bomb = gzipSync(Buffer.alloc(10_000_000));
    const packed = { ...github('another'), 'content-encoding': 'gzip' };
    const tooLong = await send(server, '/hooks/x', { headers: packed, body: bomb });
    expect([tooLong.status, json(tooLong)['code']]).toEqual([413, 'body_too_large']);
    // None of these is longer than one body may be, and together they are more than all may have.
    const long = gzipSync(Buffer.alloc(19_000));
    for (let n = 0; n < 2 * MANY; n += 1) {
      // oxlint-disable-next-line no-await-in-loop -- one after the other: none is counted after its answer
      expect((await send(server, '/hooks/x', { headers: packed, body: long })).status).toBe(401);
    }
    const signed = { ...github(SECRET, LONG), 'content-encoding': 'gzip' };
    const reply = await send(server, '/hooks/x', { headers: signed, body: gzipSync(LONG) });
    expect(reply.status).toBe(202);
  });

  test('that are unpacked at the same time have no more room than others', async () => {
    const unproved = new UnprovedBodies(100_000);
    const values = { 'content-encoding': 'gzip' };
    const body = gzipSync(Buffer.alloc(19_000));
    const all = Array.from({ length: 20 }, () => {
      const exchange = { headers: { values }, isProved: false, unprovedBytes: 0 } as unknown as Exchange;
      return unpackBody(exchange, body, { maxBytes: 20_000, unproved });
    });
    const settled = await Promise.allSettled(all);
    const whole = settled.filter(({ status }) => status === 'fulfilled');
    expect(whole.length).toBeGreaterThan(0);
    expect(whole.length * 19_000).toBeLessThanOrEqual(100_000);
    const codes = settled.flatMap((one) =>
      one.status === 'rejected' ? [(one.reason as HookError).code] : [],
    );
    expect(new Set(codes)).toEqual(new Set(['bodies_full']));
  });

  test('that give way when their last byte is unpacked are refused, too', async () => {
    const unproved = new UnprovedBodies(100_000);
    const values = { 'content-encoding': 'gzip' };
    const exchange = { headers: { values }, isProved: false, unprovedBytes: 0 } as unknown as Exchange;
    // What another body does that needs the room, before this one has ended.
    const hold = (): boolean => {
      queueMicrotask(() => exchange.failBody?.(new HookError('bodies_full', 'others need the room')));
      return true;
    };
    Object.assign(unproved, { hold });
    const unpacked = unpackBody(exchange, gzipSync(Buffer.alloc(1_000)), { maxBytes: 20_000, unproved });
    await expect(unpacked).rejects.toMatchObject({ code: 'bodies_full' });
  });

  test('count until their sender has left', async () => {
    const server = await startBounded();
    for (let n = 0; n < 2 * MANY; n += 1) {
      // oxlint-disable-next-line no-await-in-loop -- one after the other
      (await begin(server)).socket.resetAndDestroy();
      // oxlint-disable-next-line no-await-in-loop -- one after the other
      while (server.openRequests() > 0) await delay(1);
    }
    const codes = server.strangers.map(({ code }) => code);
    expect(new Set(codes)).toEqual(new Set(['request_aborted']));
  });

  test('do not stand in the way of those of proved senders', async () => {
    const server = await startBounded();
    const raws = await Promise.all(Array.from({ length: 2 * MANY }, () => openRaw(server)));
    for (const { socket } of raws)
      socket.write(`${head('/hooks/y', `Content-Length: ${LONG.length}`)}${LONG.slice(0, -1)}`);
    while (server.openRequests() < 2 * MANY) await delay(1);
    for (const raw of raws) {
      raw.socket.write(LONG.slice(-1));
      // oxlint-disable-next-line no-await-in-loop -- one after the other
      expect(answersIn(await raw.until((text) => text.includes('"ok"')))[0]?.status).toBe(202);
      raw.socket.destroy();
    }
  });
});
