/** What `forEach` made of one request, and the line that makes one run of it. */
import { expect, test } from 'vitest';
import { eachNote } from '../../src/explanation/each-note.ts';
import type { CompiledMapping } from '../../src/mapping/mapping.ts';
import { evaluateHook, settingsWith } from '../support/hook-fixture.ts';

const payload = {
  on: true,
  groupKey: 'g',
  form: { title: 'T' },
  rows: [
    { ref: 'name', text: 'Ada' },
    { ref: 'size', number: 7 },
  ],
};

function make(mapping: string) {
  const settings = settingsWith({ table: `- {id: rows, match: {path: rows}, ${mapping}}` });
  const { evaluation } = evaluateHook({ path: 'rows', payload }, settings);
  const { outcome } = evaluation;
  const actions = outcome.kind === 'accepted' ? outcome.actions : [];
  return { actions, note: eachNote(evaluation.mapping as CompiledMapping, outcome, payload) };
}

test.each([
  [`messageTemplate: '{{item.ref}}: {{default item.text item.number}}'`, 'name: Ada\nsize: 7'],
  [`action: wake, textTemplate: '{{item.ref}} {{#if item.text}}has a text{{/if}}'`, 'name has a text\nsize'],
])('%s: the line that is told prints all of the list at once', (template, printed) => {
  const { note = '', actions } = make(`forEach: rows, ${template}`);
  expect(actions).toHaveLength(2);
  expect(note).toContain('2 ');
  const line = /write (\w+: ".*")$/.exec(note)?.[1] ?? 'no line';
  const action = template.startsWith('action') ? 'action: wake, ' : '';
  const { actions: made, note: none } = make(`${action}${line}`);
  expect(none).toBeUndefined();
  expect(made).toHaveLength(1);
  expect(JSON.stringify(made)).toContain(JSON.stringify(printed).slice(1, -1));
});

test('what else reads the element is named; a template that reads the root is not written anew', () => {
  const { note } = make(
    `forEach: rows, messageTemplate: '{{form.title}} {{item.ref}}', sessionKey: 'hook:{{item.ref}}', dedupe: {key: '{{item.ref}}'}`,
  );
  expect(note).toContain('print the list with {{#each rows}} … {{/each}}');
  expect(note).toContain('take item out of sessionKey and dedupe.key');
});

test('a debounce key that reads the element is the reason, and a key that all of them have the remedy', () => {
  const of = (key: string) =>
    make(`forEach: rows, messageTemplate: '{{item.ref}}', debounce: {key: '${key}', seconds: 2}`).note;
  expect(of('{{item.ref}}')).toMatch(
    /^it made 2 runs .*: debounce\.key \(mappings\.yaml:1:\d+\) reads item, so each element has a key of its own\. If one run should have all of them, write key: '\{\{groupKey\}\}' in debounce: they become one run, which reads them all; without debounce remove forEach, too, and write messageTemplate: ".*"$/,
  );
  // They become one run already.
  expect(of('{{groupKey}}')).toBeUndefined();
});

test.each([`messageTemplate: x`, `forEach: form.none, messageTemplate: x`])(
  '%s: nothing to say',
  (mapping) => {
    expect(make(mapping).note).toBeUndefined();
  },
);

test('elements with the key of another one are counted as repeats, and no line for all of them is told', () => {
  const { note } = make(`forEach: rows, messageTemplate: '{{item.ref}}', dedupe: {key: '{{groupKey}}'}`);
  expect(note).toContain('of 2 elements of rows it made 1 run: one has the dedupe.key of another element');
  expect(note).not.toContain('remove forEach');
});
