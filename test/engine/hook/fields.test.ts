import { describe, expect, test } from 'vitest';
import { printSentence, requestFindingToJson } from '../../../src/base/finding.ts';
import type { Evaluation, EvaluationSettings } from '../../../src/engine/hook/hook.ts';
import type { JsonValue } from '../../../src/base/request.ts';
import { actionOf, errorOf as hookErrorOf, evaluateHook, settingsWith } from '../../support/hook-fixture.ts';

function evaluateBody(
  path: string,
  payload: JsonValue,
  settings: Partial<Omit<EvaluationSettings, 'table'>> = {},
): Evaluation {
  return evaluateHook({ path, payload }, settingsWith(settings), { detail: 'brief' }).evaluation;
}

function errorOf(evaluation: Evaluation) {
  const { code, errors } = hookErrorOf(evaluation);
  return { code, field: errors[0]?.subject?.field };
}

describe('a wake body', () => {
  test('becomes a wake with its text trimmed and mode now by default', () => {
    const evaluation = evaluateBody('wake', { text: '  door open \n' });
    expect(actionOf(evaluation)).toMatchObject({ kind: 'wake', text: 'door open', mode: 'now' });
    expect(evaluation.warnings).toEqual([]);
  });

  test.each<[string, JsonValue, string, string | undefined]>([
    ['no text', {}, 'missing_text', 'text'],
    ['a blank text', { text: ' \n' }, 'missing_text', 'text'],
    ['a null text', { text: null }, 'missing_text', 'text'],
    ['a text that is a number', { text: 5 }, 'invalid_field', 'text'],
    ['a mode outside the two', { text: 'x', mode: 'later' }, 'invalid_field', 'mode'],
    ['a mode of another case', { text: 'x', mode: 'NOW' }, 'invalid_field', 'mode'],
    ['a mode that is a boolean', { text: 'x', mode: true }, 'invalid_field', 'mode'],
    ['an array', [1], 'invalid_body', undefined],
    ['a string', 'x', 'invalid_body', undefined],
    ['null', null, 'invalid_body', undefined],
  ])('is refused with %s', (_, payload, code, field) => {
    expect(errorOf(evaluateBody('wake', payload))).toEqual({ code, field });
  });
});

describe('an agent body', () => {
  test('gets every default', () => {
    const action = actionOf(evaluateBody('agent', { message: 'hello' }));
    expect(action).toMatchObject({
      kind: 'agent',
      message: 'hello',
      name: 'Hook',
      sessionKey: `hook:${action.id}`,
      oneShot: true,
      wakeMode: 'now',
      deliver: true,
      channel: 'last',
    });
    expect(Object.keys(action)).not.toContain('to');
  });

  test.each<[string, Record<string, JsonValue>, Record<string, JsonValue>]>([
    ['a numeric to as text', { channel: 'telegram', to: -100123 }, { to: '-100123' }],
    ['a channel of any case', { channel: ' Slack ' }, { channel: 'slack' }],
    ['a channel alias', { channel: 'teams' }, { channel: 'msteams' }],
    ['a blank channel as last', { channel: '' }, { channel: 'last' }],
    ['fractions of seconds', { timeoutSeconds: 0.5 }, { timeoutSeconds: 0.5 }],
    ['a timeout without a maximum', { timeoutSeconds: 1e12 }, { timeoutSeconds: 1e12 }],
    ['a session key', { sessionKey: ' hook:ci ' }, { sessionKey: 'hook:ci', oneShot: false }],
    ['a synonym of a thinking level', { thinking: 'X-High' }, { thinking: 'xhigh' }],
    ['a name of several lines as one', { name: 'a\n b\u0007' }, { name: 'a b' }],
    ['null for an optional field', { name: null, to: null, deliver: null }, { name: 'Hook', deliver: true }],
  ])('may have %s', (_, fields, expected) => {
    expect(actionOf(evaluateBody('agent', { message: 'm', ...fields }))).toMatchObject(expected);
  });

  test.each<[JsonValue, string]>([
    [{ mesage: 'm' }, 'message is required and was not given; write message in place of mesage'],
    [{ prompt: 'm' }, 'message is required and was not given; write message in place of prompt'],
    [{ name: 'n', content: 'm' }, 'message is required and was not given; found content'],
    [{ name: 'n' }, 'message is required and was not given'],
  ])('a result %j names what came in place of its message', (fields, message) => {
    const { outcome } = evaluateBody('agent', fields);
    const errors = outcome.kind === 'rejected' ? outcome.error.errors : [];
    expect(errors.map((each) => printSentence(each.message))).toEqual([message]);
  });

  test.each<[string, JsonValue, string, string]>([
    ['no message', { channel: 'nope' }, 'missing_message', 'message'],
    [
      'an unknown channel before a bad model',
      { message: 'm', channel: 'nope', model: 5 },
      'unknown_channel',
      'channel',
    ],
    ['a bad model before a bad deliver', { message: 'm', model: '', deliver: 'x' }, 'invalid_field', 'model'],
    ['a null model', { message: 'm', model: null }, 'invalid_field', 'model'],
    ['a to that a number cannot hold', { message: 'm', to: 2 ** 53 }, 'invalid_field', 'to'],
    ['a to that is a fraction', { message: 'm', to: 1.5 }, 'invalid_field', 'to'],
    ['a channel that is a number', { message: 'm', channel: 1 }, 'invalid_field', 'channel'],
    ['a deliver that is a string', { message: 'm', deliver: 'true' }, 'invalid_field', 'deliver'],
    ['a name that is an object', { message: 'm', name: {} }, 'invalid_field', 'name'],
    ['a to that is a boolean', { message: 'm', to: true }, 'invalid_field', 'to'],
    ['a to with a control character', { message: 'm', to: 'a\u0000b' }, 'invalid_field', 'to'],
    ['a wakeMode outside the two', { message: 'm', wakeMode: 'soon' }, 'invalid_field', 'wakeMode'],
    ['a timeout of 0', { message: 'm', timeoutSeconds: 0 }, 'invalid_field', 'timeoutSeconds'],
    ['an infinite timeout', { message: 'm', timeoutSeconds: Infinity }, 'invalid_field', 'timeoutSeconds'],
    ['a timeout that is a string', { message: 'm', timeoutSeconds: '5' }, 'invalid_field', 'timeoutSeconds'],
    ['a thinking that is a number', { message: 'm', thinking: 1 }, 'invalid_field', 'thinking'],
    [
      'a session key of 257 characters',
      { message: 'm', sessionKey: 'k'.repeat(257) },
      'invalid_field',
      'sessionKey',
    ],
    ['an invisible session key', { message: 'm', sessionKey: 'a\u200bb' }, 'invalid_field', 'sessionKey'],
    ['the main session as its key', { message: 'm', sessionKey: 'Main' }, 'invalid_field', 'sessionKey'],
    [
      'an agent session as its key',
      { message: 'm', sessionKey: 'agent:main:main' },
      'invalid_field',
      'sessionKey',
    ],
  ])('is refused with %s', (_, payload, code, field) => {
    expect(errorOf(evaluateBody('agent', payload))).toEqual({ code, field });
  });

  test('falls back with a warning where the thinking level is unknown', () => {
    const evaluation = evaluateBody('agent', { message: 'm', thinking: 'galaxy' });
    expect(actionOf(evaluation)).not.toHaveProperty('thinking');
    expect(evaluation.warnings.map(({ code, subject }) => [code, subject?.field])).toEqual([
      ['unknown_thinking', 'thinking'],
    ]);
  });
});

describe('the model of a request', () => {
  const agents = { aliases: { opus: 'anthropic/claude-opus' }, models: ['anthropic/claude-opus'] };

  test('is resolved through aliases before it is compared with the allow-list', () => {
    const evaluation = evaluateBody('agent', { message: 'm', model: 'opus' }, { agents });
    expect(actionOf(evaluation)).toMatchObject({ model: 'anthropic/claude-opus' });
  });

  test('may be any without an allow-list, also one that is called like an object property', () => {
    const any = { agents: { aliases: {}, models: undefined } };
    const evaluation = evaluateBody('agent', { message: 'm', model: 'constructor' }, any);
    expect(actionOf(evaluation)).toMatchObject({ model: 'constructor' });
  });

  test.each([['openai/gpt'], ['constructor']])('is refused outside the allow-list: %s', (model) => {
    expect(errorOf(evaluateBody('agent', { message: 'm', model }, { agents })).code).toBe(
      'model_not_allowed',
    );
  });

  test('cannot be overridden at all where the allow-list is empty', () => {
    const none = { agents: { aliases: {}, models: [] } };
    expect(errorOf(evaluateBody('agent', { message: 'm', model: 'x' }, none)).code).toBe('model_not_allowed');
  });
});

describe('fields without a meaning', () => {
  test('are named with the field that was probably meant', () => {
    const { warnings } = evaluateBody('agent', {
      message: 'm',
      channelId: 'C1',
      text: 't',
      tiemoutSeconds: 1,
      zzz: 1,
    });
    expect(
      warnings
        .map(requestFindingToJson)
        .map(({ field, message }) => [field, /did you mean (\w+)/.exec(message)?.[1]]),
    ).toEqual([
      ['channelId', 'channel'],
      ['text', 'message'],
      ['tiemoutSeconds', 'timeoutSeconds'],
      ['zzz', undefined],
    ]);
    expect(new Set(warnings.map(({ code }) => code))).toEqual(new Set(['unknown_field']));
  });

  test('are at most 16, each cut to 80 characters and cleared of control characters', () => {
    const body: Record<string, JsonValue> = { text: 'x' };
    for (let n = 0; n < 5000; n += 1) body[`\u001b[31m${n}${'y'.repeat(200)}`] = n;
    const { warnings } = evaluateBody('wake', body);
    expect(warnings).toHaveLength(16);
    for (const { field, message } of warnings.map(requestFindingToJson)) {
      expect(field!.length).toBeLessThanOrEqual(80);
      expect(field! + message).not.toContain('\u001b');
    }
  });
});

describe('with hooks.lenient', () => {
  const lenient = { lenient: true };

  test('wrong types and values are coerced as the incumbent did, each with a warning', () => {
    const body = {
      message: 'm',
      name: 5,
      wakeMode: 'soon',
      deliver: 'no',
      to: {},
      thinking: [],
      timeoutSeconds: -1,
      sessionKey: 9,
    };
    const evaluation = evaluateBody('agent', body, lenient);
    expect(actionOf(evaluation)).toMatchObject({
      name: 'Hook',
      wakeMode: 'now',
      deliver: true,
      oneShot: true,
    });
    expect(evaluation.warnings.map(({ code, subject }) => `${code} ${subject?.field ?? ''}`).sort()).toEqual(
      ['deliver', 'name', 'sessionKey', 'thinking', 'timeoutSeconds', 'to', 'wakeMode'].map(
        (field) => `coerced_field ${field}`,
      ),
    );
  });

  test('a key of the main session is moved into the namespace of hooks', () => {
    const evaluation = evaluateBody('agent', { message: 'm', sessionKey: 'main' }, lenient);
    expect(actionOf(evaluation)).toMatchObject({ sessionKey: 'hook:main' });
    expect(evaluation.warnings).toHaveLength(1);
  });

  test.each<[string, JsonValue, string]>([
    ['a blank message', { message: ' ' }, 'missing_message'],
    ['an unknown channel', { message: 'm', channel: 'nope' }, 'unknown_channel'],
    ['a model that is no string', { message: 'm', model: 1 }, 'invalid_field'],
  ])('%s is refused all the same', (_, payload, code) => {
    expect(errorOf(evaluateBody('agent', payload, lenient)).code).toBe(code);
  });
});

describe('restrictions on session keys', () => {
  const sessionKeys = {
    allowFromRequest: false,
    default: 'hook:shared',
    allowedPrefixes: ['hook:'],
    shared: [],
  };

  test('refuse a key from a body where bodies may not choose', () => {
    const refused = evaluateBody('agent', { message: 'm', sessionKey: 'hook:a' }, { sessionKeys });
    expect(errorOf(refused).field).toBe('sessionKey');
  });

  test('give the configured default where nothing chooses a key', () => {
    const action = actionOf(evaluateBody('agent', { message: 'm' }, { sessionKeys }));
    expect(action).toMatchObject({ sessionKey: 'hook:shared', oneShot: false });
  });

  test('hold keys to the allowed prefixes', () => {
    const allowed = { sessionKeys: { ...sessionKeys, allowFromRequest: true } };
    expect(errorOf(evaluateBody('agent', { message: 'm', sessionKey: 'x:1' }, allowed)).field).toBe(
      'sessionKey',
    );
    expect(actionOf(evaluateBody('agent', { message: 'm', sessionKey: 'hook:1' }, allowed))).toMatchObject({
      sessionKey: 'hook:1',
    });
  });
});

test('a recipient that does not fit its channel is refused, without quoting it in the detail', () => {
  const recipientProblem = (channel: string, to: string) =>
    to.startsWith('C') ? undefined : `not for ${channel}`;
  const body = { message: 'm', channel: 'slack', to: 'secret-person' };
  const { outcome } = evaluateBody('agent', body, { recipientProblem });
  expect(outcome).toMatchObject({ kind: 'rejected', error: { code: 'invalid_recipient' } });
  if (outcome.kind === 'rejected') expect(outcome.error.detail).not.toContain('secret-person');
  expect(actionOf(evaluateBody('agent', { ...body, to: 'C012' }, { recipientProblem }))).toMatchObject({
    to: 'C012',
  });
});

test('a recipient is not judged where the channel is only known later', () => {
  const recipientProblem = (channel: string) => `not for ${channel}`;
  expect(actionOf(evaluateBody('agent', { message: 'm', to: 'x' }, { recipientProblem }))).toMatchObject({
    to: 'x',
  });
});

test('a name that no mapping takes is answered no_mapping_matched', () => {
  expect(errorOf(evaluateBody('nobody', {}))).toEqual({ code: 'no_mapping_matched', field: undefined });
});

test('the same request is evaluated the same for ever', () => {
  const body = { message: 'm <|im_start|>', source: 'ci\nx' };
  expect(evaluateBody('agent', body)).toEqual(evaluateBody('agent', body));
});
