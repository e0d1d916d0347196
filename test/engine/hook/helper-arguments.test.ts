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
      ({ code, subject }) =>
        ['helper_argument', 'printed_json'].includes(code) && subject?.field === 'messageTemplate',
    ),
  ).toBe(true);
  return advise(evaluation.warnings).map(printInLine);
}

test.each([
  ['{{join list}}', { list: [{ name: SECRET }] }, /a list of objects, .*; name the field to print/],
  [
    '{{join list ", " "nam"}}',
    { list: [{ name: SECRET }] },
    /a list of objects, and no field that they have/,
  ],
  [
    '{{truncate (join a.list) 9}}',
    { a: { list: [{ n: 1, text: SECRET }] } },
    /\{\{join a\.list ", " "FIELD"\}\} \(fields: n, text\)$/,
  ],
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
  ['{{upper list}}', { list: { name: SECRET } }, /\{\{upper\}\} takes a text and got an object/],
  ['{{date at "HH:mm"}}', { at: '2026-02-30T10:00:00Z' }, /neither a time of ISO 8601/],
  [
    '{{date at "HH:mm" tz="Europe/Paris"}} {{date at tz="Asia/Tokyo"}}',
    { at: '2026-03-02 00:30:00' },
    /^\{\{date\}\} got a time without an offset, takes it for UTC, [^;]*; leave tz out/,
  ],
  ['{{date list}}', { list: [SECRET] }, /\{\{date\}\} takes a text and got a list/],
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
  ['{{upper list}}', { list: 5 }],
  ['{{date list "yyyy"}}', { list: 1_700_000_000 }],
  [
    '{{date at tz="Europe/Paris"}}{{date day tz="Europe/Paris"}}',
    { at: '2026-03-02T00:30+01:00', day: '2026-03-02' },
  ],
  ['{{date at "HH:mm"}}', { at: '2026-03-02T00:30' }],
  ['{{length list}}', { list: { a: 1 } }],
])('%s over %j is as it was meant', (template, payload) => {
  expect(warningsOf(template, payload)).toEqual([]);
});

test.each([
  [
    '{{#if paid}}a{{/if}}',
    { paid: 'false' },
    'paid got the text "false", and every text but the empty one counts as true; write {{#if (and paid (ne paid "false"))}}',
  ],
  ['{{#if paid}}a{{/if}}', { paid: 'False' }, 'write {{#if (and paid (ne paid "False"))}}'],
  [
    '{{#unless order.n}}a{{/unless}}',
    { order: { n: '0' } },
    'write {{#unless (and order.n (ne order.n "0"))}}',
  ],
  [
    '{{#each list}}{{#if on}}a{{/if}}{{/each}}',
    { list: [{ on: 'off' }, { on: 'off' }] },
    'on got the text "off"',
  ],
])('%s over %j is said', (template, payload, text) => {
  expect(warningsOf(template, payload)).toEqual([expect.stringContaining(text)]);
});

test.each([
  ['false', ''],
  [false, ''],
  ['', ''],
  [undefined, ''],
  ['true', 'a'],
  [true, 'a'],
])('what is proposed for {{#if paid}} holds for the value as for its text: %j', (paid, printed) => {
  const template = '{{#if (and paid (ne paid "false"))}}a{{/if}}';
  const { evaluation } = evaluateHook(
    { path: 'p', payload: paid === undefined ? {} : { paid } },
    settingsWith({ table: `- {match: {path: p}, messageTemplate: 'x${template}'}` }),
  );
  expect(evaluation.trace.templates[0]?.text).toBe(`x${printed}`);
});

test.each([
  ['{{#if paid}}a{{/if}}', { paid: false }],
  ['{{#if paid}}a{{/if}}', { paid: '' }],
  ['{{#if paid}}a{{/if}}', { paid: 'true' }],
  ['{{#if (eq paid "true")}}a{{/if}}', { paid: 'false' }],
])('%s over %j is as it was meant', (template, payload) => {
  expect(warningsOf(template, payload)).toEqual([]);
});
