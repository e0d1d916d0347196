import { hash } from 'node:crypto';
import { globSync, readFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import { afterEach, describe, expect, test } from 'vitest';
import { OPENCLAW } from '../../../src/engine/config/openclaw/behaviours.ts';
import type { HookRequest } from '../../../src/base/request.ts';
import { HookError } from '../../../src/base/errors.ts';
import {
  agentAction,
  BEARER,
  evaluationOf,
  json,
  send,
  startTestServer,
  stopServers,
  type TestServer,
} from '../../support/server-fixture.ts';

afterEach(stopServers);

function post(server: TestServer, key: string, body = '{"message":"x"}', path = '/hooks/agent') {
  return send(server, path, { headers: { ...BEARER, 'idempotency-key': key }, body });
}

test('a repeat gets the first answer with duplicate: true and is not evaluated again', async () => {
  const server = await startTestServer();
  const first = await post(server, 'k1');
  const repeat = await post(server, 'k1');
  expect([first.status, repeat.status]).toEqual([202, 202]);
  expect(json(repeat)).toEqual({ ...json(first), duplicate: true });
  expect(server.accepted).toHaveLength(1);
  expect(server.evaluated).toHaveLength(1);
  expect(server.accepted[0]?.idempotency).toMatchObject({ scope: 'agent', key: 'k1', ttlSeconds: 86_400 });
});

test('a repeat is logged and kept as a duplicate decision with the first ids', async () => {
  const server = await startTestServer();
  const first = await post(server, 'k1');
  await post(server, 'k1');
  expect(server.log.map((line) => line.fields['outcome'])).toEqual(['accepted', 'duplicate']);
  expect(server.decisions[1]).toMatchObject({
    outcome: 'accepted',
    status: 202,
    actionIds: [json(first)['runId']],
  });
});

test('the same key with another body is answered 422', async () => {
  const server = await startTestServer();
  await post(server, 'k1', '{"message":"x"}');
  const other = await post(server, 'k1', '{"message":"y"}');
  expect([other.status, json(other)['code']]).toEqual([422, 'idempotency_mismatch']);
  expect(server.accepted).toHaveLength(1);
  expect(server.decisions[1]).toMatchObject({
    status: 422,
    code: 'idempotency_mismatch',
    outcome: 'rejected',
  });
});

const inParts = (file: string): string =>
  `--b\r\nContent-Disposition: form-data; name="f"; filename="a.txt"\r\n\r\n${file}\r\n--b--\r\n`;

/** Two requests that mappings read as one, and that are two. */
test.each([
  [
    'files of other bytes',
    { bodyFormat: 'form' },
    ['one', 'two'].map((file) => ({ body: inParts(file) })),
    'multipart/form-data; boundary=b',
  ],
  [
    'texts in other places',
    { bodyFormat: 'xml' },
    [{ body: '<a>one <b/>two</a>' }, { body: '<a>one two<b/></a>' }],
    'text/xml',
  ],
  [
    'JSON of other bytes',
    {},
    [{ body: '{"message":"x","a":1,"a":2}' }, { body: '{"message":"x","a":2}' }],
    'application/json',
  ],
  ['parameters', { method: 'GET' }, [{ query: '?a=1&a=2' }, { query: '?a=1,%202' }], undefined],
  [
    'ids of events in headers',
    { bodyFormat: 'cloudevents' },
    ['1', '2'].map((id) => ({ body: '{}', id })),
    'application/json',
  ],
] as const)('a key is not used twice for %s', async (_, settings, sent, type) => {
  const server = await startTestServer({ generation: { settingsOf: () => settings } });
  const statuses: number[] = [];
  const method = type === undefined ? 'GET' : 'POST';
  const event = { 'ce-specversion': '1.0', 'ce-source': 's', 'ce-type': 't' };
  for (const [index, each] of [...sent, ...sent].entries()) {
    const { body, query = '', id = '1' }: { body?: string; query?: string; id?: string } = each;
    const typed = type === undefined ? {} : { 'content-type': type };
    const headers = {
      ...BEARER,
      ...event,
      ...typed,
      'ce-id': id,
      'idempotency-key': `k${Math.min(index, 2)}`,
    };
    const options = { method, headers, ...(body === undefined ? {} : { body }) };
    // oxlint-disable-next-line no-await-in-loop -- in order
    const { status } = await send(server, `/hooks/agent${query}`, options);
    statuses.push(status);
  }
  expect(statuses).toEqual([202, 202, 202, 422]);
  const [first, second, again] = server.evaluated.map(({ bodySha256 }) => bodySha256);
  expect(second).not.toBe(first);
  expect(again).toBe(first);
});

test('a key may be used again for a body that was packed in another way', async () => {
  const server = await startTestServer();
  const body = `{"message":"${'x'.repeat(200)}"}`;
  for (const level of [1, 9]) {
    const headers = { ...BEARER, 'idempotency-key': 'k', 'content-encoding': 'gzip' };
    // oxlint-disable-next-line no-await-in-loop -- in order
    const reply = await send(server, '/hooks/agent', { headers, body: gzipSync(body, { level }) });
    expect(reply.status).toBe(202);
  }
  expect(server.evaluated.map(({ bodySha256 }) => bodySha256)).toEqual([hash('sha256', body)]);
});

test('the same key on another path, and another key on the same path, are new requests', async () => {
  const server = await startTestServer();
  await post(server, 'k1');
  await post(server, 'k1', '{"message":"x"}', '/hooks/other');
  await post(server, 'k2');
  expect(server.accepted).toHaveLength(3);
});

test('repeats in flight wait for the first and get its answer; another body does not wait', async () => {
  let open = (): void => undefined;
  const held = new Promise<void>((resolve) => {
    open = resolve;
  });
  const server = await startTestServer({
    generation: {
      evaluate: async (request) => {
        await held;
        return evaluationOf({ kind: 'accepted', actions: [agentAction(request)] });
      },
    },
  });
  const all = [post(server, 'k1'), post(server, 'k1'), post(server, 'k1')];
  while (server.openRequests() < 3) await delay(1);
  expect((await post(server, 'k1', '{"message":"other"}')).status).toBe(422);
  open();
  const replies = await Promise.all(all);
  expect(replies.map((reply) => reply.status)).toEqual([202, 202, 202]);
  expect(new Set(replies.map((reply) => json(reply)['runId'])).size).toBe(1);
  expect(replies.filter((reply) => json(reply)['duplicate'] === true)).toHaveLength(2);
  expect(server.evaluated).toHaveLength(1);
  expect(server.accepted).toHaveLength(1);
});

test.each(['invalid_field', 'transform_failed'] as const)('an answer of %s frees the key', async (code) => {
  let fail = true;
  const server = await startTestServer({
    generation: {
      evaluate: (request: HookRequest) =>
        evaluationOf(
          fail
            ? { kind: 'rejected', error: new HookError(code, 'not this time') }
            : { kind: 'accepted', actions: [agentAction(request)] },
        ),
    },
  });
  expect((await post(server, 'k1')).status).toBeGreaterThanOrEqual(400);
  fail = false;
  const retried = await post(server, 'k1');
  expect(retried.status).toBe(202);
  expect(json(retried)['duplicate']).toBeUndefined();
});

test('a failing store frees the key too', async () => {
  let calls = 0;
  const server = await startTestServer({
    storage: {
      accept: (work) => {
        calls += 1;
        if (calls === 1) return Promise.reject(new HookError('storage_unavailable', 'disk full'));
        return Promise.resolve({
          accepted: work.actions.map(({ kind, id }) => ({
            kind,
            id,
            mode: 'now' as const,
            duplicate: false,
          })),
          warnings: [],
          duplicate: false,
        });
      },
    },
  });
  expect((await post(server, 'k1')).status).toBe(503);
  expect((await post(server, 'k1')).status).toBe(202);
});

test('a blank key means no dedupe, with a warning', async () => {
  const server = await startTestServer();
  const replies = [await post(server, ' '), await post(server, ' ')];
  expect(server.accepted).toHaveLength(2);
  expect(server.accepted.map((work) => work.idempotency)).toEqual([undefined, undefined]);
  for (const reply of replies) {
    expect(json(reply)['warnings']).toMatchObject([
      { code: 'blank_idempotency_key', field: 'Idempotency-Key' },
    ]);
  }
});

test('a key of more than 255 characters is answered 400', async () => {
  const server = await startTestServer();
  const reply = await post(server, 'k'.repeat(256));
  expect([reply.status, json(reply)['code']]).toEqual([400, 'invalid_field']);
  expect((await post(server, 'k'.repeat(255))).status).toBe(202);
});

test('a skipped request reserves its key, so that a repeat stays skipped', async () => {
  let skip = true;
  const server = await startTestServer({
    generation: {
      evaluate: (request: HookRequest) =>
        evaluationOf(
          skip ? { kind: 'skipped', by: 'transform' } : { kind: 'accepted', actions: [agentAction(request)] },
        ),
    },
  });
  expect((await post(server, 'k1')).status).toBe(204);
  skip = false;
  expect((await post(server, 'k1')).status).toBe(204);
  expect(server.evaluated).toHaveLength(1);
});

test('duplicates within a batch are listed apart from what is new', async () => {
  const server = await startTestServer({
    generation: {
      evaluate: (request: HookRequest) =>
        evaluationOf({
          kind: 'accepted',
          actions: [agentAction(request, 'new'), agentAction(request, 'old')],
        }),
    },
    storage: {
      accept: () =>
        Promise.resolve({
          accepted: [
            { kind: 'agent', id: 'new', mode: 'now', duplicate: false },
            { kind: 'agent', id: 'old', mode: 'now', duplicate: true },
          ],
          warnings: [],
          duplicate: false,
        }),
    },
  });
  const reply = await send(server, '/hooks/batch', { body: '{}' });
  expect(json(reply)).toEqual({ ok: true, ids: [], runIds: ['new'], duplicates: ['old'] });
});

test('in an OpenClaw file the key also comes in their header or in the body, and another body is another request', async () => {
  const server = await startTestServer({ hooks: { behaviours: OPENCLAW } });
  const theirs = { headers: { ...BEARER, 'x-openclaw-idempotency-key': 'k1' } };
  const answers = [
    await send(server, '/hooks/agent', { ...theirs, body: '{"message":"x"}' }),
    await send(server, '/hooks/agent', { ...theirs, body: '{"message":"x"}' }),
    await send(server, '/hooks/agent', { ...theirs, body: '{"message":"y"}' }),
    await send(server, '/hooks/agent', { headers: BEARER, body: '{"message":"x","idempotencyKey":"k2"}' }),
    await send(server, '/hooks/agent', { headers: BEARER, body: '{"message":"x","idempotencyKey":"k2"}' }),
  ];
  expect(answers.map((answer) => [answer.status, json(answer)['duplicate'] === true])).toEqual([
    [202, false],
    [202, true],
    [202, false],
    [202, false],
    [202, true],
  ]);
  const ours = await startTestServer();
  await send(ours, '/hooks/agent', { ...theirs, body: '{"message":"x","idempotencyKey":"k2"}' });
  expect(ours.accepted[0]?.idempotency).toBeUndefined();
});

describe('warnings that were stored with a key', () => {
  // Those of the whole engine, and errors with them: whatever is stored is read.
  const texts = globSync('src/{engine/{hook,mapping},service/server}/**/*.ts').map((name) =>
    readFileSync(name, 'utf8'),
  );
  const codes = [
    ...new Set(
      texts.flatMap((text) => [...text.matchAll(/code: '([a-z_]+)'/g)].map(([, code = '']) => code)),
    ),
  ].toSorted();
  /** As an older version stored them: words of the operator's mapping, file and fix. */
  const stored = codes.map((code) => ({ code, field: 'operators-field', message: 'words of the operator' }));

  test.each([
    ['github', ['blank_idempotency_key']],
    [
      'agent',
      ['blank_idempotency_key', 'coerced_field', 'unknown_field', 'unknown_thinking', 'unused_field'],
    ],
    ['wake', ['blank_idempotency_key', 'coerced_field', 'unknown_field', 'unknown_thinking', 'unused_field']],
  ])('reach the sender of %s only where they are about its own request', async (path, told) => {
    expect(codes.length).toBeGreaterThan(15);
    const server = await startTestServer({
      storage: {
        findIdempotent: () =>
          Promise.resolve({
            bodySha256: hash('sha256', '{}'),
            result: {
              accepted: [{ kind: 'agent', id: 'first', mode: 'now', duplicate: false }],
              warnings: stored,
              duplicate: false,
            },
          }),
      },
    });
    const reply = await post(server, 'k', '{}', `/hooks/${path}`);
    expect(reply.status).toBe(202);
    const { warnings } = json(reply) as { warnings: readonly { code: string }[] };
    expect(warnings.map(({ code }) => code)).toEqual(told);
  });
});

test('an event without a conversation is answered 202 while it waits, and 204 where it does not', async () => {
  const without = (...states: readonly (undefined | 'waiting' | 'none')[]) =>
    startTestServer({
      storage: {
        accept: () =>
          Promise.resolve({
            accepted: states.map((state, index) => ({
              kind: 'agent' as const,
              id: `id-${index}`,
              mode: 'now' as const,
              duplicate: false,
              ...(state !== undefined && { without: state }),
            })),
            warnings: [],
            duplicate: false,
          }),
      },
    });
  const answerOf = async (...states: readonly (undefined | 'waiting' | 'none')[]) => {
    const server = await without(...states);
    const { status, text } = await send(server, '/hooks/agent', { headers: BEARER, body: '{"message":"x"}' });
    const [decision] = server.decisions;
    const found = decision?.findings?.map(({ code, facts }) => ({ code, facts }));
    return [status, text, decision?.outcome, decision?.actionIds, found];
  };
  const waits = [{ code: 'no_conversation', facts: { without: 'waiting' } }];
  expect(await answerOf('waiting')).toEqual([202, '{"ok":true,"waiting":true}', 'accepted', ['id-0'], waits]);
  const none = [{ code: 'no_conversation', facts: { without: 'none' } }];
  expect(await answerOf('none')).toEqual([204, '', 'skipped', [], none]);
  expect(await answerOf(undefined, 'none')).toEqual([
    202,
    '{"ok":true,"runId":"id-0"}',
    'accepted',
    ['id-0'],
    none,
  ]);
  expect(await answerOf(undefined, 'waiting')).toEqual([
    202,
    '{"ok":true,"ids":[],"runIds":["id-0"],"waiting":["id-1"]}',
    'accepted',
    ['id-0', 'id-1'],
    waits,
  ]);
});
