import { describe, expect, test } from 'vitest';
import { requestFindingToJson } from '../../../src/base/finding.ts';
import { createPauses, evaluate, runEvaluation } from '../../../src/engine/hook/evaluate.ts';
import { createHookRequest } from '../../../src/engine/hook/hook.ts';
import type { JsonValue } from '../../../src/base/request.ts';
import type { TransformReply } from '../../../src/engine/sandbox/sandbox.ts';
import {
  actionOf,
  actionsOf,
  errorOf,
  evaluateHook,
  receivedAt,
  settingsWith,
  type Answer,
} from '../../support/hook-fixture.ts';

const base = 'match: {path: h}, transform: t.ts';
const agent = settingsWith({
  table: `[{id: m, ${base}, messageTemplate: draft, name: N, wakeMode: next-heartbeat, to: "9"}]`,
});
const wake = settingsWith({
  table: `[{id: m, ${base}, action: wake, textTemplate: draft, wakeMode: next-heartbeat}]`,
});
const bare = settingsWith({ table: `[{id: m, ${base}}]` });
const each = settingsWith({ table: `[{id: m, ${base}, forEach: list, messageTemplate: "{{item}}"}]` });

const returning = (value: JsonValue | undefined) => ({ answer: (): Answer => ({ value }) });
const failed = (over: Partial<TransformReply & { kind: 'failed' }>): TransformReply => ({
  kind: 'failed',
  failure: 'user-error',
  message: 'the sender said SECRET',
  logs: [],
  logsDropped: 0,
  tookMs: 1,
  ...over,
});

describe('the result of a transform', () => {
  test('undefined keeps the draft', () => {
    const action = actionOf(evaluateHook({}, agent, returning(undefined)).evaluation);
    expect(action).toMatchObject({ message: 'draft', name: 'N', wakeMode: 'next-heartbeat', to: '9' });
  });

  test('that is an instance of a class is taken, with a warning', () => {
    const reply = {
      kind: 'ok',
      json: '{"message":"a"}',
      isInstance: true,
      logs: [],
      logsDropped: 0,
      tookMs: 1,
    } as const;
    const { evaluation } = evaluateHook({}, agent, { answer: () => reply });
    expect(actionOf(evaluation)).toMatchObject({ message: 'a', name: 'N' });
    expect(evaluation.warnings.map(({ code }) => code)).toEqual(['class_instance']);
  });

  test('null skips', () => {
    const { outcome } = evaluateHook({}, agent, returning(null)).evaluation;
    expect(outcome).toEqual({ kind: 'skipped', by: 'transform' });
  });

  test.each<[string, JsonValue, Record<string, JsonValue>]>([
    ['overrides a field and keeps the others', { message: 'new' }, { message: 'new', name: 'N' }],
    ['can undo next-heartbeat', { wakeMode: 'now' }, { wakeMode: 'now' }],
    ['leaves a field as it is with null', { to: null, name: null }, { to: '9', name: 'N' }],
    ['can make the action a wake', { kind: 'wake' }, { kind: 'wake', text: 'draft', mode: 'next-heartbeat' }],
    ['may call the text of a wake message', { kind: 'wake', message: 'x' }, { kind: 'wake', text: 'x' }],
    ['may give a numeric to', { to: 5 }, { to: '5' }],
    ['goes through channel aliases', { channel: 'imsg' }, { channel: 'imessage' }],
    ['may be an array of one', [{ message: 'one' }], { message: 'one' }],
  ])('%s', (_, value, expected) => {
    expect(actionOf(evaluateHook({}, agent, returning(value)).evaluation)).toMatchObject(expected);
  });

  test('can make a wake an agent action, with its text as the message', () => {
    const action = actionOf(evaluateHook({}, wake, returning({ kind: 'agent', model: 'x' })).evaluation);
    expect(action).toMatchObject({ kind: 'agent', message: 'draft', model: 'x', wakeMode: 'next-heartbeat' });
  });

  test('adds keys to the conversation of its mapping, and to no other', () => {
    const conversing = settingsWith({
      table: `[{id: m, ${base}, messageTemplate: draft, conversation: {keys: ['also']}}]`,
    });
    const keysOf = (value: JsonValue) =>
      evaluateHook({}, conversing, { ...returning({ keys: value }), detail: 'brief' }).evaluation;
    expect(actionOf(keysOf(['one', ' ', 'two\n'])) as object).toMatchObject({
      conversation: { keys: ['also', 'one', 'two'] },
    });
    for (const wrong of ['one', [1], Array.from({ length: 11 }, () => 'x')])
      expect(keysOf(wrong).trace.transforms[0]?.problem).toMatch(/^keys in the result must be a list/);
    const { evaluation } = evaluateHook({}, agent, { ...returning({ keys: ['x'] }), detail: 'brief' });
    expect(evaluation.trace.transforms[0]?.problem).toContain('"keys" in the result is not a known key');
  });

  test('names what has no effect on a wake', () => {
    const { evaluation } = evaluateHook({}, wake, returning({ text: 't', channel: 'slack' }));
    expect(actionOf(evaluation)).toMatchObject({ text: 't' });
    expect(evaluation.warnings).toMatchObject([{ code: 'unused_field', subject: { field: 'channel' } }]);
  });

  test.each<[string, JsonValue]>([
    ['unknownKey', { unknownKey: 1 }],
    ['allowUnsafeExternalContent', { allowUnsafeExternalContent: true }],
    ['__proto__', JSON.parse('{"__proto__": {"kind": "wake"}}') as JsonValue],
    ['kind', { kind: 'skip' }],
    ['message', { message: 5 }],
    ['deliver', { deliver: 'no' }],
    ['wakeMode', { wakeMode: 'soon' }],
    ['timeoutSeconds', { timeoutSeconds: 0 }],
    ['to', { to: [] }],
    ['model', { model: 1 }],
    ['[1]', [{}, 'x']],
    ['a string', 'x'],
    ['a boolean', false],
  ])('is a failure that names %s where that is wrong', (name, value) => {
    const { evaluation } = evaluateHook({}, agent, { ...returning(value), detail: 'brief' });
    const error = errorOf(evaluation);
    expect([error.status, error.code]).toEqual([500, 'transform_failed']);
    expect(error.detail).not.toContain(name);
    expect(evaluation.trace.transforms[0]?.problem).toContain(name);
  });

  test.each<[string, JsonValue, string]>([
    ['a model outside the list', { model: 'other' }, 'model_not_allowed'],
    ['an unknown channel', { channel: 'pager' }, 'unknown_channel'],
    ['a blank message', { message: ' ' }, 'mapping_requires_message'],
    ['the main session', { sessionKey: 'agent:main:main' }, 'invalid_field'],
  ])('is 400 with %s, as from a body', (_, value, code) => {
    const settings = { ...agent, agents: { aliases: {}, models: ['one'] } };
    const error = errorOf(evaluateHook({}, settings, returning(value)).evaluation);
    expect([error.status, error.code]).toEqual([400, code]);
  });

  test('must bring a message where no template does', () => {
    expect(errorOf(evaluateHook({ payload: { message: 'x' } }, bare, returning({})).evaluation).code).toBe(
      'mapping_requires_message',
    );
  });

  test('ignores unknown keys and wrong types with a warning where the settings are lenient', () => {
    const value = { accountId: 'a', deliver: 'no', message: 'm', allowUnsafeExternalContent: true };
    const { evaluation } = evaluateHook({}, { ...agent, lenient: true }, returning(value));
    expect(actionOf(evaluation)).toMatchObject({ message: 'm', deliver: true, origin: { trusted: false } });
    expect(evaluation.warnings.map(({ subject }) => subject?.field)).toEqual([
      'accountId',
      'deliver',
      'allowUnsafeExternalContent',
    ]);
  });
});

describe('an array', () => {
  const settings = settingsWith({
    table: `[{id: m, ${base}, messageTemplate: draft, dedupe: {key: k, ttlSeconds: 9}}]`,
  });

  test('makes several actions in order, without those that are null, none a repeat of another', () => {
    const value = [{ message: 'a' }, null, { kind: 'wake', text: 'b' }];
    const actions = actionsOf(evaluateHook({}, settings, returning(value)).evaluation);
    expect(actions).toMatchObject([
      { kind: 'agent', message: 'a' },
      { kind: 'wake', text: 'b' },
    ]);
    expect(new Set(actions.map(({ id }) => id)).size).toBe(2);
    expect(new Set(actions.map(({ dedupe }) => dedupe?.key)).size).toBe(2);
  });

  test('without an action skips', () => {
    expect(evaluateHook({}, settings, returning([])).evaluation.outcome).toEqual({
      kind: 'skipped',
      by: 'transform',
    });
  });

  test('is all or nothing, naming the bad one', () => {
    const error = errorOf(
      evaluateHook({}, settings, returning([{}, { message: '' }, { channel: 'x' }])).evaluation,
    );
    expect(error.errors).toMatchObject([{ code: 'mapping_requires_message', subject: { index: 1 } }]);
  });

  test('of more than 200 is refused', () => {
    const value = Array.from({ length: 201 }, () => ({}));
    expect(errorOf(evaluateHook({}, settings, returning(value)).evaluation).code).toBe('too_many_actions');
  });
});

describe('a transform in forEach', () => {
  test('is called per element, and its lists are put together in order', () => {
    const { evaluation, calls } = evaluateHook({ payload: { list: ['a', 'b', 'c'] } }, each, {
      answer: (_, number) => ({ value: [undefined, null, [{ message: 'x' }, { message: 'y' }]][number] }),
    });
    expect(actionsOf(evaluation)).toMatchObject([{ message: 'a' }, { message: 'x' }, { message: 'y' }]);
    expect(calls.map(({ json }) => JSON.parse(json) as JsonValue)).toMatchObject([
      { item: 'a', index: 0 },
      { item: 'b', index: 1 },
      { item: 'c', index: 2 },
    ]);
    expect(new Set(calls.map(({ seed }) => seed)).size).toBe(3);
    expect(new Set(actionsOf(evaluation).map(({ id }) => id)).size).toBe(3);
  });

  test('shares one budget: what a call took is missing from the next, and none is made without any left', () => {
    const { evaluation, calls } = evaluateHook({ payload: { list: [1, 2, 3, 4] } }, each, {
      answer: () => ({ value: undefined, tookMs: 2000 }),
    });
    expect(calls.map(({ budgetMs }) => budgetMs)).toEqual([5000, 3000, 1000]);
    expect(errorOf(evaluation)).toMatchObject({
      code: 'transform_failed',
      errors: [{ subject: { index: 3 } }],
    });
  });

  test('keeps different warnings about one field apart', () => {
    const { evaluation } = evaluateHook(
      { payload: { list: ['a', 'b', 'c'] } },
      { ...each, lenient: true },
      {
        answer: (_, number) => ({ value: { thinking: [5, 'galaxy', 'galaxy'][number]! } }),
      },
    );
    expect(evaluation.warnings.map(({ code }) => code)).toEqual(['ignored_result_key', 'unknown_thinking']);
  });

  test('counts all its actions against the limit', () => {
    const value = Array.from({ length: 150 }, () => ({}));
    const { evaluation } = evaluateHook({ payload: { list: ['a', 'b'] } }, each, returning(value));
    expect(errorOf(evaluation).code).toBe('too_many_actions');
  });
});

test('a transform is called with the request, its time and its seed, and never with a token', () => {
  const content = {
    payload: { a: 1 },
    headers: { 'X-Kind': 'k', Authorization: 'Bearer t', 'Proxy-Authorization': 'Basic p' },
    query: { q: '1', token: 't' },
    url: '/hooks/h?q=1',
  };
  const { calls } = evaluateHook(content, agent, returning(undefined));
  const [{ json, ...call }] = calls as [(typeof calls)[number]];
  expect(JSON.parse(json)).toEqual({
    payload: { a: 1 },
    headers: { 'x-kind': 'k' },
    query: { q: '1' },
    path: 'h',
    url: '/hooks/h?q=1',
    now: '2026-03-01T12:00:00.000Z',
  });
  expect(call).toMatchObject({ now: receivedAt, budgetMs: 5000, ref: { module: 't.ts', timeoutMs: 1000 } });
});

describe('a transform that failed', () => {
  test.each(['user-error', 'not-json', 'timeout', 'memory', 'crashed', 'load-error'] as const)(
    'with %s is 500 and tells the sender nothing of it',
    (failure) => {
      const { evaluation } = evaluateHook({}, agent, { answer: () => failed({ failure }), detail: 'brief' });
      const error = errorOf(evaluation);
      expect([error.status, error.code]).toEqual([500, 'transform_failed']);
      expect(JSON.stringify([error.detail, error.errors.map(requestFindingToJson)])).not.toContain('SECRET');
      expect(evaluation.trace.transforms).toHaveLength(1);
    },
  );

  test('because it could not run is 503 with the time to wait', () => {
    const answer = () => failed({ failure: 'deferred', retryAfterSeconds: 7 });
    const error = errorOf(evaluateHook({ payload: { list: [1] } }, each, { answer }).evaluation);
    expect(error).toMatchObject({ status: 503, code: 'transform_unavailable', retryAfterSeconds: 7 });
  });
});

describe('running an evaluation', () => {
  const request = createHookRequest({ path: 'h', payload: { list: ['a', 'b'] }, receivedAt });

  test('is synchronous where no transform is involved', () => {
    const settings = settingsWith({ table: '[{id: m, match: {path: h}, messageTemplate: x}]' });
    const transforms = { call: () => Promise.reject(new Error('not to be called')) };
    const unused = { transforms, pause: () => Promise.reject(new Error('not to be called')) };
    const evaluation = runEvaluation(evaluate(request, settings, { detail: 'brief' }), unused);
    expect(evaluation).toMatchObject({ outcome: { kind: 'accepted' } });
  });

  test('awaits one call after the other', async () => {
    let running = 0;
    const transforms = {
      call: async (): Promise<TransformReply> => {
        running += 1;
        expect(running).toBe(1);
        await Promise.resolve();
        running -= 1;
        return { kind: 'ok', json: '{"name": "T"}', logs: [], logsDropped: 0, tookMs: 1 };
      },
    };
    const driver = { transforms, pause: createPauses() };
    const evaluation = await runEvaluation(evaluate(request, each, { detail: 'brief' }), driver);
    expect(actionsOf(evaluation)).toMatchObject([
      { message: 'a', name: 'T' },
      { message: 'b', name: 'T' },
    ]);
  });
});
