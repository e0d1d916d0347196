import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import { afterEach, describe, expect, test } from 'vitest';
import type { RunRecord } from '../../src/storage/storage.ts';
import {
  agentAction,
  BEARER,
  evaluationOf,
  head,
  json,
  openRaw,
  send,
  startTestServer,
  stopServers,
  wakeAction,
} from '../support/server-fixture.ts';

afterEach(stopServers);

function runOf(id: string, more: Partial<RunRecord> = {}): RunRecord {
  return {
    id,
    kind: 'hook',
    action: agentAction({ id, path: 'agent' } as Parameters<typeof agentAction>[0]) as RunRecord['action'],
    state: 'completed',
    outcome: 'ok',
    reply: 'the "reply"',
    attempts: 1,
    acceptedAt: 1_000,
    dueAt: 1_000,
    startedAt: 2_000,
    endedAt: 3_000,
    ...more,
  };
}

const PREFER = (value: string): Record<string, string> => ({ ...BEARER, prefer: value });

describe('Prefer: wait', () => {
  test('an agent answer is held and carries the reply with 200', async () => {
    const asked: number[] = [];
    const server = await startTestServer({
      deps: {
        waitForRun: (runId, ms) => {
          asked.push(ms);
          return Promise.resolve(runOf(runId));
        },
      },
    });
    const reply = await send(server, '/hooks/agent', {
      headers: PREFER('respond-async, wait=7'),
      body: '{}',
    });
    expect(reply.status).toBe(200);
    expect(reply.headers['preference-applied']).toBe('wait=7');
    expect(json(reply)).toEqual({
      ok: true,
      runId: server.accepted[0]?.actions[0]?.id,
      state: 'completed',
      outcome: 'ok',
      reply: 'the "reply"',
    });
    expect(asked).toEqual([7_000]);
  });

  test('a run that has not ended in time is answered 202 as ever', async () => {
    const server = await startTestServer();
    const reply = await send(server, '/hooks/agent', { headers: PREFER('wait=1'), body: '{}' });
    expect(reply.status).toBe(202);
    expect(reply.headers['preference-applied']).toBeUndefined();
    expect(json(reply)).toEqual({ ok: true, runId: server.accepted[0]?.actions[0]?.id });
  });

  test('an error is an outcome too', async () => {
    const server = await startTestServer({
      deps: {
        waitForRun: (runId) =>
          Promise.resolve(
            runOf(runId, { outcome: 'error', reply: '', lastError: { code: 'exit_1', message: 'no' } }),
          ),
      },
    });
    const reply = await send(server, '/hooks/agent', { headers: PREFER('wait=1'), body: '{}' });
    expect(json(reply)).toMatchObject({ outcome: 'error', error: { code: 'exit_1', message: 'no' } });
  });

  test.each([
    ['wait=0', undefined],
    ['wait=-1', undefined],
    ['wait=soon', undefined],
    ['respond-async', undefined],
    ['await=5', undefined],
    ['Wait = 5', 5_000],
    ['wait="5"', 5_000],
    ['handling=lenient; x, wait=5', 5_000],
    ['wait=999999', 300_000],
  ])('%s', async (prefer, ms) => {
    const asked: number[] = [];
    const server = await startTestServer({
      deps: { waitForRun: (_id, waitMs) => Promise.resolve(void asked.push(waitMs)) },
    });
    expect((await send(server, '/hooks/agent', { headers: PREFER(prefer), body: '{}' })).status).toBe(202);
    expect(asked).toEqual(ms === undefined ? [] : [ms]);
  });

  test('a wake and a batch are answered at once', async () => {
    const asked: string[] = [];
    const server = await startTestServer({
      generation: {
        evaluate: (request) =>
          evaluationOf({
            kind: 'accepted',
            actions:
              request.path === 'wake'
                ? [wakeAction(request)]
                : [agentAction(request, 'a'), agentAction(request, 'b')],
          }),
      },
      deps: { waitForRun: (id) => Promise.resolve(void asked.push(id)) },
    });
    expect((await send(server, '/hooks/wake', { headers: PREFER('wait=5'), body: '{}' })).status).toBe(200);
    expect((await send(server, '/hooks/batch', { headers: PREFER('wait=5'), body: '{}' })).status).toBe(202);
    expect(asked).toEqual([]);
  });

  test('the wait ends when the server stops, with the plain answer', async () => {
    const server = await startTestServer({
      deps: {
        waitForRun: async (_id, _ms, signal) => {
          await once(signal, 'abort');
          return undefined;
        },
      },
    });
    const reply = send(server, '/hooks/agent', { headers: PREFER('wait=60'), body: '{}' });
    while (server.accepted.length === 0) await delay(1);
    await server.stop();
    expect((await reply).status).toBe(202);
  });

  test('the wait ends when the sender leaves', async () => {
    let left = false;
    const server = await startTestServer({
      deps: {
        waitForRun: async (_id, _ms, signal) => {
          await once(signal, 'abort');
          left = true;
          return undefined;
        },
      },
    });
    const raw = await openRaw(server);
    raw.socket.write(`${head('/hooks/agent', 'Prefer: wait=60', 'Content-Length: 2')}{}`);
    while (server.accepted.length === 0) await delay(1);
    raw.socket.resetAndDestroy();
    while (server.openRequests() > 0) await delay(1);
    expect(left).toBe(true);
  });

  test('beyond the number of held requests the answer comes at once', async () => {
    const server = await startTestServer({
      deps: {
        limits: { maxWaiting: 1 },
        waitForRun: async (_id, _ms, signal) => {
          await once(signal, 'abort');
          return undefined;
        },
      },
    });
    const held = send(server, '/hooks/agent', { headers: PREFER('wait=60'), body: '{}' });
    while (server.accepted.length === 0) await delay(1);
    expect((await send(server, '/hooks/agent', { headers: PREFER('wait=60'), body: '{}' })).status).toBe(202);
    await server.stop();
    await held;
  });
});

describe('GET runs/<id>', () => {
  const storage = {
    findRun: (id: string) =>
      Promise.resolve(id === 'r1' ? runOf(id) : id === 'h1' ? runOf(id, { kind: 'heartbeat' }) : undefined),
  };
  const get = { method: 'GET' };

  test('is answered where runs are exposed', async () => {
    const server = await startTestServer({ hooks: { exposeRuns: true }, storage });
    const reply = await send(server, '/hooks/runs/r1', get);
    expect(reply.status).toBe(200);
    expect(json(reply)).toEqual({
      ok: true,
      runId: 'r1',
      state: 'completed',
      outcome: 'ok',
      reply: 'the "reply"',
      attempts: 1,
      acceptedAt: '1970-01-01T00:00:01.000Z',
      startedAt: '1970-01-01T00:00:02.000Z',
      endedAt: '1970-01-01T00:00:03.000Z',
    });
  });

  test('an unknown run and a heartbeat are 404', async () => {
    const server = await startTestServer({ hooks: { exposeRuns: true }, storage });
    for (const id of ['r2', 'h1', 'r'.repeat(65), ''])
      expect((await send(server, `/hooks/runs/${id}`, get)).status).toBe(id === '' ? 405 : 404);
  });

  test('needs the token, and only GET', async () => {
    const server = await startTestServer({ hooks: { exposeRuns: true }, storage });
    expect((await send(server, '/hooks/runs/r1', { method: 'GET', headers: {} })).status).toBe(401);
    const reply = await send(server, '/hooks/runs/r1', { body: '{}' });
    expect([reply.status, reply.headers['allow']]).toEqual([405, 'GET']);
  });

  test('is 404 where runs are not exposed', async () => {
    const server = await startTestServer({ storage });
    expect((await send(server, '/hooks/runs/r1', get)).status).toBe(404);
    expect((await send(server, '/hooks/runs/r1', { method: 'GET', headers: {} })).status).toBe(401);
  });
});
