import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import { afterEach, describe, expect, test } from 'vitest';
import { approvalLink, readApprovalName } from '../../../src/service/generation/generation.ts';
import {
  type AgentRun,
  type Approval,
  type ApprovalAnswer,
  type RunRecord,
  SUPERSEDED,
} from '../../../src/engine/storage/storage.ts';
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
  TOKEN,
  wakeAction,
} from '../../support/server-fixture.ts';

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

describe('the link of a run that waits for an approval', () => {
  const asked = {
    runId: '5f0c0000-0000-4000-8000-000000000000',
    expiresAt: Date.now() + 60_000,
    nonce: '5'.repeat(32),
  };
  const form = { 'content-type': 'application/x-www-form-urlencoded' };

  const open: Approval = { expiresAt: asked.expiresAt, nonce: asked.nonce };

  /** A store with one run that somebody is asked about, and the answers that it was given. */
  function waiting(approval: Approval | undefined = open) {
    const answers: ApprovalAnswer[] = [];
    const run = runOf(asked.runId, { state: 'queued', approval });
    const message = `Deploy <b>main</b> & more?${' pay\u202eme'.repeat(1_000)}`;
    const action = { ...run.action, message, approve: { channel: 'slack', withinSeconds: 60 } };
    const open = [
      { ...run, action },
      { ...run, id: 'second', action },
    ] as readonly AgentRun[];
    const storage = {
      findRun: (id: string) => Promise.resolve(id === asked.runId ? open[0] : undefined),
      findAsked: () => Promise.resolve(run.approval === undefined || run.approval.decision ? [] : open),
      decideApproval: (_id: string, { nowMs: at, ...answer }: ApprovalAnswer) => {
        answers.push({ ...answer, nowMs: at });
        return Promise.resolve({ approval: { ...approval, ...answer, at }, isFirst: true, runs: 2 });
      },
    };
    return { answers, storage };
  }
  const hooks = { token: TOKEN, previousTokens: ['old-token-0123456789'] };
  const generation = { askedBy: (name: string) => readApprovalName(name, hooks), knowsName: () => false };
  const settingsOf = (token: string) =>
    ({ server: { publicUrl: 'https://x/' }, hooks: { token, path: '/hooks' } }) as Parameters<
      typeof approvalLink
    >[1];
  const addressOf = (token = TOKEN, one = asked): string =>
    approvalLink(one, settingsOf(token))?.replace('https://x', '') ?? '';

  test('shows what is asked, as often as it is opened, and decides nothing by that', async () => {
    const { answers, storage } = waiting();
    const server = await startTestServer({ storage, generation });
    const previews = [
      'Slackbot-LinkExpanding 1.0',
      'facebookexternalhit/1.1',
      'TelegramBot (like TwitterBot)',
    ];
    // Some programs take what stands behind a link for a part of it.
    const ways = ['GET', 'HEAD', 'GET'].flatMap((method, index) =>
      ['', '.', ')', '?utm_source=mail', '/'].map((tail) => [method, tail, previews[index]] as const),
    );
    for (const [method, tail, agent = ''] of ways) {
      const reply = await send(server, addressOf() + tail, { method, headers: { 'user-agent': agent } });
      expect(reply.status).toBe(200);
      expect(reply.headers).toMatchObject({
        'content-type': 'text/html; charset=utf-8',
        'cache-control': 'no-store',
        'referrer-policy': 'no-referrer',
        'content-security-policy': expect.stringContaining("default-src 'none'"),
      });
      if (method !== 'GET') continue;
      expect(reply.text).toContain('Deploy &lt;b&gt;main&lt;/b&gt; &amp; more?');
      expect(reply.text.match(/ pay\[U\+202E\]me/g)).toHaveLength(2_000);
      expect(reply.text).not.toContain('\u202e');
      expect(reply.text).toContain(`Run ${asked.runId}<br>Run second`);
    }
    expect(answers).toEqual([]);
    expect(JSON.stringify([server.log, server.decisions, server.strangers])).not.toContain(
      addressOf().slice(-48),
    );
  });

  test.each([
    ['not answered in time', open, { state: 'dead' }],
    ['dropped', open, { state: 'completed', lastError: { code: 'dropped', message: '' } }],
    ['ended with its conversation', open, { state: 'completed', lastError: SUPERSEDED }],
  ] as const)('says to a late answer that the run was %s', async (said, approval, end) => {
    const { storage } = waiting();
    const findRun = async () => ({ ...(await storage.findRun(asked.runId)), approval, ...end }) as RunRecord;
    const decideApproval = () => Promise.resolve({ approval, isFirst: false, runs: 0 });
    const server = await startTestServer({ storage: { findRun, decideApproval }, generation });
    for (const options of [
      { method: 'GET', headers: {} },
      { body: 'decision=approve', headers: form },
    ]) {
      const { text } = await send(server, addressOf(), options);
      expect(text).toContain(`<strong>${said}</strong>`);
      expect(text).not.toContain('<form');
      expect(text).not.toContain('Deploy');
    }
  });

  // Who knows the hook token, as senders do, can make the proof of a link, and has nothing that only the message has.
  test.each([
    ['that nobody is asked about', undefined, undefined],
    ['that has ended', undefined, { state: 'completed' }],
    ['that is begun by hand', undefined, { state: 'active' }],
    ['with another random part', { ...open, nonce: '6'.repeat(32) }, undefined],
    ['that is denied, with another random part', { ...open, nonce: '6'.repeat(32), decision: 'denied' }, {}],
    ['with an empty random part', { ...open, nonce: '' }, undefined],
  ] as const)('that was made up shows nothing of a run %s', async (_which, approval, more) => {
    const { storage, answers } = waiting(approval);
    const findRun = async () => ({ ...(await storage.findRun(asked.runId)), approval, ...more }) as RunRecord;
    const server = await startTestServer({ storage: { ...storage, findRun }, generation });
    const unknown = await startTestServer({ generation });
    for (const options of [
      { method: 'GET', headers: {} },
      { body: 'decision=approve', headers: form },
      { method: 'PUT', body: 'x', headers: form },
    ]) {
      const [reply, ofNone] = [
        await send(server, addressOf(), options),
        await send(unknown, addressOf(), options),
      ];
      expect(reply.status).toBe(404);
      const withoutId = (text: string) => text.replace(/"requestId":"[^"]*"/, '');
      expect(withoutId(reply.text)).toBe(withoutId(ofNone.text));
    }
    expect(answers).toEqual([]);
  });

  test('takes the answer of its form, and says what holds', async () => {
    const { answers, storage } = waiting();
    const server = await startTestServer({ storage, generation });
    const post = (body: string) => send(server, addressOf(), { body, headers: form });
    expect((await post('decision=maybe')).status).toBe(400);
    expect((await post('decision=approve')).text).toContain('<strong>approved</strong>');
    expect((await post('decision=deny')).text).toContain('<strong>denied</strong>');
    expect(answers).toMatchObject([
      { decision: 'approved', by: 'link' },
      { decision: 'denied', by: 'link' },
    ]);
    const decided = { ...open, decision: 'denied', by: 'console', at: 1 } as const;
    const late = await startTestServer({ storage: waiting(decided).storage, generation });
    const page = (await send(late, addressOf(), { method: 'GET', headers: {} })).text;
    expect(page).toContain('<strong>denied</strong>');
    expect(page).not.toContain('<form');
  });

  test('is worth nothing for another run, time or token, and stands in no log and no decision', async () => {
    const { answers, storage } = waiting();
    const server = await startTestServer({ storage, generation });
    const [, path = '', mac = ''] = /^(.+)\.(.+)$/.exec(addressOf()) ?? [];
    for (const wrong of [
      addressOf('another-token-0123456789'),
      addressOf(TOKEN, { ...asked, runId: 'other' }),
      // Who knows the hook token, as senders do, can make a proof.
      addressOf(TOKEN, { ...asked, nonce: '0'.repeat(32) }),
      `${path.slice(0, -1)}9.${mac}`,
      `${path}.${mac.slice(1)}A`,
    ]) {
      const reply = await send(server, wrong, { body: 'decision=approve', headers: form });
      expect([401, 404], wrong).toContain(reply.status);
    }
    expect(
      (await send(server, addressOf('old-token-0123456789'), { method: 'GET', headers: {} })).status,
    ).toBe(200);
    expect((await send(server, addressOf(), { method: 'PUT', body: 'x', headers: form })).status).toBe(405);
    expect(answers).toEqual([]);
    expect(JSON.stringify([server.log, server.decisions, server.strangers])).not.toContain(mac);
  });
});
