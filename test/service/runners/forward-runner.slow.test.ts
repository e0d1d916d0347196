import { setTimeout as delay } from 'node:timers/promises';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import type { SafeText } from '../../../src/base/action.ts';
import { createForwardRunner } from '../../../src/service/runners/forward-runner.ts';
import type { Turn, TurnResult } from '../../../src/service/runners/runner.ts';
import {
  findClosedUrl,
  type PlatformReply,
  type ReceivedRequest,
  startPlatform,
} from '../../support/platform-server.ts';

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

const settingsFor = (url: string) =>
  ({ kind: 'forward', url, token: TOKEN, forwardSummaries: false }) as const;

/** What Sluice answers to the question which gateway it is. */
const SLUICE: PlatformReply = {
  status: 404,
  headers: { 'content-type': 'application/problem+json' },
  body: { title: 'Not found', status: 404, code: 'not_found' },
};
/** What OpenClaw 2026.9.6 answers to it. */
const OPENCLAW: PlatformReply = {
  status: 405,
  headers: { 'content-type': 'text/plain' },
  body: 'Method Not Allowed',
};

const isQuestion = ({ path }: ReceivedRequest): boolean => path.endsWith('/runs/0');

/** A gateway of a kind; the question which it is does not count among its requests. */
async function startGateway(
  kind: PlatformReply,
  reply: (request: ReceivedRequest, index: number) => PlatformReply,
): Promise<{
  readonly url: string;
  readonly requests: () => readonly ReceivedRequest[];
  stop(): Promise<void>;
}> {
  let asked = 0;
  const platform = await startPlatform((request) => {
    if (isQuestion(request)) return kind;
    asked += 1;
    return reply(request, asked - 1);
  });
  return { ...platform, requests: () => platform.requests.filter((request) => !isQuestion(request)) };
}

async function forward(
  reply: PlatformReply,
  turn: Partial<Turn> = {},
  kind = SLUICE,
): Promise<{ result: TurnResult; requests: readonly ReceivedRequest[] }> {
  const platform = await startGateway(kind, () => reply);
  onTestFinished(platform.stop);
  const runner = createForwardRunner(settingsFor(`${platform.url}/hooks/`), 'other');
  const result = await runner.run({ ...TURN, ...turn }, OPTIONS);
  expect(JSON.stringify(result)).not.toContain(TOKEN);
  return { result, requests: platform.requests() };
}

const accepted = { status: 202, body: { ok: true, runId: 'r-1' } } as const;
const ended = {
  status: 200,
  body: { ok: true, runId: 'r-1', state: 'completed', outcome: 'ok', reply: 'Done.' },
} as const;

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

  test('brings a reply of several megabytes, which the other gateway allows its runners', async () => {
    const reply = 'ä"'.repeat(1_000_000);
    const { requests, result } = await forward({ ...ended, body: { ...ended.body, reply } });
    expect(result).toEqual({ kind: 'completed', outcome: 'ok', reply });
    expect(requests).toHaveLength(1);
  });

  test('is asked for again where the other Sluice did not wait: it stops, too many wait, or this one slept', async () => {
    const now = performance.now.bind(performance);
    let sleptMs = 0;
    vi.spyOn(performance, 'now').mockImplementation(() => now() + sleptMs);
    onTestFinished(() => void vi.restoreAllMocks());
    const platform = await startGateway(SLUICE, (_, index) => {
      if (index === 1) sleptMs = 3_600_000;
      return index < 2 ? accepted : ended;
    });
    onTestFinished(platform.stop);
    const runner = createForwardRunner(settingsFor(`${platform.url}/hooks`), 'other');
    expect(await runner.run(TURN, OPTIONS)).toMatchObject({ outcome: 'ok', reply: 'Done.' });
    const asked = platform.requests().map(({ headers }) => [headers['idempotency-key'], headers['prefer']]);
    expect(asked).toEqual(Array.from({ length: 3 }, () => [TURN.runId, 'wait=30']));
  });

  test('that nobody gave a session key leaves the key to the other gateway', async () => {
    const { requests } = await forward(ended, { isOneShot: true });
    expect(requests[0]?.body).not.toHaveProperty('sessionKey');
  });

  test('that is begun anew has another key than the one that ended', async () => {
    const { requests } = await forward(ended, { endedBeforeAt: 1_234 });
    expect(requests[0]?.headers['idempotency-key']).toBe(`${TURN.runId}-1234`);
  });

  test('is asked for again under the same key when the wait was over before the run', async () => {
    const held = async (): Promise<void> => delay(1600);
    const platform = await startGateway(SLUICE, (_, index) =>
      index === 0 ? { ...accepted, after: held() } : ended,
    );
    onTestFinished(platform.stop);
    const runner = createForwardRunner(settingsFor(`${platform.url}/hooks`), 'other');
    const running = runner.run({ ...TURN, timeoutSeconds: 3 }, OPTIONS);
    expect(await running).toMatchObject({ outcome: 'ok', reply: 'Done.' });
    const [before, after] = platform.requests();
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
        { state: 'completed', outcome: 'forwarded', reply: '' },
        { outcome: 'forwarded', reply: '', remark: expect.any(String) },
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
      [408, {}, { code: 'unavailable' }],
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
    const runner = createForwardRunner(settingsFor(await findClosedUrl()), 'other');
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

  test('gets the end of a run that was taken, whatever trouble the gateway has meanwhile', async () => {
    const busy = { status: 503, headers: { 'retry-after': '1' }, body: { ok: false } } as const;
    const broken = { status: 500, body: { ok: false, code: 'internal' } } as const;
    // A proxy that stops waiting, or whose connection breaks, may have passed the run on.
    const proxy = { status: 504, body: 'Gateway Timeout' } as const;
    const troubles: readonly (readonly PlatformReply[])[] = [
      ['cut'],
      ['reset', busy, broken],
      ['reset', accepted, 'cut'],
      [proxy, busy],
      [{ ...proxy, status: 502 }],
    ];
    for (const trouble of troubles) {
      const platform = await startGateway(SLUICE, (_, index): PlatformReply => trouble[index] ?? ended);
      onTestFinished(platform.stop);
      const runner = createForwardRunner(settingsFor(`${platform.url}/hooks`), 'other');
      expect(await runner.run(TURN, OPTIONS)).toMatchObject({ outcome: 'ok', reply: 'Done.' });
      const keys = platform.requests().map(({ headers }) => headers['idempotency-key']);
      expect(keys).toEqual([...trouble, 'end'].map(() => TURN.runId));
    }
  });

  test('may have run when the gateway hangs, or is not there again in time', async () => {
    const lost = await forward('reset', { timeoutSeconds: 1 });
    expect(lost.result).toMatchObject({
      kind: 'completed',
      outcome: 'timeout',
      error: { code: 'ambiguous' },
    });
    const hung = await forward('hang', { timeoutSeconds: 0.3 });
    expect(hung.result).toMatchObject({
      kind: 'completed',
      outcome: 'timeout',
      error: { code: 'ambiguous' },
    });
  });
});

describe('where something else answers the question which gateway is there', () => {
  test('a turn has not started after 5xx, or where it asks to come later', async () => {
    for (const status of [408, 429, 500, 502, 503, 504]) {
      const { requests, result } = await forward(accepted, {}, { status, body: 'proxy' });
      expect(result).toMatchObject({ kind: 'not-started', final: false });
      expect(requests).toEqual([]);
    }
  });

  test('it is asked again for the next turn', async () => {
    const backend = { status: 404, body: 'default backend' } as const;
    let questions = 0;
    const platform = await startPlatform((request) => {
      if (isQuestion(request)) return (questions += 1) === 1 ? backend : SLUICE;
      return questions === 1 ? backend : ended;
    });
    onTestFinished(platform.stop);
    const runner = createForwardRunner(settingsFor(`${platform.url}/hooks`), 'other');
    const results = [];
    for (let turn = 0; turn < 3; turn += 1) results.push(await runner.run(TURN, OPTIONS));
    expect(results).toMatchObject([{ error: { code: 'rejected' } }, { reply: 'Done.' }, { reply: 'Done.' }]);
    expect(questions).toBe(2);
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
      headers: { 'idempotency-key': expect.stringMatching(/^turn-9-[0-9a-f]{16}$/) },
    },
  ]);
  // With an event more it is another wake, which the remote would refuse under the same key.
  const more = await forward(
    { status: 200, body: { ok: true } },
    { ...heartbeat, prompt: 'More.' as SafeText },
  );
  expect(more.requests[0]?.headers['idempotency-key']).not.toBe(requests[0]?.headers['idempotency-key']);
  const refused = await forward({ status: 400, body: 'no' }, heartbeat);
  expect(refused.result).toMatchObject({ kind: 'completed', error: { code: 'rejected' } });
});

test('a turn of the main session waits for a gateway that does not take it now', async () => {
  for (const reply of [{ status: 401, body: '' }, { status: 500, body: {} }, 'cut', 'reset'] as const) {
    const { result } = await forward(reply, { kind: 'heartbeat' });
    expect(result).toMatchObject({ kind: 'not-started', final: false, affects: 'runner' });
  }
});

describe('a turn handed to an OpenClaw gateway', () => {
  const done = {
    status: 200,
    body: { ok: true, runId: 'r-1', completion: { status: 'ok', replyDisposition: 'visible' } },
  };

  test('takes its delivery along, and ends as forwarded without a reply', async () => {
    const deliverTo = { channel: 'telegram', to: '42' };
    const { requests, result } = await forward(done, { isOneShot: true, deliverTo }, OPENCLAW);
    expect(result).toEqual({
      kind: 'completed',
      outcome: 'forwarded',
      reply: '',
      remark: 'handed to other, which has answered it',
    });
    expect(requests[0]?.body).toEqual({
      message: 'Summarise this push.',
      name: 'GitHub',
      wakeMode: 'next-heartbeat',
      timeoutSeconds: 30,
      deliver: true,
      channel: 'telegram',
      to: '42',
      waitForCompletion: true,
    });
  });

  test('names no recipient it does not have, and says deliver: false where nothing is delivered', async () => {
    const last = await forward(done, { deliverTo: { channel: 'last' } }, OPENCLAW);
    expect(last.requests[0]?.body).toMatchObject({ deliver: true, sessionKey: 'hook:github:acme/app' });
    expect(last.requests[0]?.body).not.toHaveProperty('channel');
    const none = await forward(done, {}, OPENCLAW);
    expect(none.requests[0]?.body).toMatchObject({ deliver: false });
  });

  test('is an error where it failed there, and forwarded where only its start is told', async () => {
    const failed = { status: 200, body: { ok: true, completion: { status: 'error' } } };
    expect((await forward(failed, {}, OPENCLAW)).result).toMatchObject({
      outcome: 'error',
      error: { code: 'remote_error' },
    });
    const started = { status: 200, body: { ok: true, runId: 'r-1' } };
    expect((await forward(started, {}, OPENCLAW)).result).toMatchObject({
      outcome: 'forwarded',
      remark: 'handed to other',
    });
    expect((await forward({ ...started, status: 202 }, {}, OPENCLAW)).result).toMatchObject({
      outcome: 'forwarded',
    });
  });

  test('that is refused for its session key says which key to set there', async () => {
    const error = 'sessionKey is disabled for externally supplied hook payload values';
    const { result } = await forward({ status: 400, body: { ok: false, error } }, {}, OPENCLAW);
    expect(result).toMatchObject({
      outcome: 'error',
      error: { message: expect.stringContaining('set hooks.allowRequestSessionKey: true there') },
    });
  });

  test('has not started where nobody says which gateway is there', async () => {
    const { result } = await forward(done, { timeoutSeconds: 0.3 }, 'hang');
    expect(result).toMatchObject({ kind: 'not-started', code: 'no_answer', affects: 'runner' });
  });
});
