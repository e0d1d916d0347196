/** Expressions of JavaScript and other dialects: one finding, with the text to write; its edit leaves a template that compiles. */
import { expect, test } from 'vitest';
import { applyEdits } from '../../src/document/facts.ts';
import { adviseFile } from '../support/mapping-compile.ts';
import { said } from '../support/said.ts';

const inFile = (template: string): string =>
  `id: a\nmatch: { path: a }\nmessageTemplate: |\n${template.replaceAll(/^/gm, '  ')}\n`;

test.each([
  ['{{#if a == "b"}}x{{/if}}', '{{#if (eq a "b")}}'],
  ['{{name || "nobody"}}', '{{default name "nobody"}}'],
  ['{{name | upper}}', '{{upper name}}'],
  ['{{name | default("none") | upper}}', '{{upper (default name "none")}}'],
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
