/** A condition on one element of the list of forEach. */
import { expect, test } from 'vitest';
import { adviceFor } from '../../src/advice/requests.ts';
import { createHookRequest } from '../../src/hook/hook.ts';
import type { JsonValue } from '../../src/request.ts';
import { evaluateHook, receivedAt, settingsWith } from '../support/hook-fixture.ts';

function noteOf(mapping: string, payload: JsonValue): string | undefined {
  const settings = settingsWith({ table: `- {id: each, messageTemplate: "x {{item.id}}", ${mapping}}` });
  const { evaluation } = evaluateHook({ path: 'a', payload }, settings);
  const request = createHookRequest({ path: 'a', payload, receivedAt });
  const { notes } = adviceFor(evaluation, request, settings.table);
  return notes.find(({ code }) => code === 'held_otherwise')?.text;
}

const MIXED = [
  { id: 1, type: 'made' },
  { id: 2, type: 'changed' },
];
const BODY = 'match: {path: a, when: {"===": [{var: payload.0.type}, made]}}, forEach: payload';
const BELOW =
  'match: {path: a, when: {and: [{"===": [{var: events.0.type}, made]}, {"===": [{var: kind}, b]}]}}, forEach: events';

test('is told with the transform that decides for each', () => {
  const text = noteOf(BODY, MIXED);
  expect(text).toContain('type of 1 of the 2 elements is another, such as "changed"');
  expect(text).toContain('if (!(item?.type === "made")) return null;');
  expect(text).toContain('take when out');
});

test('keeps the other parts of the condition', () => {
  expect(noteOf(BELOW, { kind: 'b', events: MIXED })).toContain('write when: {"===":[{"var":"kind"},"b"]}');
});

test.each([
  ['all elements are of one kind', BODY, [MIXED[0], MIXED[0]]],
  ['there is one run of all', BODY.replace(', forEach: payload', ''), MIXED],
  [
    'another list is read',
    BELOW.replace('forEach: events', 'forEach: rows'),
    { kind: 'b', events: MIXED, rows: MIXED },
  ],
])('is silent where %s', (_, mapping, payload) => {
  expect(noteOf(mapping, payload as JsonValue)).toBeUndefined();
});
