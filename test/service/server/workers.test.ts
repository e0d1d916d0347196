import { afterEach, beforeEach, expect, test } from 'vitest';
import { compileTokens } from '../../../src/service/server/authenticate.ts';
import type { ServerDeps } from '../../../src/service/server/deps.ts';
import { HookError } from '../../../src/base/errors.ts';
import { startTestServer, stopServers, TOKEN, type TestServerOptions } from '../../support/server-fixture.ts';

afterEach(stopServers);

const tokensOf = (...previousTokens: string[]) => compileTokens({ previousTokens, queryToken: 'reject' });
const OF_LAPTOP = 'token-of-the-laptop-0123456789abcdef';
const ROTATED = 'next-token-of-the-laptop-0123456789a';
const OF_OFFICE = 'token-of-the-office-0123456789abcdef';
const workers = [
  { runner: 'laptop', tokens: tokensOf(OF_LAPTOP, ROTATED), maxReplyBytes: 1_000 },
  { runner: 'office', tokens: tokensOf(OF_OFFICE), maxReplyBytes: 1_000 },
];

type Asked = Parameters<NonNullable<ServerDeps['answerWorker']>>[0];
let asked: Omit<Asked, 'signal'>[] = [];
let answer: (question: Asked) => Promise<object>;

beforeEach(() => {
  asked = [];
  answer = () => Promise.resolve({ ok: true });
});

const open = ({ deps, ...options }: TestServerOptions = {}) =>
  startTestServer({
    generation: { workers },
    ...options,
    deps: {
      answerWorker: ({ signal, ...question }) => {
        asked.push(question);
        return answer({ signal, ...question });
      },
      ...deps,
    },
  });

async function post(url: string, path: string, token?: string, body = '{}', method: 'POST' | 'PUT' = 'POST') {
  const headers = token === undefined ? {} : { authorization: `Bearer ${token}` };
  const response = await fetch(`${url}${path}`, { method, headers, body });
  const text = await response.text();
  return { status: response.status, body: (text === '' ? {} : JSON.parse(text)) as Record<string, unknown> };
}

test('is nothing at all where no runner is of this kind', async () => {
  const { url } = await open({ generation: { workers: [] } });
  expect(await post(url, '/workers/runs:take', OF_LAPTOP)).toMatchObject({ status: 404 });
  expect(asked).toEqual([]);
});

test('asks for the token of a runner, one of several, and says whose it is', async () => {
  const { url, decisions, strangers } = await open();
  for (const token of [OF_LAPTOP, ROTATED, OF_OFFICE])
    expect(await post(url, '/workers/runs:take', token)).toMatchObject({ status: 200 });
  await post(url, '/workers/runs/run-1:renew', OF_LAPTOP, '{"attempt":"a"}');
  await post(url, '/workers/runs/run-1:finish', OF_LAPTOP, '');
  expect(asked).toEqual([
    { runner: 'laptop', action: 'take', runId: undefined, body: {} },
    { runner: 'laptop', action: 'take', runId: undefined, body: {} },
    { runner: 'office', action: 'take', runId: undefined, body: {} },
    { runner: 'laptop', action: 'renew', runId: 'run-1', body: { attempt: 'a' } },
    { runner: 'laptop', action: 'finish', runId: 'run-1', body: {} },
  ]);
  expect([decisions, strangers]).toEqual([[], []]);
});

test('answers strangers alike whatever they ask, and counts them against their address', async () => {
  const server = await open({ hooks: { authFailuresPerMinute: 6 } });
  const answers = [];
  for (const [path, token] of [
    ['/workers/runs:take', undefined],
    ['/workers/runs:take', TOKEN],
    ['/workers/runs:take', `${OF_LAPTOP}x`],
    ['/workers/runs/run-1:finish', 'x'],
    ['/workers/nothing', 'x'],
    ['/hooks/agent', 'x'],
  ] as const)
    answers.push(await post(server.url, path, token));
  const [first] = answers;
  for (const { status, body } of answers) {
    expect(status).toBe(401);
    expect({ ...body, requestId: '' }).toEqual({ ...first?.body, requestId: '' });
  }
  // The hooks and the workers share one limit.
  expect(await post(server.url, '/workers/runs:take', 'x')).toMatchObject({ status: 429 });
  expect(asked).toEqual([]);
  expect(JSON.stringify([server.strangers, server.log])).not.toContain(OF_LAPTOP);
});

test('bounds bodies, and says what is no question', async () => {
  const { url, decisions } = await open();
  const long = JSON.stringify({ reply: 'x'.repeat(70_000) });
  const ask = (path: string, body?: string, method?: 'PUT') => post(url, path, OF_LAPTOP, body, method);
  expect(await ask('/workers/runs/run-1:finish', long)).toMatchObject({ status: 413 });
  expect(await ask('/workers/runs:take', '{')).toMatchObject({ status: 400, body: { code: 'invalid_json' } });
  expect(await ask('/workers/runs:give')).toMatchObject({ status: 404 });
  expect(await ask('/workers/runs:take', '{}', 'PUT')).toMatchObject({ status: 405 });
  expect(asked).toEqual([]);
  answer = () => Promise.reject(new HookError('attempt_over', 'the run has ended'));
  expect(await ask('/workers/runs/run-1:renew')).toMatchObject({
    status: 409,
    body: { code: 'attempt_over' },
  });
  expect(decisions).toEqual([]);
});

test('lets a question go whose sender has left, and answers those that wait when it stops', async () => {
  const signals: AbortSignal[] = [];
  answer = ({ signal }) => {
    signals.push(signal);
    return new Promise((resolve) => signal.addEventListener('abort', () => resolve({ run: null })));
  };
  const server = await open();
  const left = new AbortController();
  const headers = { authorization: `Bearer ${OF_LAPTOP}` };
  const leaving = fetch(`${server.url}/workers/runs:take`, { method: 'POST', headers, signal: left.signal });
  await expect.poll(() => signals.length).toBe(1);
  left.abort();
  await expect(leaving).rejects.toThrow();
  await expect.poll(() => signals[0]?.aborted).toBe(true);
  const waiting = post(server.url, '/workers/runs:take', OF_LAPTOP);
  await expect.poll(() => signals.length).toBe(2);
  await server.stop();
  expect(await waiting).toMatchObject({ status: 200, body: { run: null } });
});

test('a port of their own takes workers only, and that of hooks takes none then', async () => {
  const { url, workersUrl = '' } = await open({ deps: { workersAt: { host: '127.0.0.1', port: 0 } } });
  expect(await post(workersUrl, '/workers/runs:take', OF_LAPTOP)).toMatchObject({ status: 200 });
  expect(await post(url, '/workers/runs:take', OF_LAPTOP)).toMatchObject({ status: 404 });
  expect(await post(workersUrl, '/hooks/agent', TOKEN)).toMatchObject({ status: 404 });
  expect(await post(url, '/hooks/agent', TOKEN)).toMatchObject({ status: 202 });
  expect(await post(workersUrl, '/workers/runs:take', 'x')).toMatchObject({ status: 401 });
});

test('a stranger costs at the paths of workers what it costs at those of hooks', async () => {
  const server = await open({ hooks: { authFailuresPerMinute: 1_000_000 } });
  /** Processor time of this process, in which server and strangers are alike in all but the path. */
  const costOf = async (path: string): Promise<number> => {
    const before = process.cpuUsage();
    for (let count = 0; count < 60; count += 1) await post(server.url, path, `wrong-${count}`);
    const { user, system } = process.cpuUsage(before);
    return user + system;
  };
  const costs = { workers: Infinity, hooks: Infinity };
  for (let round = 0; round < 8; round += 1) {
    costs.hooks = Math.min(costs.hooks, await costOf('/hooks/agent'));
    costs.workers = Math.min(costs.workers, await costOf('/workers/runs:take'));
  }
  expect(costs.workers / costs.hooks).toBeLessThan(1.5);
  expect(asked).toEqual([]);
});
