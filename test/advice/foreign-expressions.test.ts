/** Expressions of JavaScript and other dialects: one finding, with the text to write; its edit leaves a template that compiles. */
import { expect, test } from 'vitest';
import { applyEdits } from '../../src/document/document.ts';
import { adviseFile } from '../support/mapping-compile.ts';
import { said } from '../support/said.ts';

const inFile = (template: string): string =>
  `id: a\nmatch: { path: a }\nmessageTemplate: |\n${template.replaceAll(/^/gm, '  ')}\n`;

test.each([
  ['{{#if a}}x{{elseif b.c}}y{{/if}}', '{{else if b.c}}'],
  ['{{#if a == "b"}}x{{else if a == "c"}}y{{/if}}', '{{#if (eq a "b")}}x{{else if (eq a "c")}}y{{/if}}'],
  ['{{JSON.stringify(data.object)}}', '{{json data.object}}'],
  ['a {{name.toUpperCase()}} {{tags.join(", ")}}', 'a {{upper name}} {{join tags ", "}}'],
  ['{{body.substring(0, 80)}}', '{{truncate body 80}}'],
  ['{{upper(title)}}', '{{upper title}}'],
  [
    '{{date start "dd.MM.yyyy HH:mm" "Europe/Berlin"}}',
    '{{date start "dd.MM.yyyy HH:mm" tz="Europe/Berlin"}}',
  ],
])('%s is written anew', (template, written) => {
  const text = inFile(template);
  const [found, ...more] = adviseFile(text);
  expect([said(found?.hint), more]).toEqual([`write ${written}`, []]);
  expect(
    adviseFile(
      applyEdits(
        text,
        [found?.edit].flatMap((edit) => edit ?? []),
      ),
    ),
  ).toEqual([]);
});

test.each([
  [
    'Paid {{divide data.amount 100}} {{uppercase data.currency}}',
    { data: { amount: 1999, currency: 'eur' } },
    'Paid 19.99 EUR',
  ],
  ['{{(total - tax).toFixed(2)}} `x`', { total: 3, tax: 1 }, '2.00 `x`'],
  ['{{price.toFixed(2)}} of {{headers.x-shop}}', { price: 1.5 }, '1.50 of s'],
])('%s calculates: the file of a transform makes the same text', async (template, payload, message) => {
  const [found, ...more] = adviseFile(inFile(template));
  expect([said(found?.message), more]).toEqual([expect.stringContaining('templates do not calculate'), []]);
  const lines = said(found?.hint).split('\n');
  const code = lines.slice(1, -1).join('\n');
  const { default: transform } = (await import(`data:text/javascript,${encodeURIComponent(code)}`)) as {
    readonly default: (input: object) => unknown;
  };
  expect(transform({ payload, headers: { 'x-shop': 's' } })).toEqual({ message });
  expect(lines.at(-1)).toMatch(/transform: a\.js in place of messageTemplate$/);
});

test.each([
  ['Paid ${data.amount} by ${customer}', 'write {{data.amount}} and {{customer}}'],
  ['Paid {data.amount} by {customer}', 'write {{data.amount}} and {{customer}}'],
  ['{{title}} {name} ${NAME}', undefined],
  ['{"a": 1} {A} { b }', undefined],
])('%s: marks of others', (template, hint) => {
  expect(adviseFile(inFile(template)).map((one) => said(one.hint))).toEqual(hint === undefined ? [] : [hint]);
});

test.each([
  ['alerts[0].status', 'alerts.0.status'],
  ["form['First Name']", 'form.First Name'],
])('the brackets of %s in a condition', (name, dotted) => {
  const when = JSON.stringify({ '===': [{ var: name }, 'x'] });
  const text = `id: a\nmatch: { path: a, when: ${when} }\nmessageTemplate: x\n`;
  const [found, ...more] = adviseFile(text);
  expect([said(found?.hint), more]).toEqual([`write ${dotted}`, []]);
  expect(
    adviseFile(
      applyEdits(
        text,
        [found?.edit].flatMap((edit) => edit ?? []),
      ),
    ),
  ).toEqual([]);
});
