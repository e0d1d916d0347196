import { afterEach, describe, expect, test } from 'vitest';
import { type Finding, quoted, type RequestFindingJson } from '../../../src/base/finding.ts';
import {
  BEARER,
  evaluationOf,
  json,
  send,
  startTestServer,
  stopServers,
  TOKEN,
  wakeAction,
  agentAction,
} from '../../support/server-fixture.ts';

afterEach(stopServers);

/** A warning as an evaluation has it. */
const asFinding = ({ code, field, message }: RequestFindingJson): Finding => ({
  severity: 'warning',
  code,
  message: quoted(message),
  ...(field === undefined ? {} : { subject: { field } }),
});

describe('answers', () => {
  test('a wake is answered 200 with its mode and id', async () => {
    const server = await startTestServer();
    const reply = await send(server, '/hooks/wake', { body: '{"text":"hello"}' });
    expect(reply.status).toBe(200);
    expect(json(reply)).toEqual({ ok: true, mode: 'now', id: server.accepted[0]?.actions[0]?.id });
    expect(reply.headers['content-type']).toBe('application/json');
    expect(reply.headers['x-request-id']).toBe(server.accepted[0]?.requestId);
    expect(reply.headers['cache-control']).toBe('no-store');
    expect(reply.headers['x-content-type-options']).toBe('nosniff');
  });

  test('an agent request is answered 202 with its run id', async () => {
    const server = await startTestServer();
    const reply = await send(server, '/hooks/agent', { body: '{"message":"hello"}' });
    expect(reply.status).toBe(202);
    expect(json(reply)).toEqual({ ok: true, runId: server.accepted[0]?.actions[0]?.id });
  });

  test('several actions are answered 202 with the ids of events and runs in order', async () => {
    const server = await startTestServer({
      generation: {
        evaluate: (request) =>
          evaluationOf({
            kind: 'accepted',
            actions: [agentAction(request, 'r1'), wakeAction(request, 'e1'), agentAction(request, 'r2')],
          }),
      },
    });
    const reply = await send(server, '/hooks/batch', { body: '{}' });
    expect(reply.status).toBe(202);
    expect(json(reply)).toEqual({ ok: true, ids: ['e1'], runIds: ['r1', 'r2'] });
  });

  test('several wakes are answered 200', async () => {
    const server = await startTestServer({
      generation: {
        evaluate: (request) =>
          evaluationOf({ kind: 'accepted', actions: [wakeAction(request, 'e1'), wakeAction(request, 'e2')] }),
      },
    });
    const reply = await send(server, '/hooks/batch', { body: '{}' });
    expect(reply.status).toBe(200);
    expect(json(reply)).toEqual({ ok: true, ids: ['e1', 'e2'], runIds: [] });
  });

  test('a skipped hook is answered 204 without a body and stores nothing', async () => {
    const server = await startTestServer({
      generation: { evaluate: () => evaluationOf({ kind: 'skipped', by: 'action' }) },
    });
    const reply = await send(server, '/hooks/anything', { body: '{}' });
    expect(reply.status).toBe(204);
    expect(reply.text).toBe('');
    expect(server.accepted).toEqual([]);
    expect(server.decisions[0]?.outcome).toBe('skipped');
  });

  test('warnings stand in the answer', async () => {
    const warnings = [{ code: 'unknown_field', field: 'chanelId', message: 'ignored: "chänelId" ✓' }];
    const server = await startTestServer({
      generation: {
        evaluate: (request) =>
          evaluationOf(
            { kind: 'accepted', actions: [agentAction(request)] },
            { warnings: warnings.map(asFinding) },
          ),
      },
    });
    const reply = await send(server, '/hooks/agent', { body: '{}' });
    expect(json(reply)['warnings']).toEqual(warnings);
  });

  test('what a mapping is warned of is not told to the sender, and a transform least of all', async () => {
    const warnings = [
      { code: 'undefined_as_text', message: 'the transform wrote "undefined": write payload.name ?? "none"' },
      { code: 'unknown_field', field: 'agentId', message: 'agentId was ignored' },
    ];
    const server = await startTestServer({
      generation: {
        evaluate: (request) =>
          evaluationOf(
            { kind: 'accepted', actions: [agentAction(request)] },
            { warnings: warnings.map(asFinding) },
          ),
      },
    });
    const mapped = await send(server, '/hooks/mapped', { body: '{}' });
    expect(json(mapped)['warnings']).toBeUndefined();
    const own = await send(server, '/hooks/agent', { body: '{}' });
    expect(json(own)['warnings']).toEqual([warnings[1]]);
    expect(server.accepted.map((work) => work.warnings)).toEqual([[], [warnings[1]]]);
  });

  test('a missing token is answered 401 and nothing reaches the store', async () => {
    const server = await startTestServer();
    const reply = await send(server, '/hooks/wake', { headers: {}, body: '{"text":"x"}' });
    expect(reply.status).toBe(401);
    expect(json(reply)).toMatchObject({
      code: 'unauthorized',
      ok: false,
      type: 'urn:sluice:error:unauthorized',
    });
    expect(reply.headers['content-type']).toBe('application/problem+json');
    expect(reply.headers['www-authenticate']).toBe('Bearer realm="hooks"');
    expect([server.accepted, server.decisions, server.evaluated]).toEqual([[], [], []]);
  });

  test('the token reaches neither evaluation nor log', async () => {
    const server = await startTestServer();
    await send(server, `/hooks/wake?token=${TOKEN}&a=1`, { headers: {}, body: '{}' });
    await send(server, '/hooks/wake', { headers: { ...BEARER, 'x-service-token': TOKEN }, body: '{}' });
    expect(server.evaluated).toHaveLength(2);
    expect(server.evaluated[0]?.url).toBe('/hooks/wake?a=1');
    expect(JSON.stringify([server.evaluated, server.log, server.decisions])).not.toContain(TOKEN);
  });
});
