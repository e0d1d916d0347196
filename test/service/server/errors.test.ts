import { afterEach, describe, expect, test } from 'vitest';
import { errorFinding, HOOK_ERRORS, HookError, type HookErrorCode } from '../../../src/base/errors.ts';
import { readPage, sectionOf } from '../../support/docs.ts';
import {
  agentAction,
  evaluationOf,
  json,
  send,
  startTestServer,
  stopServers,
  type TestServer,
} from '../../support/server-fixture.ts';

afterEach(stopServers);

const CODES = Object.keys(HOOK_ERRORS) as HookErrorCode[];

function rejecting(error: HookError): Promise<TestServer> {
  return startTestServer({ generation: { evaluate: () => evaluationOf({ kind: 'rejected', error }) } });
}

test.each(CODES)('%s becomes a problem+json answer with its status', async (code) => {
  const { status, title } = HOOK_ERRORS[code];
  const server = await rejecting(
    new HookError(code, 'detail of /srv/transforms/x.ts', {
      errors: [errorFinding(code, 'wrong at /srv', { index: 2, field: 'message' })],
      retryAfterSeconds: 7,
    }),
  );
  const reply = await send(server, '/hooks/mapped', { body: '{}' });
  expect(reply.status).toBe(status);
  expect(reply.headers['content-type']).toBe('application/problem+json');
  expect(reply.headers['retry-after']).toBe(status === 503 || status === 429 ? '7' : undefined);
  expect(json(reply)).toMatchObject({
    type: `urn:sluice:error:${code}`,
    title,
    status,
    code,
    requestId: reply.headers['x-request-id'],
    ok: false,
    error: title,
  });
  // What a mapping made of it is nothing to its sender.
  const own = code === 'no_mapping_matched' ? { code: 'condition_not_met' } : { code, index: 2 };
  expect(json(reply)['errors']).toEqual([{ ...own, message: title }]);
  expect(reply.text).not.toContain('/srv');
  expect([server.accepted, server.decisions[0]?.code, server.decisions[0]?.outcome]).toEqual([
    [],
    code,
    'rejected',
  ]);
});

test.each(CODES.filter((code) => HOOK_ERRORS[code].status < 500))(
  '%s of a body of /agent tells its sender the field',
  async (code) => {
    const wrong = errorFinding(code, 'message must be a text', { field: 'message' });
    const server = await rejecting(new HookError(code, 'message must be a text', { errors: [wrong] }));
    const reply = await send(server, '/hooks/agent', { body: '{}' });
    expect(json(reply)).toMatchObject({
      detail: 'message must be a text',
      errors: [{ code, field: 'message', message: 'message must be a text' }],
    });
  },
);

test('each 503 and 429 without a time of its own says to come back in a second', async () => {
  const server = await rejecting(new HookError('backlog_full', 'full'));
  expect((await send(server, '/hooks/mapped', { body: '{}' })).headers['retry-after']).toBe('1');
});

describe('what nobody foresaw', () => {
  test.each<[string, () => never | Promise<never>]>([
    [
      'thrown',
      () => {
        throw new TypeError('secret-part of the payload');
      },
    ],
    ['rejected', () => Promise.reject(new RangeError('secret-part of the payload'))],
  ])('%s is answered 500 and logged without its message', async (_name, evaluate) => {
    const server = await startTestServer({ generation: { evaluate } });
    const reply = await send(server, '/hooks/mapped', { body: '{}' });
    expect([reply.status, json(reply)['code']]).toEqual([500, 'internal']);
    const line = server.log.find((entry) => entry.level === 'error');
    expect(line?.fields['fault']).toMatchObject({
      name: expect.stringMatching(/TypeError|RangeError/) as string,
    });
    expect(JSON.stringify(line?.fields['fault'])).toContain('server/errors.test.ts');
    expect(server.decisions).toMatchObject([{ status: 500, code: 'internal' }]);
    expect(reply.text + JSON.stringify(server.log)).not.toContain('secret-part');
  });

  test('an error of the store is answered 503, and nothing is said to be accepted', async () => {
    const accepted: unknown[] = [];
    const server = await startTestServer({
      storage: { accept: () => Promise.reject(new Error('SQLITE_FULL: secret-part')) },
      deps: { onAccepted: (result) => void accepted.push(result) },
    });
    const reply = await send(server, '/hooks/agent', { body: '{}' });
    expect([reply.status, json(reply)['code'], reply.headers['retry-after']]).toEqual([
      503,
      'storage_unavailable',
      '1',
    ]);
    expect(reply.text + JSON.stringify(server.log)).not.toContain('secret-part');
    expect(accepted).toEqual([]);
  });

  test.each(['storage_unavailable', 'backlog_full', 'events_full'] as const)(
    '%s of the store is passed on',
    async (code) => {
      const server = await startTestServer({
        storage: { accept: () => Promise.reject(new HookError(code, 'no')) },
      });
      const reply = await send(server, '/hooks/agent', { body: '{}' });
      expect([reply.status, json(reply)['code']]).toEqual([503, code]);
      expect(server.decisions[0]).toMatchObject({ status: 503, code, actionIds: [] });
    },
  );
});

test('a batch is all or nothing: one rejected evaluation stores nothing', async () => {
  const server = await rejecting(
    new HookError('missing_message', 'element 1', {
      errors: [errorFinding('missing_message', 'blank', { index: 1 })],
    }),
  );
  await send(server, '/hooks/batch', { body: '[1,2]' });
  expect(server.accepted).toEqual([]);
});

test('the documented table of error codes is the registry', () => {
  const section = sectionOf(readPage('docs/http.md'), '## Error codes');
  const rows = [...section.matchAll(/^\| (\d{3}) +\| `([a-z0-9_]+)` +\|/gm)].map(
    ([, status, code]) => `${code} ${status}`,
  );
  expect(rows.toSorted()).toEqual(CODES.map((code) => `${code} ${HOOK_ERRORS[code].status}`).toSorted());
});

describe('decisions and log lines', () => {
  test('an accepted request is one decision and one line, without a word of its payload', async () => {
    const server = await startTestServer();
    await send(server, '/hooks/agent?q=secret-part', { body: '{"message":"secret-part"}' });
    expect(server.decisions).toHaveLength(1);
    expect(server.decisions[0]).toMatchObject({
      path: 'agent',
      status: 202,
      outcome: 'accepted',
      generation: 'g1',
      bodyBytes: 25,
      actionIds: [server.accepted[0]?.actions[0]?.id],
    });
    expect(server.log).toHaveLength(1);
    expect(server.log[0]).toMatchObject({
      level: 'info',
      message: 'request',
      fields: {
        outcome: 'accepted',
        status: 202,
        hook: 'agent',
        bytes: 25,
        requestId: server.accepted[0]?.requestId,
      },
    });
    expect(JSON.stringify([server.log, server.decisions])).not.toContain('secret-part');
    expect(server.seen).toHaveLength(1);
    expect(server.seen[0]).toMatchObject({ status: 202, generation: 'g1' });
  });

  test('a request that matched nothing keeps the place of each failing part', async () => {
    const source = { file: 'mappings/github.yaml', text: '- id: github-push\n  match:\n    path: github\n' };
    const at = (word: string) => ({
      source,
      start: source.text.indexOf(word),
      end: source.text.indexOf(word) + word.length,
    });
    type Considered = ReturnType<typeof evaluationOf>['trace']['considered'][number];
    const mapping = { id: 'github-push', at: at('- id') } as Considered['mapping'];
    const considered: Considered[] = [
      {
        mapping,
        matched: false,
        held: 0,
        failed: { part: 'path', at: at('path: github'), expected: 'github', found: 'x' },
      },
      { mapping, matched: false, held: 1, failed: { part: 'source', expected: 'a', found: 'secret-part' } },
    ];
    const server = await startTestServer({
      generation: {
        evaluate: (request) =>
          evaluationOf(
            { kind: 'rejected', error: new HookError('no_mapping_matched', 'none') },
            // A request for another path missed by its path only; 60 of those say nothing beside a near miss.
            {
              trace: {
                considered:
                  request.path === 'y'
                    ? considered.slice(0, 1)
                    : [...Array.from({ length: 60 }, () => considered[0]!), ...considered],
                templates: [],
                transforms: [],
              },
            },
          ),
      },
    });
    expect((await send(server, '/hooks/x', { body: '{}' })).status).toBe(404);
    expect((await send(server, '/hooks/y', { body: '{}' })).status).toBe(404);
    expect(server.decisions.map(({ missed }) => missed)).toEqual([
      [
        {
          mappingId: 'github-push',
          part: 'source',
          place: 'mappings/github.yaml:1:1',
          leaf: 'a',
          why: 'different',
        },
      ],
      [
        {
          mappingId: 'github-push',
          part: 'path',
          place: 'mappings/github.yaml:3:5',
          leaf: 'github',
          why: 'different',
        },
      ],
    ]);
    expect(JSON.stringify(server.decisions)).not.toContain('secret-part');
  });

  test('a failed transform keeps the request and its notes, and logs only module, failure and position', async () => {
    type Traced = ReturnType<typeof evaluationOf>['trace']['transforms'][number];
    const traced = {
      at: { source: { file: 'mappings/github.yaml', text: '' }, start: 0, end: 0 },
      call: { ref: { module: 'github.ts' } },
      reply: {
        kind: 'failed',
        failure: 'user-error',
        name: 'TypeError',
        message: 'secret-part is bad',
        stack: 'TypeError: secret-part is bad\n    at transforms/github.ts:3:7',
        position: { file: 'transforms/github.ts', line: 3, column: 7 },
        logs: [{ level: 'log', text: 'saw secret-part' }],
        logsDropped: 2,
        tookMs: 1,
      },
    } as unknown as Traced;
    const server = await startTestServer({
      generation: {
        evaluate: () =>
          evaluationOf(
            { kind: 'rejected', error: new HookError('transform_failed', 'the transform threw') },
            { trace: { considered: [], templates: [], transforms: [traced] } },
          ),
      },
    });
    const reply = await send(server, '/hooks/github?token=x&a=1', { body: '{"a":"secret-part"}' });
    expect(reply.status).toBe(500);
    expect(reply.text).not.toMatch(/secret-part|github\.ts/);
    expect(server.decisions[0]?.findings).toEqual([
      { code: 'transform_printed', facts: { module: 'github.ts', lines: 3 } },
      {
        code: 'transform_failed',
        at: 'transforms/github.ts:3:7',
        facts: { module: 'github.ts', failure: 'user-error' },
      },
    ]);
    expect(JSON.stringify(server.decisions)).not.toContain('secret-part');
    expect(JSON.parse(server.kept[0]?.json ?? '')).toMatchObject({
      id: reply.headers['x-request-id'],
      url: '/hooks/github?a=1',
      payload: { a: 'secret-part' },
    });
    expect(server.log[0]?.fields['transform']).toEqual({
      module: 'github.ts',
      failure: 'user-error',
      at: 'transforms/github.ts:3:7',
    });
    expect(JSON.stringify(server.log)).not.toContain('secret-part');
  });

  test('an observer that throws does not take back what was accepted', async () => {
    const fail = (): never => {
      throw new Error('secret-part');
    };
    const server = await startTestServer({
      storage: { recordDecision: fail },
      deps: { onAccepted: fail, onDecision: fail },
    });
    expect((await send(server, '/hooks/agent', { body: '{}' })).status).toBe(202);
    expect(server.accepted).toHaveLength(1);
    expect(server.log.filter((line) => line.level === 'error')).toHaveLength(2);
    expect(JSON.stringify(server.log)).not.toContain('secret-part');
  });

  test('onAccepted hears of stored work before the answer, with its actions', async () => {
    const heard: string[] = [];
    const server = await startTestServer({
      generation: {
        evaluate: (request) => evaluationOf({ kind: 'accepted', actions: [agentAction(request, 'r1')] }),
      },
      deps: { onAccepted: (result, actions) => heard.push(`${result.accepted[0]?.id} ${actions[0]?.id}`) },
    });
    await send(server, '/hooks/agent', { body: '{}' });
    expect(heard).toEqual(['r1 r1']);
  });
});

test('an error of a request writes down no stack, and other errors do as before', () => {
  expect(new HookError('unauthorized', 'x').stack).not.toMatch(/\n\s+at /);
  expect(new Error('bug').stack).toMatch(/\n\s+at /);
});
