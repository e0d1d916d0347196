import { expect, test } from 'vitest';
import { printInLine } from '../../../src/base/finding.ts';
import { advise } from '../../../src/authoring/advice/advice.ts';
import type { JsonValue } from '../../../src/base/request.ts';
import { evaluateHook, settingsWith } from '../../support/hook-fixture.ts';

const SECRET = 'words-of-the-payload';

function warningsOf(template: string, payload: JsonValue): readonly string[] {
  const table = `[{id: m, match: {path: h}, messageTemplate: 'x ${template}'}]`;
  const { evaluation } = evaluateHook({ payload }, settingsWith({ table }));
  expect(evaluation.outcome.kind).toBe('accepted');
  expect(
    evaluation.warnings.every(
      ({ code, subject }) => code === 'printed_json' && subject?.field === 'messageTemplate',
    ),
  ).toBe(true);
  return advise(evaluation.warnings).map(printInLine);
}

test.each([
  [
    '{{a.list}}{{a.list}}',
    { a: { list: [{ n: 1, title: SECRET }] } },
    /^\{\{a\.list\}\} is a list of 1 object and is written as JSON; name the field to print, \{\{join a\.list ", " "FIELD"\}\} \(fields: n, title\), or write \{\{json a\.list\}\} where JSON is meant$/,
  ],
  [
    '{{a}}',
    { a: { id: 1, words: SECRET } },
    /\{\{a\}\} is an object .* \{\{a\.FIELD\}\} \(fields: id, words\)/,
  ],
  [
    '{{order.title}}',
    { order: { title: { '@lang': 'en', '#text': SECRET } } },
    /is an object .*; write \{\{order\.title\.\[#text\]\}\}, its text$/,
  ],
  ['{{#each list}}{{this}}{{/each}}', { list: [{ name: SECRET }] }, /\{\{this\.FIELD\}\} \(fields: name\)/],
])('%s over %j is said, without a word of the payload', (template, payload, text) => {
  const warnings = warningsOf(template, payload);
  expect(warnings).toEqual([expect.stringMatching(text)]);
  expect(JSON.stringify(warnings)).not.toContain(SECRET);
});

test.each([
  ['{{join list}}', { list: ['a', 1] }],
  ['{{join list ", " "name"}}', { list: [{ name: 'a' }] }],
  ['{{json list}}', { list: [{ a: 1 }] }],
  ['{{payload}}{{this}}', { list: [{ a: 1 }] }],
  ['{{list}}{{other}}', { list: ['a', 1], other: {} }],
  ['{{join list}}', {}],
])('%s over %j is as it was meant', (template, payload) => {
  expect(warningsOf(template, payload)).toEqual([]);
});

test.each([
  ['false', ''],
  [false, ''],
  ['', ''],
  [undefined, ''],
  ['true', 'a'],
  [true, 'a'],
])(
  'what the page of mappings proposes for {{#if paid}} holds for the value as for its text: %j',
  (paid, printed) => {
    const template = '{{#if (and paid (ne paid "false"))}}a{{/if}}';
    const { evaluation } = evaluateHook(
      { path: 'p', payload: paid === undefined ? {} : { paid } },
      settingsWith({ table: `- {match: {path: p}, messageTemplate: 'x${template}'}` }),
    );
    expect(evaluation.trace.templates[0]?.text).toBe(`x${printed}`);
  },
);
