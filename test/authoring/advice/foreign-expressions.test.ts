/** Expressions of other tools: one finding, with the one hint that names the page on them. */
import { expect, test } from 'vitest';
import { adviseFile } from '../../support/mapping-compile.ts';
import { said } from '../../support/said.ts';

const inFile = (template: string): string =>
  `id: a\nmatch: { path: a }\nmessageTemplate: |\n${template.replaceAll(/^/gm, '  ')}\n`;

test.each([
  '{{#if a == "b"}}x{{/if}}',
  '{{name || "nobody"}}',
  '{{#if a && b}}x{{/if}}',
  '{{#if a > 5}}x{{/if}}',
  '{{ .Title }}',
  '{{amount * rate}}',
  '{{title | upper}}',
  '{% if draft %}{{title}}{% endif %}',
  '{{range .Alerts}}{{.Labels}}{{end}}',
  'Paid ${data.amount} by ${customer}',
  'Paid {data.amount} by {customer}',
  '<%= title %>',
  '{{$json.title}}',
  "{{items[?field=='status'].value}}",
  '{{items[?(@.field=="status")].value}}',
  "{{ draft ? 'a' : 'b' }}",
  '{{date at "DD.MM.YYYY HH:mm"}}',
  '{{#if at}}{{upper (date at "%Y-%m-%d")}}{{/if}}',
  '{{items[*].name}}',
])('%s is one finding, which names the page', (template) => {
  expect(adviseFile(inFile(template)).map((one) => said(one.hint))).toEqual([
    expect.stringMatching(/^look in docs\/comparison\.md, /),
  ]);
});

test.each([
  '{{title}} {name} ${NAME}',
  '{"a": 1} {A} { b }',
  'It costs ${{amount}}, 5 % of {{total}}',
  '{{date at "dd.MM.yyyy"}}, a date such as "DD"',
])('%s is left alone', (template) => {
  expect(adviseFile(inFile(template))).toEqual([]);
});

test.each(['action == "opened"', '{{action}} == opened', "payload.action === 'opened' && draft"])(
  'the condition %s names the page',
  (when) => {
    const text = `id: a\nmatch: { path: a, when: ${JSON.stringify(when)} }\nmessageTemplate: x\n`;
    expect(adviseFile(text).map((one) => said(one.hint))).toEqual([
      expect.stringMatching(/^look in docs\/comparison\.md, /),
    ]);
  },
);

test('a position at the end of a path is told its brackets', () => {
  const [found] = adviseFile(inFile('{{ticket.tags.0}}'));
  expect(said(found?.hint)).toBe('write the position in brackets: .[0]');
  expect(adviseFile(inFile('{{ticket.tags.[0]}} {{tags.0.name}}'))).toEqual([]);
  const [number] = adviseFile(inFile('{{total 5}} {{5 + 1}}'));
  expect(said(number?.hint)).not.toContain('brackets: .[');
});
