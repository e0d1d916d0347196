/** Expressions of JavaScript and other dialects: one finding, with what to write; an edit leaves a file without findings. */
import { expect, test } from 'vitest';
import { applyEdits } from '../../../src/base/document/facts.ts';
import { adviseFile } from '../../support/mapping-compile.ts';
import { said } from '../../support/said.ts';

const inFile = (template: string): string =>
  `id: a\nmatch: { path: a }\nmessageTemplate: |\n${template.replaceAll(/^/gm, '  ')}\n`;

test.each([
  ['{{#if a == "b"}}x{{/if}}', 'compare with a helper: {{#if (eq a b)}}, {{#if (ne a b)}}'],
  ['{{name || "nobody"}}', 'write a helper before its value: {{upper title}}, {{default title "none"}}'],
  ['{{#if a && b}}x{{/if}}', 'join with a helper: {{#if (and a b)}}'],
  ['{{#if a > 5}}x{{/if}}', 'decide with match.when, or in a transform: templates do not compare sizes'],
  ['{{ .Title }}', 'write the name without a dot before it: {{title}}'],
  ['{{amount / 100}}', 'make the text in a transform, as templates do not calculate'],
])('%s is one finding, which says how it is written here', (template, hint) => {
  expect(adviseFile(inFile(template)).map((one) => said(one.hint))).toEqual([hint]);
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
