/** Templates that print something else than was meant, though nothing in them is empty. */
import { expect, test } from 'vitest';
import { templateNotes } from '../../src/advice/requests/template-notes.ts';
import { createHookRequest } from '../../src/hook/hook.ts';
import type { JsonObject } from '../../src/json.ts';
import { evaluateHook, receivedAt, settingsWith } from '../support/hook-fixture.ts';

function textsOf(template: string, payload: JsonObject, keys = ''): readonly string[] {
  const settings = settingsWith({
    table: `- {match: {path: a}${keys}, messageTemplate: ${JSON.stringify(`x ${template}`)}}`,
  });
  const request = createHookRequest({ path: 'a', payload, receivedAt });
  return templateNotes(evaluateHook({ path: 'a', payload }, settings).evaluation, request).map(
    ({ text }) => text,
  );
}

test.each<[string, JsonObject, string]>([
  [
    '{{#if (eq a.b "0")}}x{{/if}}',
    { a: { b: 0 } },
    '(eq a.b "0") never holds here: a.b is the number 0. Write (eq a.b 0)',
  ],
  [
    "{{#if (ne 'true' payload.ok)}}x{{/if}}",
    { ok: true },
    "(ne 'true' payload.ok) always holds here: payload.ok is the boolean true. Write (ne true payload.ok)",
  ],
  ['{{#if (eq n 5)}}x{{/if}}', { n: '5' }, '(eq n 5) never holds here: n is the text "5". Write (eq n "5")'],
  [
    '{{#if (eq p "HIGH")}}x{{/if}}',
    { p: 'High' },
    '(eq p "HIGH") never holds here: p is the text "High". Write (eq (lower p) "high")',
  ],
  [
    '{{#each l}}{{#if (eq s "UP")}}x{{/if}}{{/each}}',
    { l: [{ s: 'x' }, { s: 'up' }] },
    'Write (eq (lower s) "up")',
  ],
  [
    '{{#if (eq priority "P1")}}x{{/if}}',
    { incident: { priority: 'P1' } },
    '(eq priority "P1") never holds here: priority was not sent, and incident.priority is "P1". Write (eq incident.priority "P1")',
  ],
  [
    '{{l.0.name}} {{l.[0].at}}',
    { l: [{ name: 1, at: 2 }, {}] },
    'l is a list of 2, and the template reads only its first element: where all are meant, for one run per element write forEach: l and {{item.name}}; for one run of all, {{#each l}}{{name}} {{at}} {{/each}}',
  ],
  [
    '{{o.amount_due}}',
    { o: { amount_due: 4999, currency: 'eur' } },
    'o.amount_due is 4999, and many senders count eur in cents (Stripe does): a template cannot divide; for 49.99 write the file transforms/mapping-1.js (the folder is hooks.transformsDir) so:\n  export default ({ payload }) => {\n    return { message: `x ${(payload.o.amount_due / 100).toFixed(2)}` };',
  ],
  [
    '{{o.total}}',
    { o: { total: 2999, currency: 'USD', total_formatted: '$29.99' } },
    'the sender writes it in total_formatted, too: write {{o.total_formatted}}',
  ],
  [
    '{{o.due_date}}',
    { o: { due_date: 1764000000 } },
    'a time in seconds: for a date write {{date o.due_date "',
  ],
  [
    '{{createdAt}}',
    { createdAt: 1764000000123 },
    'a time in milliseconds: for a date write {{date createdAt "',
  ],
  [
    '{{m.body}}',
    { m: { body: '<p>Hi &amp; you</p>' } },
    "return { message: `x ${String(payload.m.body ?? '').replace(/<[^>]*>/g",
  ],
  [
    '{{upper m.to}} {{date m.at "HH:mm"}} {{m.body}}',
    { m: { body: '<p>Hi</p>', to: 'a', at: 1764000000 } },
    "for text without tags write a transform with String(payload.m.body ?? '').replace(/<[^>]*>/g",
  ],
  [
    '{{a.value}} {{total}}',
    { a: { value: 1 }, currency_code: 'EUR', total: '4990' },
    'return { message: `x ${payload.a.value} ${(payload.total / 100).toFixed(2)}` };',
  ],
  [
    '{{price.value}}',
    { price: { value: 4990, currency: 'EUR' } },
    '${(payload.price.value / 100).toFixed(2)}',
  ],
  [
    '{{#each l}}{{n}}{{/each}}',
    { l: [{ n: 'a' }, { n: 'b' }] },
    'nothing stands between the 2 elements of l, so they run into each other: write {{join l ", " "n"}}',
  ],
  [
    '{{#each l}}{{n}}:{{s}}{{/each}}',
    { l: [{ n: 'a' }, { n: 'b' }] },
    'write {{#each l}}{{n}}:{{s}}; {{/each}}',
  ],
  ['{{#if n}}{{n}} open{{else}}unknown{{/if}}', { n: 0 }, 'write {{#if n includeZero=true}}'],
  [
    '{{truncate m.body 20}}',
    { m: { body: 'word '.repeat(30) } },
    'truncate counts characters. For about 20 words write {{truncate m.body 140}}',
  ],
  [
    '{{m.body}}',
    { m: { body: '<p>Hi</p>', body_text: 'Hi' } },
    'the sender writes it in body_text as plain text, too: write {{m.body_text}}',
  ],
  ['{{date a.l[0].at "HH:mm"}}', { a: { l: [{ at: 1 }, {}] } }, 'a.l is a list of 2'],
])('%s', (template, payload, expected) => {
  expect(textsOf(template, payload)).toEqual([expect.stringContaining(expected)]);
});

test.each<[string, JsonObject]>([
  ['{{#if (eq a "b")}}x{{/if}}{{#if (eq n 0)}}x{{/if}}', { a: 'c', n: 1 }],
  ['{{#if (eq a "b")}}x{{/if}}', { a: null }],
  ['{{#if (eq a "b")}}x{{/if}}', { c: { a: 'd' } }],
  ['{{l.0.name}}', { l: [{ name: 'a' }] }],
  ['{{l.0.name}} and {{length l}} in all', { l: [{ name: 'a' }, {}] }],
  ['{{l.0.name}}{{#each l}} {{name}}{{/each}}', { l: [{ name: 'a' }, {}] }],
  ['{{amount}}', { amount: 4999, currency: 'JPY' }],
  ['{{amount}} cents', { amount: 4999, currency: 'EUR' }],
  ['{{amount}} {{total}}', { amount: '49.99', total: 50.5, currency: 'EUR' }],
  ['{{l.0.name}} {{l.1.name}}', { l: [{ name: 'a' }, { name: 'b' }] }],
  ['{{id}} {{number}} {{count_at}}', { id: 1764000000, number: 1764000000, count_at: 7 }],
  ['{{date at "HH:mm"}} {{body}}', { at: 1764000000, body: 'see <br> and a < b && c' }],
])('%s is right', (template, payload) => {
  expect(textsOf(template, payload)).toEqual([]);
});

test('the first element in each run of forEach is told item', () => {
  const payload = { l: [{ name: 'a' }, { name: 'b' }] };
  expect(textsOf('{{l.[0].name}}', payload, ', forEach: l')).toEqual([
    'l.0 is the first element in each of the 2 runs: the element of forEach is item, so write {{item.name}}',
  ]);
});
