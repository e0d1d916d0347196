/** Block helpers of other tools within each other: one finding, with a template that compiles, and its edit. */
import { expect, test } from 'vitest';
import { applyEdits, parseDocument, type Diagnostic } from '../../src/document/document.ts';
import { compileMappings } from '../../src/mapping/mapping.ts';

function check(text: string): readonly Diagnostic[] {
  const { document, diagnostics } = parseDocument({ file: 'a.yaml', text }, 'yaml');
  if (document === undefined) return diagnostics;
  return compileMappings([{ value: document.root, dialect: 'sluice' }], {}).diagnostics;
}

const inFile = (template: string): string =>
  `id: a\nmatch: { path: a }\nmessageTemplate: |\n${template.replaceAll(/^/gm, '  ')}\n`;

test.each([
  [
    "{{#switch action}}\n{{#case 'opened'}}New{{/case}}\n{{#case 'closed' 'merged'}}Done{{/case}}\n{{#default}}{{action}}{{/default}}\n{{/switch}}",
    "{{#if (eq action 'opened')}}\nNew\n{{~else if (or (eq action 'closed') (eq action 'merged'))}}Done\n{{~else}}{{action}}\n{{/if}}",
  ],
  [
    '{{#forEach items}}{{#ifEquals state "new"}}{{name}}{{else}}-{{/ifEquals}}{{/forEach}}',
    '{{#each items}}{{#if (eq state "new")}}{{name}}{{else}}-{{/if}}{{/each}}',
  ],
  [
    '{{#for item in items}}{{#exists item.url}}{{item.url}}{{/exists}}{{/for}}',
    '{{#each items as |item|}}{{#if item.url}}{{item.url}}{{/if}}{{/each}}',
  ],
  [
    '{{#ifCond a "==" b}}x{{else ifCond a "!=" c}}y{{/ifCond}}',
    '{{#if (eq a b)}}x{{else if (ne a c)}}y{{/if}}',
  ],
  ['{{#eq a 1}}x{{/eq}} {{#eq a 2}}y{{/eq}}', '{{#if (eq a 1)}}x{{/if}} {{#if (eq a 2)}}y{{/if}}'],
])('%s is written anew as a whole', (template, written) => {
  const text = inFile(template);
  const [found, ...more] = check(text);
  expect([found?.code, found?.hint, more]).toEqual([
    'TEMPLATE_UNKNOWN_HELPER',
    written.includes('\n') ? `write\n${written}` : `write ${written}`,
    [],
  ]);
  expect(found?.edit).toBeDefined();
  const fixed = applyEdits(text, found?.edit === undefined ? [] : [found.edit]);
  expect([fixed, check(fixed)]).toEqual([inFile(written), []]);
});

test('a block that has no counterpart is a finding of its own', () => {
  const found = check(inFile('{{#ifCond a "==" b}}{{#gt n 3}}x{{/gt}}{{/ifCond}}'));
  expect(found.map(({ hint }) => hint)).toEqual([
    'write {{#if (eq a b)}} … {{/if}}',
    expect.stringContaining('compare in a condition'),
  ]);
});
