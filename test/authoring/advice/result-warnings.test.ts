/** What a mapping or transform made of the body, where it is a known slip: said by name, without a value. */
import { expect, test } from 'vitest';
import { printInLine } from '../../../src/base/finding.ts';
import { parseJson, type JsonValue } from '../../../src/base/json.ts';
import { advise } from '../../../src/authoring/advice/advice.ts';
import { evaluateHook, settingsWith } from '../../support/hook-fixture.ts';

const transformed = settingsWith({ table: '[{id: m, match: {path: h}, transform: a.ts}]' });

function warningsOfResult(body: string, message: string): readonly string[] {
  const reply = { value: { message } };
  const { evaluation } = evaluateHook({ payload: parseJson(body) }, transformed, { answer: () => reply });
  return advise(evaluation.warnings).map((warning) => `${warning.code} ${printInLine(warning)}`);
}

test.each([
  [
    '{"data":{"object":{"created":1795209960,"due":10}}}',
    'Invoice of 1970-01-21',
    /^seconds_as_milliseconds .*new Date\(seconds \* 1000\)/,
  ],
  ['{"at":1795209960,"to":1795209970}', 'from 21.1.1970', /^seconds_as_milliseconds /],
  [
    '{"order":{"id":820982911946154508}}',
    'order 820982911946154500',
    /^rounded_number .*write exact\(payload\.order, 'id'\)/,
  ],
  ['{"ids":[1,820982911946154508]}', '820982911946154500', /^rounded_number /],
])('%s in, %s out', (body, message, text) => {
  expect(warningsOfResult(body, message)).toEqual([expect.stringMatching(text)]);
});

test.each([
  ['{"created":1795209960}', 'Invoice of 2026-11-21'],
  ['{"born":"1970-01-21","amount":49}', 'born on 1970-01-21'],
  ['{"id":820982911946154508}', 'order 820982911946154508'],
  ['{"id":1234567890123456}', 'order 1234567890123456'],
])('%s in, %s out is as it was meant', (body, message) => {
  expect(warningsOfResult(body, message)).toEqual([]);
});

function warningsOfTemplate(template: string, payload: JsonValue): readonly string[] {
  const table = `[{id: m, match: {path: h}, messageTemplate: 'x ${template}'}]`;
  const { evaluation } = evaluateHook({ payload }, settingsWith({ table }));
  return advise(evaluation.warnings).map(
    (warning) => `${warning.code} ${warning.subject?.field}: ${printInLine(warning)}`,
  );
}

test('a path into a text that holds JSON is said once for a template', () => {
  const payload = { data: '{"name":"hidden-value"}' };
  expect(warningsOfTemplate('{{data.name}} {{data.email}}', payload)).toEqual([
    expect.stringMatching(
      /^json_text messageTemplate: data is a text that holds JSON, .*JSON\.parse\(payload\.data\)/,
    ),
  ]);
  expect(warningsOfTemplate('{{payload.data.name}}', payload)).toEqual([
    expect.stringMatching(/payload\.data is a text/),
  ]);
  expect(warningsOfTemplate('{{data.name}}', payload).join()).not.toContain('hidden-value');
});

test.each<[string, JsonValue, RegExp]>([
  ['{{items.name}}', { items: '{"name":1}' }, / items is a text .*JSON\.parse\(payload\.items\)/],
  ['{{event.name}}', '{"event":{"name":1}}', / payload is a text .*JSON\.parse\(payload\)/],
])('the text that %s leads into is named as a transform has it', (template, payload, said) => {
  expect(warningsOfTemplate(template, payload)).toEqual([expect.stringMatching(said)]);
});

test.each<[string, JsonValue]>([
  ['{{data.name}}', { data: 'plain text' }],
  ['{{data.name}}', { data: { name: '' } }],
  ['{{data}}', { data: '{"a":1}' }],
  ['{{other.name}}', { data: '{"a":1}' }],
])('%s over %j says nothing of JSON', (template, payload) => {
  expect(warningsOfTemplate(template, payload)).toEqual([]);
});
