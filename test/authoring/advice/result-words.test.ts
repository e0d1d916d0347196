/** Words that JavaScript writes where a transform put something into a text that is none. */
import { expect, test } from 'vitest';
import { printInLine } from '../../../src/base/finding.ts';
import { advise } from '../../../src/authoring/advice/advice.ts';
import { evaluateHook, settingsWith } from '../../support/hook-fixture.ts';

const transformed = settingsWith({ table: '[{id: m, match: {path: h}, transform: a.ts}]' });

function warningsOf(message: string, body: string): readonly string[] {
  const reply = { value: { message } };
  const { evaluation } = evaluateHook({ payload: { body } }, transformed, { answer: () => reply });
  return advise(evaluation.warnings).map((warning) => `${warning.code} ${printInLine(warning)}`);
}

test.each([
  ['2 changes\n[object Promise]\n[object Promise]', /^promise_as_text .*await Promise\.all\(list\.map/],
  ['Labels: [object Set]', /^object_as_text .*\[\.\.\.labels\]\.join/],
  ['from [object Object]', /^object_as_text .*name one of its fields/],
  ['at Invalid Date', /^invalid_date .*new Date\(seconds \* 1000\)/],
  ['NaN EUR', /^nan_as_text .*Number\(…\)/],
  ['PR #undefined: x', /^undefined_as_text .*the body is payload of the one argument/],
])('a message %j is told as a slip', (message, text) => {
  expect(warningsOf(message, 'x')).toEqual([expect.stringMatching(text)]);
  // The sender wrote that word.
  expect(warningsOf(message, message)).toEqual([]);
});

test.each(['an undefined-behaviour sanitizer', 'NaNa', 'all fine', 'the object Object'])(
  'a message %j is fine',
  (message) => {
    expect(warningsOf(message, 'x')).toEqual([]);
  },
);

test('fields that were looked for in a body that is a list are looked for in its elements', () => {
  const { evaluation } = evaluateHook({ payload: [{ a: 1 }] }, transformed, {
    answer: () => ({ value: { message: 'undefined' } }),
  });
  expect(advise(evaluation.warnings).map(printInLine).join()).toContain('payload.map((one) => one.name)');
  const each = settingsWith({ table: '[{id: m, match: {path: h}, forEach: list, transform: a.ts}]' });
  const { evaluation: ofEach } = evaluateHook({ payload: { list: [{ a: 1 }] } }, each, {
    answer: () => ({ value: { message: 'undefined' } }),
  });
  expect(advise(ofEach.warnings).map(printInLine).join()).toContain('write ({ item }) =>');
});
