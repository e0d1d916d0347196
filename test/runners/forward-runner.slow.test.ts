import { setTimeout as delay } from 'node:timers/promises';
import { describe, expect, onTestFinished, test } from 'vitest';
import type { SafeText } from '../../src/action.ts';
import { createForwardRunner } from '../../src/runners/forward-runner.ts';
import type { Turn, TurnResult } from '../../src/runners/runner.ts';
import {
  findClosedUrl,
  type PlatformReply,
  type ReceivedRequest,
  startPlatform,
} from '../support/platform-server.ts';

const TOKEN = 'remote-hook-token-0123456789';
const TURN: Turn = {
  runId: '0b7c7c1e-1111-4222-8333-444455556666',
  kind: 'hook',
  attempt: 1,
  sessionKey: 'hook:github:acme/app',
  sessionId: '0b1e7c3a-5d2f-8a4b-9c6d-1e2f3a4b5c6d',
  name: 'GitHub',
  prompt: 'Summarise this push.' as SafeText,
  message: 'raw',
  timeoutSeconds: 30,
  history: [],
};
const OPTIONS = { signal: new AbortController().signal, onProcess: () => Promise.resolve() };

async function forward(
  reply: PlatformReply,
  turn: Partial<Turn> = {},
): Promise<{ result: TurnResult; requests: readonly ReceivedRequest[] }> {
  const platform = await startPlatform(() => reply);
  onTestFinished(platform.stop);
  const runner = createForwardRunner({ kind: 'forward', url: `${platform.url}/hooks/`, token: TOKEN });
  const result = await runner.run({ ...TURN, ...turn }, OPTIONS);
  expect(JSON.stringify(result)).not.toContain(TOKEN);
  return { result, requests: platform.requests };
}

const accepted = { status: 202, body: { ok: true, runId: 'r-1' } } as const;

describe('a forwarded turn', () => {
  test('reaches /agent of the other gateway with its token, and comes back with the reply', async () => {
    const answer = { ok: true, runId: 'r-1', state: 'completed', outcome: 'ok', reply: 'Three commits.' };
    const { requests, result } = await forward(
      { status: 200, body: answer },
      { model: 'a/b', thinking: 'low' },
    );
    expect(result).toEqual({ kind: 'completed', outcome: 'ok', reply: 'Three commits.' });
    expect(requests).toMatchObject([
      {
        method: 'POST',
        path: '/hooks/agent',
        headers: {
          authorization: `Bearer ${TOKEN}`,
          'content-type': 'application/json',
          'idempotency-key': TURN.runId,
          prefer: 'wait=30',
        },
      },
    ]);
    expect(requests[0]?.body).toEqual({
      message: 'Summarise this push.',
      name: 'GitHub',
      sessionKey: 'hook:github:acme/app',
      wakeMode: 'next-heartbeat',
      deliver: false,
      timeoutSeconds: 30,
      model: 'a/b',
      thinking: 'low',
    });
  });

  test('is acknowledged by a gateway that does not wait', async () => {
    const { requests, result } = await forward(accepted);
    expect(result).toEqual({
      kind: 'completed',
      outcome: 'ok',
      reply: 'Accepted by the other gateway as run r-1.',
    });
    expect(requests).toHaveLength(1);
  });

  test('is asked for again under the same key when the wait was over before the run', async () => {
    const ended = { ok: true, runId: 'r-1', state: 'completed', outcome: 'ok', reply: 'Done.' };
    const held = async (): Promise<void> => delay(1600);
    const platform = await startPlatform((_, index) =>
      index === 0 ? { ...accepted, after: held() } : { status: 200, body: ended },
    );
    onTestFinished(platform.stop);
    const runner = createForwardRunner({ kind: 'forward', url: `${platform.url}/hooks`, token: TOKEN });
    const running = runner.run({ ...TURN, timeoutSeconds: 3 }, OPTIONS);
    expect(await running).toMatchObject({ outcome: 'ok', reply: 'Done.' });
    const [before, after] = platform.requests;
    expect(after?.text).toBe(before?.text);
    expect(after?.headers['idempotency-key']).toBe(before?.headers['idempotency-key']);
  });

  test('ends as it ended there', async () => {
    for (const [body, expected] of [
      [
        {
          state: 'completed',
          outcome: 'timeout',
          reply: 'half',
          error: { code: 'timeout', message: 'over' },
        },
        { outcome: 'timeout', reply: 'half', error: { code: 'timeout', message: 'over' } },
      ],
      [
        { state: 'completed', outcome: 'error', reply: '', error: { code: 'exit_code', message: 'exit 1' } },
        { outcome: 'error', reply: '', error: { code: 'exit_code', message: 'exit 1' } },
      ],
      [
        { state: 'dead' },
        { outcome: 'error', reply: '', error: { code: 'remote_error', message: expect.any(String) } },
      ],
    ] as const) {
      const { result } = await forward({ status: 200, body: { ok: true, runId: 'r-1', ...body } });
      expect(result).toEqual({ kind: 'completed', ...expected });
    }
  });

  test('has not started where the gateway is busy, unavailable or not there', async () => {
    for (const [status, headers, expected] of [
      [429, { 'retry-after': '5' }, { code: 'rate_limited', retryAfterMs: 5000 }],
      [503, { 'retry-after': '2' }, { code: 'unavailable', retryAfterMs: 2000 }],
      [503, {}, { code: 'unavailable' }],
    ] as const) {
      const { requests, result } = await forward({ status, headers, body: { ok: false } });
      expect(result).toEqual({
        kind: 'not-started',
        final: false,
        affects: 'model',
        message: expect.any(String),
        ...expected,
      });
      expect(requests).toHaveLength(1);
    }
    const runner = createForwardRunner({ kind: 'forward', url: await findClosedUrl(), token: TOKEN });
    expect(await runner.run(TURN, OPTIONS)).toMatchObject({
      kind: 'not-started',
      code: 'connection_refused',
      affects: 'runner',
      final: false,
    });
  });

  test('is over when the gateway refuses it, with the reason of either kind of gateway', async () => {
    for (const [reply, code, message] of [
      [
        { status: 400, body: { code: 'model_not_allowed', detail: 'the model is not allowed', ok: false } },
        'model_not_allowed',
        'the other gateway answered 400: the model is not allowed',
      ],
      [{ status: 400, body: { ok: false, error: 'message required' } }, 'rejected', /400: message required$/],
      [
        { status: 401, headers: { 'content-type': 'text/plain' }, body: 'Unauthorized' },
        'unauthorized',
        /401$/,
      ],
      [{ status: 404, headers: { 'content-type': 'text/plain' }, body: 'Not Found' }, 'rejected', /404$/],
      [{ status: 500, body: { ok: false, error: 'hook mapping failed' } }, 'remote_error', /500$/],
    ] as const) {
      const { requests, result } = await forward(reply);
      expect(result).toMatchObject({
        kind: 'completed',
        outcome: 'error',
        error: { code, message: typeof message === 'string' ? message : expect.stringMatching(message) },
      });
      expect(requests).toHaveLength(1);
    }
  });

  test('may have run when the gateway hangs or breaks off: it is not repeated', async () => {
    const hung = await forward('hang', { timeoutSeconds: 0.3 });
    expect(hung.result).toMatchObject({
      kind: 'completed',
      outcome: 'timeout',
      error: { code: 'ambiguous' },
    });
    for (const reply of ['cut', 'reset'] as const) {
      const { requests, result } = await forward(reply);
      expect(result).toMatchObject({ kind: 'completed', outcome: 'error', error: { code: 'ambiguous' } });
      expect(requests).toHaveLength(1);
    }
  });
});

test('a turn of the main session wakes the main session of the other gateway', async () => {
  const heartbeat = { kind: 'heartbeat', runId: 'turn-9' } as const;
  const { requests, result } = await forward({ status: 200, body: { ok: true, mode: 'now' } }, heartbeat);
  expect(result).toEqual({ kind: 'completed', outcome: 'ok', reply: 'HEARTBEAT_OK' });
  expect(requests).toMatchObject([
    {
      path: '/hooks/wake',
      body: { text: 'Summarise this push.', mode: 'now' },
      headers: { 'idempotency-key': 'turn-9' },
    },
  ]);
  const refused = await forward({ status: 401, body: 'Unauthorized' }, heartbeat);
  expect(refused.result).toMatchObject({
    kind: 'completed',
    outcome: 'error',
    error: { code: 'unauthorized' },
  });
});
