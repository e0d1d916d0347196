import { describe, expect, test } from 'vitest';
import { parseJson } from '../../../src/base/json.ts';
import type { JsonValue } from '../../../src/base/request.ts';
import { actionOf, actionsOf, errorOf, evaluateHook, settingsWith } from '../../support/hook-fixture.ts';

const NEIGHBOURS = ['820982911946154508', '820982911946154509', '820982911946154510'];

const keysOf = (payload: JsonValue, forEach = ''): readonly (string | undefined)[] =>
  actionsOf(
    evaluateHook(
      { payload },
      settingsWith({ table: `[{id: m, match: {path: h}, messageTemplate: x, dedupe: body${forEach}}]` }),
    ).evaluation,
  ).map(({ dedupe }) => dedupe?.key);

describe('dedupe: body', () => {
  test('gives neighbouring ids keys of their own', () => {
    const keys = NEIGHBOURS.flatMap((id) => keysOf(parseJson(`{"id":${id}}`)));
    expect(new Set(keys).size).toBe(3);
    const elements = keysOf(parseJson(`{"items":[${NEIGHBOURS.join(',')}]}`), ', forEach: items');
    expect(new Set(elements).size).toBe(3);
  });

  // SHA-256 of the JSON text without white space; computed with sha256sum.
  test('gives an element the key that 0.1.0 made', () => {
    expect(keysOf(parseJson('{"items":[{"id":1}]}'), ', forEach: items')).toEqual([
      '037c9214eef74cc3887f3a4f085b4e17d76280dafd273b0ee160c09c4ba1cfd4',
    ]);
  });
});

describe('fields', () => {
  const agent = (field: string): JsonValue => parseJson(`{"message":"x",${field}}`);

  test('a recipient keeps its digits', () => {
    const { evaluation } = evaluateHook(
      { path: 'agent', payload: agent('"to":820982911946154508') },
      settingsWith(),
    );
    expect(actionOf(evaluation)).toMatchObject({ to: '820982911946154508' });
  });

  test.each(['"to":1e400', '"to":0.1', '"message":820982911946154508', '"sessionKey":820982911946154508'])(
    'refuses %s',
    (field) => {
      const { evaluation } = evaluateHook({ path: 'agent', payload: agent(field) }, settingsWith());
      expect(errorOf(evaluation).code).toBe('invalid_field');
    },
  );

  test('a body that is a number is no object', () => {
    const { evaluation } = evaluateHook(
      { path: 'wake', payload: parseJson('820982911946154508') },
      settingsWith(),
    );
    expect(errorOf(evaluation)).toMatchObject({
      code: 'invalid_body',
      detail: expect.stringContaining('a number') as string,
    });
  });
});

test('a transform is called with the digits', () => {
  const table = '[{id: m, match: {path: h}, transform: t.ts}]';
  const { calls } = evaluateHook(
    { payload: parseJson('{"id":820982911946154508}') },
    settingsWith({ table }),
    {
      answer: () => ({ value: { message: 'x' } }),
    },
  );
  expect(calls[0]?.json).toContain('"id":820982911946154508');
});
