import { describe, expect, onTestFinished, test } from 'vitest';
import type { SafeText } from '../../../src/base/action.ts';
import type { ProviderSettings } from '../../../src/engine/config/config.ts';
import {
  modelProblems,
  type ModelSettings,
  unknownModel,
} from '../../../src/service/runners/model-problems.ts';
import { createModelRunner } from '../../../src/service/runners/model-runner.ts';
import type { Turn, TurnResult } from '../../../src/service/runners/runner.ts';
import {
  findClosedUrl,
  type PlatformReply,
  type ReceivedRequest,
  startPlatform,
} from '../../support/platform-server.ts';

const KEY = 'sk-test-0123456789';

const TURN: Turn = {
  runId: 'run-1',
  kind: 'hook',
  attempt: 1,
  sessionKey: 'hook:test',
  sessionId: '0b1e7c3a-5d2f-8a4b-9c6d-1e2f3a4b5c6d',
  name: 'Test',
  prompt: 'What happened?' as SafeText,
  message: 'What happened?',
  timeoutSeconds: 20,
  history: [],
};
const OPTIONS = { signal: new AbortController().signal, onProcess: () => Promise.resolve() };

interface Shape {
  readonly provider: Omit<ProviderSettings, 'baseUrl'>;
  readonly model: string;
  readonly path: string;
  isAuthorized(request: ReceivedRequest): boolean;
  text(reply: string): object;
  readonly refusal: object;
  readonly empty: object;
  error(message: string): object;
  /** System text and conversation as they went over the wire. */
  conversation(request: ReceivedRequest): unknown;
  reasoning(request: ReceivedRequest): unknown;
}

const usage = { prompt_tokens: 11, completion_tokens: 7, total_tokens: 18 };
const chat = (message: object, finish = 'stop'): object => ({
  id: 'chatcmpl-1',
  object: 'chat.completion',
  created: 1,
  model: 'm',
  choices: [{ index: 0, message: { role: 'assistant', ...message }, finish_reason: finish }],
  usage,
});
const response = (content: object[]): object => ({
  id: 'resp_1',
  object: 'response',
  created_at: 1,
  status: 'completed',
  model: 'gpt-5',
  output: [{ type: 'message', id: 'msg_1', status: 'completed', role: 'assistant', content }],
  usage: { input_tokens: 11, output_tokens: 7, total_tokens: 18 },
});
const anthropicMessage = (content: object[], stop = 'end_turn'): object => ({
  id: 'msg_1',
  type: 'message',
  role: 'assistant',
  model: 'claude-opus-4-8',
  content,
  stop_reason: stop,
  stop_sequence: null,
  usage: { input_tokens: 11, output_tokens: 7 },
});
const textOf = (content: unknown): unknown =>
  Array.isArray(content) ? content.map((part: { text?: string }) => part.text).join('') : content;
const said = (messages: unknown): unknown =>
  (messages as { role: string; content: unknown }[]).map(
    ({ content, role }) => `${role}: ${String(textOf(content))}`,
  );

const SHAPES: Readonly<Record<string, Shape>> = {
  'an OpenAI-compatible server': {
    provider: { kind: 'openai-compatible', apiKey: KEY, reasoning: true },
    model: 'local/meta/llama-3:8b',
    path: '/v1/chat/completions',
    isAuthorized: ({ body, headers }) =>
      headers['authorization'] === `Bearer ${KEY}` && body?.['model'] === 'meta/llama-3:8b',
    text: (reply) => chat({ content: reply }),
    refusal: chat({ content: null, refusal: 'I cannot help with that.' }),
    empty: chat({ content: '' }),
    error: (message) => ({ error: { message, type: 'server_error', code: null } }),
    conversation: ({ body }) => said(body?.['messages']),
    reasoning: ({ body }) => body?.['reasoning_effort'],
  },
  'the OpenAI API': {
    provider: { kind: 'openai', apiKey: KEY, reasoning: true },
    model: 'local/gpt-5',
    path: '/v1/responses',
    isAuthorized: ({ body, headers }) =>
      headers['authorization'] === `Bearer ${KEY}` && body?.['model'] === 'gpt-5',
    text: (reply) => response([{ type: 'output_text', text: reply, annotations: [] }]),
    refusal: response([{ type: 'refusal', refusal: 'I cannot help with that.' }]),
    empty: response([]),
    error: (message) => ({ error: { message, type: 'server_error', code: null, param: null } }),
    conversation: ({ body }) => said(body?.['input']),
    reasoning: ({ body }) => (body?.['reasoning'] as { effort?: string } | undefined)?.effort,
  },
  'the Anthropic API': {
    provider: { kind: 'anthropic', apiKey: KEY, reasoning: true },
    model: 'local/claude-opus-4-8',
    path: '/v1/messages',
    isAuthorized: ({ body, headers }) =>
      headers['x-api-key'] === KEY && body?.['model'] === 'claude-opus-4-8',
    text: (reply) => anthropicMessage([{ type: 'text', text: reply }]),
    refusal: anthropicMessage([{ type: 'text', text: 'I cannot help with that.' }], 'refusal'),
    empty: anthropicMessage([]),
    error: (message) => ({ type: 'error', error: { type: 'api_error', message } }),
    conversation: ({ body }) => [
      ...(said([{ role: 'system', content: body?.['system'] }]) as string[]),
      ...(said(body?.['messages']) as string[]),
    ],
    reasoning: ({ body }) => (body?.['output_config'] as { effort?: string } | undefined)?.effort,
  },
};

describe.each(Object.entries(SHAPES))('a model behind %s', (_name, shape) => {
  const settingsFor = (url: string): ModelSettings => ({
    kind: 'model',
    providers: { local: { ...shape.provider, baseUrl: `${url}/v1` } },
    system: 'You are terse.',
    maxOutputTokens: 500,
  });

  async function ask(
    reply: PlatformReply,
    turn: Partial<Turn> = {},
  ): Promise<{ result: TurnResult; requests: readonly ReceivedRequest[] }> {
    const platform = await startPlatform(() => reply);
    onTestFinished(platform.stop);
    const runner = createModelRunner(settingsFor(platform.url), { defaultModel: shape.model });
    return { result: await runner.run({ ...TURN, ...turn }, OPTIONS), requests: platform.requests };
  }

  test('answers with its text and what it used', async () => {
    const { result, requests } = await ask({ status: 200, body: shape.text(' A push of 3 commits.\n') });
    expect(result).toEqual({
      kind: 'completed',
      outcome: 'ok',
      reply: 'A push of 3 commits.',
      usage: { inputTokens: 11, outputTokens: 7 },
    });
    expect(requests.map(({ path }) => path)).toEqual([shape.path]);
    expect(requests.every(shape.isAuthorized)).toBe(true);
    expect(requests[0]?.headers['connection']).toBe('close');
    expect(JSON.stringify(requests[0]?.body)).toContain('500');
  });

  test('is sent the system text, the history and the prompt', async () => {
    const { requests } = await ask(
      { status: 200, body: shape.text('ok') },
      {
        history: [
          { role: 'user', text: 'first', at: 1 },
          { role: 'assistant', text: 'second', at: 2 },
          { role: 'user', text: '  ', at: 3 },
        ],
      },
    );
    const [request] = requests;
    expect(request && shape.conversation(request)).toEqual([
      expect.stringMatching(/^(system|developer): You are terse\.$/),
      'user: first',
      'assistant: second',
      'user: What happened?',
    ]);
  });

  test('is told how much to think, where the provider takes that', async () => {
    const answer = { status: 200, body: shape.text('ok') };
    const { requests } = await ask(answer, { thinking: 'medium' });
    expect(requests.map(shape.reasoning)).toEqual(['medium']);
    const unknown = await ask(answer, { thinking: 'galactic' });
    expect(unknown.requests.map(shape.reasoning)).toEqual([undefined]);
    const off = await ask(answer, { thinking: 'off' });
    expect(['none', 'minimal', undefined]).toContain(off.requests.map(shape.reasoning)[0]);
    expect(off.result).toMatchObject({ outcome: 'ok' });
    const platform = await startPlatform(() => answer);
    onTestFinished(platform.stop);
    const { local } = settingsFor(platform.url).providers;
    const silent: ModelSettings = { kind: 'model', providers: { local: { ...local!, reasoning: false } } };
    await createModelRunner(silent, { defaultModel: shape.model }).run(
      { ...TURN, thinking: 'high' },
      OPTIONS,
    );
    expect(platform.requests.map(shape.reasoning)).toEqual([undefined]);
  });

  test('ends the run when it refuses, with its words', async () => {
    const { result } = await ask({ status: 200, body: shape.refusal });
    expect(result).toMatchObject({ kind: 'completed', outcome: 'error', error: { code: 'refused' } });
    expect(result).toMatchObject({ reply: 'I cannot help with that.', usage: { outputTokens: 7 } });
  });

  test('ends the run when it says nothing', async () => {
    const { result } = await ask({ status: 200, body: shape.empty });
    expect(result).toMatchObject({ kind: 'completed', outcome: 'error', error: { code: 'no_text' } });
  });

  test('has not started when it is busy or unavailable or knows no such key, asked once', async () => {
    for (const [status, headers, expected] of [
      [429, { 'retry-after': '7' }, { code: 'rate_limited', retryAfterMs: 7000 }],
      [429, { 'retry-after-ms': '1500' }, { code: 'rate_limited', retryAfterMs: 1500 }],
      [503, {}, { code: 'unavailable' }],
      [529, {}, { code: 'unavailable' }],
      [500, { 'retry-after': '7' }, { code: 'unavailable', retryAfterMs: 7000 }],
      [401, {}, { code: 'unauthorized' }],
      [402, {}, { code: 'no_credit' }],
    ] as const) {
      const { requests, result } = await ask({ status, headers, body: shape.error(`overloaded ${KEY}`) });
      expect(JSON.stringify(result)).not.toContain(KEY);
      expect(result).toEqual({
        kind: 'not-started',
        final: false,
        affects: 'model',
        message: expect.stringContaining('overloaded'),
        ...expected,
      });
      expect(requests).toHaveLength(1);
    }
  });

  test('has not started when nothing listens', async () => {
    const runner = createModelRunner(settingsFor(await findClosedUrl()), { defaultModel: shape.model });
    expect(await runner.run(TURN, OPTIONS)).toMatchObject({
      kind: 'not-started',
      code: 'connection_refused',
      affects: 'model',
      final: false,
    });
  });

  test('ends the run for any other answer, and shows no key', async () => {
    for (const [reply, code] of [
      [{ status: 403, body: shape.error(`Not with the key ${KEY}`) }, 'unauthorized'],
      [{ status: 400, body: shape.error('max_tokens is too large') }, 'rejected'],
      [{ status: 404, body: shape.error('The model does not exist') }, 'rejected'],
      [{ status: 500, body: shape.error('internal') }, 'provider_error'],
      [{ status: 200, body: '{"choices": [' }, 'malformed_answer'],
      // The OpenAI provider reports an answer without output as a 500.
      [{ status: 200, body: { hello: 'world' } }, expect.stringMatching(/malformed_answer|provider_error/)],
    ] as const) {
      const { requests, result } = await ask(reply);
      expect(result).toMatchObject({ kind: 'completed', outcome: 'error', reply: '', error: { code } });
      expect(JSON.stringify(result)).not.toContain(KEY);
      expect(requests).toHaveLength(1);
    }
  });

  test('follows no redirect: the key goes to the configured address only', async () => {
    const elsewhere = await startPlatform(() => ({ status: 200, body: shape.text('stolen') }));
    onTestFinished(elsewhere.stop);
    for (const status of [301, 302, 303, 307, 308]) {
      const location = `${elsewhere.url}${shape.path}`;
      const { requests, result } = await ask({ status, headers: { location }, body: {} });
      expect(result).toMatchObject({ kind: 'completed', outcome: 'error', error: { code: 'rejected' } });
      expect(JSON.stringify(result)).toContain('check baseUrl');
      expect(requests).toHaveLength(1);
    }
    expect(elsewhere.requests).toEqual([]);
  });

  test('ends the run when the connection is cut, before or in the answer', async () => {
    for (const reply of ['cut', 'reset'] as const) {
      const { requests, result } = await ask(reply);
      expect(result).toMatchObject({ kind: 'completed', outcome: 'error' });
      expect((result as { error: { code: string } }).error.code).toMatch(/connection_lost|malformed_answer/);
      expect(requests).toHaveLength(1);
    }
  });

  test('is given up when its time is over', async () => {
    const { result } = await ask('hang', { timeoutSeconds: 0.3 });
    expect(result).toEqual({
      kind: 'completed',
      outcome: 'timeout',
      reply: '',
      error: { code: 'timeout', message: 'the model did not answer within 0.3 s' },
    });
  });
});

describe('a model that no provider serves', () => {
  const settings: ModelSettings = {
    kind: 'model',
    providers: { local: { kind: 'openai-compatible', baseUrl: 'http://127.0.0.1:9/v1', reasoning: false } },
  };

  test('is never asked for anywhere else', async () => {
    for (const model of ['openai/gpt-5', 'gpt-5', 'local', 'local/', '/gpt-5', 'constructor/x']) {
      const runner = createModelRunner(settings, { defaultModel: undefined });
      expect(await runner.run({ ...TURN, model }, OPTIONS)).toMatchObject({
        kind: 'not-started',
        code: 'unknown_model',
        final: true,
        message: expect.stringContaining('configured are local'),
      });
    }
    expect(await createModelRunner(settings, { defaultModel: undefined }).run(TURN, OPTIONS)).toMatchObject({
      code: 'unknown_model',
      final: true,
      message: expect.stringContaining('agents.defaults.model'),
    });
  });

  test('is a finding of the check, as is a provider that lacks something', () => {
    for (const model of ['local/llama', 'local/meta/llama-3:8b'])
      expect(unknownModel(settings, model)).toBeUndefined();
    expect(unknownModel(settings, 'gpt-5')).toContain('<provider>/<model>');
    expect(unknownModel(settings, 'anthropic/claude')).toContain('configured are local');
    expect(modelProblems(settings)).toEqual([]);
    expect(modelProblems({ kind: 'model', providers: {} })).toMatchObject([{ key: 'providers' }]);
    expect(
      modelProblems({
        kind: 'model',
        providers: {
          'a/b': { kind: 'openai-compatible', reasoning: false },
          openai: { kind: 'openai', reasoning: true },
        },
      }),
    ).toMatchObject([{ key: 'providers.a/b' }, { key: 'providers.openai.apiKey' }]);
  });
});
