import type { DecisionRecord } from '../../../src/engine/storage/storage.ts';
import { afterEach, describe, expect, test } from 'vitest';
import { HookError } from '../../../src/base/errors.ts';
import { settingsWith } from '../../support/hook-fixture.ts';
import {
  ADVISOR,
  agentAction,
  answersIn,
  evaluationOf,
  openRaw,
  send,
  startTestServer,
  stopServers,
  TOKEN,
  type SendOptions,
} from '../../support/server-fixture.ts';
import { sayProof } from '../../../src/authoring/advice/proofs.ts';
import { printSentence, quoted } from '../../../src/base/finding.ts';
import { printed } from '../../support/printed.ts';

/** What the operator reads of the findings of a decision. */
const said = ({ findings = [], path }: DecisionRecord | undefined = NONE): string =>
  printSentence(ADVISOR.say(findings, path) ?? quoted(''));
const NONE = { path: '' } as DecisionRecord;

afterEach(stopServers);

const basic = `Basic ${Buffer.from(`n8n:${TOKEN}`).toString('base64')}`;

/** What a sender without a proof sends, and what the operator reads. */
const REFUSALS: readonly (readonly [string, SendOptions['headers'], string, RegExp])[] = [
  [
    'nothing',
    {},
    'no-token',
    /no hook token came; send it as Authorization: Bearer TOKEN, or X-Service-Token/,
  ],
  [
    'another word',
    { authorization: `Token ${TOKEN}` },
    'token-elsewhere',
    /behind the word token, where it does not count: send it as Authorization: Bearer/,
  ],
  [
    'no word',
    { authorization: TOKEN },
    'token-elsewhere',
    /stands in the header authorization, where it does not count: send it as/,
  ],
  [
    'Basic',
    { authorization: basic },
    'token-elsewhere',
    /behind the word basic, where it does not count: send it as/,
  ],
  ['Basic of another', { authorization: 'Basic YTpi' }, 'no-token', /verify: \{scheme: basic/],
  [
    'a header of its own',
    { 'x-api-key': TOKEN },
    'token-elsewhere',
    /the header x-api-key, .* send it as Authorization: Bearer/,
  ],
  [
    'Bearer in the bare header',
    { 'x-service-token': `Bearer ${TOKEN}` },
    'token-elsewhere',
    /x-service-token behind the word bearer, where it does not count: send it as/,
  ],
  [
    'another token',
    { authorization: 'Bearer nobody-knows-this' },
    'unknown-token',
    /neither hooks\.token nor/,
  ],
  [
    'a signature',
    { 'x-hub-signature-256': `sha256=${'0'.repeat(64)}` },
    'no-verify',
    /verify: \{scheme: .*github/,
  ],
];

describe('the operator reads why a sender was not believed', () => {
  test.each(REFUSALS)('%s', async (_what, headers, code, text) => {
    const server = await startTestServer();
    const reply = await send(server, '/hooks/github', { headers: headers ?? {}, body: '{}' });
    expect(reply.status).toBe(401);
    expect(printed(server.strangers)).toEqual([
      expect.objectContaining({
        path: 'github',
        status: 401,
        refusal: expect.objectContaining({ scheme: 'token', code }) as object,
      }),
    ]);
    expect(printed(sayProof(server.strangers[0]?.refusal ?? { code }))).toMatch(text);
    expect(JSON.stringify([server.strangers, server.log])).not.toContain(TOKEN);
    expect(reply.text).not.toMatch(text);
  });

  test('the token under another name in the address', async () => {
    const server = await startTestServer();
    await send(server, `/hooks/github?key=${TOKEN}`, { headers: {}, body: '{}' });
    expect(printed(sayProof(server.strangers[0]?.refusal ?? { code: '' }))).toMatch(
      /as \?key=, where it does not count: send it as Authorization: Bearer/,
    );
    expect(JSON.stringify(server.strangers)).not.toContain(TOKEN);
  });
});

describe('what never came as far as a proof', () => {
  test('is kept with what is the operator\u2019s own, apart from the decisions', async () => {
    const server = await startTestServer({ generation: { knowsName: (name) => name === 'github' } });
    await send(server, '/hook/github', { body: '{}' });
    await send(server, '/hooks/words-of-a-stranger', { headers: {}, body: '{}' });
    expect(server.decisions).toEqual([]);
    expect(server.strangers).toMatchObject([
      {
        path: '',
        status: 404,
        findings: [{ code: 'address', facts: { hooks: '/hooks', name: 'github' } }],
      },
      { path: '', status: 401 },
    ]);
  });

  test('a hook name at another path is told in the log, a few times a second', async () => {
    const server = await startTestServer({ deps: { clock: () => 1_000 } });
    for (let i = 0; i < 8; i += 1) await send(server, '/hook/github', { headers: {}, body: '{}' });
    expect(server.log.filter(({ level }) => level === 'info')).toHaveLength(5);
  });

  test('hooks that are off say which key', async () => {
    const server = await startTestServer({ hooks: { enabled: false } });
    await send(server, '/hooks/github', { body: '{}' });
    expect(server.strangers).toMatchObject([
      { path: 'github', status: 404, findings: [{ code: 'hooks_off' }] },
    ]);
  });
});

test('a refusal of a proved sender says its method, and which key set the limit', async () => {
  const server = await startTestServer();
  await send(server, '/hooks/github', { method: 'PUT' });
  await send(server, '/hooks/github', { body: 'x'.repeat(2000) });
  expect(printed(server.strangers)).toEqual([]);
  expect(server.decisions).toMatchObject([
    { status: 405, method: 'PUT' },
    {
      status: 413,
      bodyBytes: 0,
      bodyUnread: true,
      findings: [{ code: 'body_limit', facts: { setBy: 'hooks', bytes: 2000 } }],
    },
  ]);
  const own = await startTestServer({ generation: { settingsOf: () => ({ maxBodyBytes: 10 }) } });
  await send(own, '/hooks/github', { body: 'x'.repeat(20) });
  expect(said(server.decisions[1])).toBe(
    'the limit is set by hooks.maxBodyBytes; this body has 2000 bytes: write maxBodyBytes: 2048 there',
  );
  expect(said(own.decisions[0])).toBe(
    'the limit is set by maxBodyBytes of the mappings of github; this body has 20 bytes: write maxBodyBytes: 32 there',
  );
});

/** What no request came of, the answer to it, and what the operator reads. */
const UNREAD: readonly (readonly [string, string, number, string, RegExp])[] = [
  [
    'TLS',
    '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03',
    400,
    'malformed_request',
    /sender calls https.*plain http/,
  ],
  ['HTTP/2', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n', 400, 'malformed_request', /HTTP\/2 without TLS/],
  [
    'the PROXY protocol',
    'PROXY TCP4 192.0.2.1 192.0.2.2 1 2\r\n',
    400,
    'malformed_request',
    /server\.trustedProxies/,
  ],
  ['no method', 'hello\r\n\r\n', 400, 'malformed_request', /begin with a method such as POST/],
  ['a space in the address', 'POST /hooks/a b HTTP/1.1\r\n\r\n', 400, 'malformed_request', /written as %20/],
  [
    'a letter that is not ASCII',
    'POST /hooks/\xe9 HTTP/1.1\r\n\r\n',
    400,
    'malformed_request',
    /percent-encoded/,
  ],
  [
    'a bad header',
    'POST /hooks/a HTTP/1.1\r\nHost t\r\n\r\n',
    400,
    'malformed_request',
    /name or value of a header/,
  ],
  [
    'two lengths',
    'POST /hooks/a HTTP/1.1\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\n',
    400,
    'malformed_request',
    /Content-Length and Transfer-Encoding/,
  ],
  [
    'a long header',
    `POST /hooks/a HTTP/1.1\r\nX: ${'z'.repeat(20_000)}`,
    431,
    'headers_too_large',
    /16384 bytes/,
  ],
  [
    'another coding',
    'POST /hooks/a HTTP/1.1\r\nHost: t\r\nTransfer-Encoding: gzip\r\n\r\n',
    501,
    'unknown_transfer_coding',
    /chunked/,
  ],
  [
    'two hosts',
    'POST /hooks/a HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n',
    400,
    'malformed_request',
    /there are 2/,
  ],
  ['CONNECT', 'CONNECT a:443 HTTP/1.1\r\nHost: a\r\n\r\n', 404, 'not_found', /proxy settings/],
  [
    'headers that drip',
    'POST /hooks/a HTTP/1.1\r\nX-A',
    408,
    'headers_timeout',
    /headers did not arrive in time/,
  ],
  ['nothing at all', '', 408, 'headers_timeout', /not one byte came/],
];

describe('what is no request is found by the id of its answer', () => {
  test.each(UNREAD)('%s', async (_what, bytes, status, code, text) => {
    const server = await startTestServer({ deps: { limits: { headersTimeoutMs: 200, bodyTimeoutMs: 400 } } });
    const raw = await openRaw(server);
    if (bytes !== '') raw.socket.write(bytes, 'latin1');
    const [answer] = answersIn(await raw.until((received) => received.includes('"ok":false')));
    expect(answer?.status).toBe(status);
    const { requestId } = JSON.parse(answer?.body ?? '') as { requestId: string };
    expect(printed(server.strangers)).toEqual([
      expect.objectContaining({ requestId, status, code, outcome: 'rejected' }),
    ]);
    const { detail } = JSON.parse(answer?.body ?? '') as { detail: string };
    expect(`${detail}; ${said(server.strangers[0])}`).toMatch(text);
    // Of what strangers wrote, nothing is told.
    expect(JSON.stringify([server.strangers, server.log])).not.toMatch(/zzzz|xe9|192\.0\.2/);
    raw.socket.destroy();
  });

  test('a flood of it is kept out of the log', async () => {
    const server = await startTestServer({ deps: { clock: () => 0 } });
    for (let n = 0; n < 20; n += 1) {
      // oxlint-disable-next-line no-await-in-loop -- one after the other
      const raw = await openRaw(server);
      raw.socket.write('garbage\r\n\r\n');
      // oxlint-disable-next-line no-await-in-loop -- one after the other
      await raw.closed();
    }
    expect(server.strangers).toHaveLength(20);
    expect(server.log.filter(({ level }) => level === 'info')).toHaveLength(5);
  });
});

test('a decision tells what its mappings are advised, a few times a second', async () => {
  const onEvaluation = () => ({ findings: [{ code: 'github_ping' }], instead: new Map() });
  const server = await startTestServer({
    deps: { clock: () => 0 },
    generation: {
      advisor: () => Promise.resolve({ ...ADVISOR, onEvaluation }),
      evaluate: () =>
        evaluationOf({
          kind: 'rejected',
          error: new HookError('no_mapping_matched', 'no mapping takes this'),
        }),
    },
  });
  for (let n = 0; n < 7; n += 1) {
    // oxlint-disable-next-line no-await-in-loop -- one after the other
    await send(server, '/hooks/github', { body: '{}' });
  }
  expect(server.decisions.filter(({ findings }) => findings?.[0]?.code === 'github_ping')).toHaveLength(5);
});

test('a request whose account ignoreSenders found takes no advice from those that need it', async () => {
  const [mapping] = settingsWith({
    table: '[{match: {path: github}, ignoreSenders: [bot], messageTemplate: x}]',
  }).table.mappings;
  const onEvaluation = () => ({ findings: [{ code: 'no_account' }], instead: new Map() });
  const server = await startTestServer({
    deps: { clock: () => 0 },
    generation: {
      advisor: () => Promise.resolve({ ...ADVISOR, onEvaluation }),
      evaluate: (request) =>
        evaluationOf(
          { kind: 'accepted', actions: [agentAction(request)] },
          mapping === undefined ? {} : { mapping },
        ),
    },
  });
  for (let n = 0; n < 7; n += 1) {
    // oxlint-disable-next-line no-await-in-loop -- one after the other
    await send(server, '/hooks/github', { body: '{"sender": {"login": "ana"}}' });
  }
  await send(server, '/hooks/github', { body: '{"id": 1}' });
  expect(server.decisions.map(({ findings }) => findings?.[0]?.code === 'no_account')).toEqual([
    ...Array.from({ length: 7 }, () => false),
    true,
  ]);
});

test('a repeat says by what it was recognised, and which header is new for each event', async () => {
  const server = await startTestServer({
    generation: {
      evaluate: (request) =>
        evaluationOf({
          kind: 'accepted',
          actions: [{ ...agentAction(request), dedupe: { scope: 'm', key: 'k', ttlSeconds: 60 } }],
        }),
    },
    storage: {
      accept: ({ actions }) =>
        Promise.resolve({
          accepted: actions.map(({ id }) => ({ kind: 'agent', id, mode: 'now', duplicate: true }) as const),
          warnings: [],
          duplicate: true,
        }),
    },
  });
  const headers = { authorization: `Bearer ${TOKEN}`, 'linear-delivery': 'a' };
  await send(server, '/hooks/linear', { headers, body: '{}' });
  expect(said(server.decisions[0])).toMatch(/a repeat, by dedupe\.key .*\{\{headers\.linear-delivery\}\}/);
  // It is the key already: the sender sent the same event again.
  await send(server, '/hooks/linear', { headers: { ...headers, 'linear-delivery': 'k' }, body: '{}' });
  expect(said(server.decisions[1])).toBe('a repeat, by dedupe.key of its mapping: nothing new was made');
});

test('where missed events are recovered, a repeat is known by the id of its event, which nobody signs', async () => {
  const event = (path: string): string[] =>
    path === 'github' ? ['headers', 'x-github-delivery'] : ['payload', 'id'];
  const recoveryOf = (path: string) => ({ event: event(path), maxAgeMs: 1000 });
  const server = await startTestServer({ generation: { recoveryOf } });
  const headers = { authorization: `Bearer ${TOKEN}`, 'x-github-delivery': 'a' };
  for (const path of ['github', 'github', 'stripe', 'stripe']) {
    // oxlint-disable-next-line no-await-in-loop -- one after the other
    await send(server, `/hooks/${path}`, { headers, body: '{"id":"evt_1"}' });
  }
  expect(server.accepted).toHaveLength(2);
  expect(said(server.decisions[1])).toMatch(
    /^a repeat, by the id of its event in the header x-github-delivery:/,
  );
  expect(said(server.decisions[3])).toMatch(/^a repeat, by the id of its event in the body:/);
  expect(server.decisions.map(said).join(' ')).not.toMatch(/signs/);
});

test('a request whose run gathers events says whose run it is, and when that begins', async () => {
  const debounce = { scope: 'm', key: 'k', seconds: 1800, maxSeconds: 18_000, nonce: 'n' };
  const server = await startTestServer({
    generation: {
      evaluate: (request) => {
        const action = agentAction(request);
        const actions = action.kind === 'agent' ? [{ ...action, debounce }] : [];
        return evaluationOf({ kind: 'accepted', actions });
      },
    },
    storage: {
      accept: () =>
        Promise.resolve({
          accepted: [{ kind: 'agent', id: 'first', mode: 'now', duplicate: false }],
          warnings: [],
          duplicate: false,
        }),
    },
  });
  await send(server, '/hooks/m', { headers: { authorization: `Bearer ${TOKEN}` }, body: '{}' });
  expect(said(server.decisions[0])).toBe(
    'debounce: joined the run first, which begins when no event of its key came for 1800 s',
  );
});

test('where nothing is known of mistakes, or it cannot be read, the same is refused with the same answer', async () => {
  const answersOf = async (advisor?: () => Promise<never>): Promise<readonly unknown[]> => {
    const generation = {
      canTake: (path: string) => path === 'github',
      settingsOf: (path: string) => (path === 'get' ? { method: 'GET' as const } : {}),
    };
    const server = await startTestServer({
      generation: advisor === undefined ? generation : { ...generation, advisor },
    });
    const requests: readonly SendOptions[] = [
      { headers: {} },
      { headers: { authorization: 'Bearer wrong' } },
      { body: '{' },
      { body: 'a=b', headers: { authorization: `Bearer ${TOKEN}`, 'content-type': 'text/plain' } },
    ];
    const told: unknown[] = [];
    for (const path of ['/hooks/github', '/hooks/nobody', '/hooks/get', '/elsewhere']) {
      for (const request of requests) {
        // oxlint-disable-next-line no-await-in-loop -- one after the other
        const { status, text } = await send(server, path, request);
        told.push([path, status, text.replace(/"requestId":"[^"]*"/, '')]);
      }
    }
    return [told, server.decisions.map(({ status, code }) => [status, code])];
  };
  const fails = (): Promise<never> => Promise.reject(new Error('not there'));
  expect(await answersOf(fails)).toEqual(await answersOf());
});

test('a new sender is served before strangers that write again with each answer', async () => {
  const server = await startTestServer();
  const wrong =
    'POST /hooks/agent HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer wrong\r\nContent-Length: 2\r\n\r\n{}';
  const strangers = await Promise.all(Array.from({ length: 200 }, () => openRaw(server)));
  for (const { socket } of strangers) socket.write(wrong);
  await Promise.all(strangers.map(({ until }) => until((text) => answersIn(text).length === 1)));
  expect(server.strangers).toHaveLength(200);
  for (const { socket } of strangers) socket.write(wrong);
  const good = await send(server, '/hooks/agent', { body: '{}' });
  expect(good.status).toBe(202);
  expect(server.strangers.length).toBeLessThan(400);
  await Promise.all(strangers.map(({ until }) => until((text) => answersIn(text).length === 2)));
  expect(server.strangers).toHaveLength(400);
  for (const { socket } of strangers) socket.destroy();
});
