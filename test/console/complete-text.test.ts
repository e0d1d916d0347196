import { CompletionContext } from '@codemirror/autocomplete';
import { EditorState } from '@codemirror/state';
import { expect, test } from 'vitest';
import { complete } from '../../src/console/page/complete-text.ts';
import { listHelpers, mappingJsonSchema } from '../../src/mapping/facts.ts';

const vocabulary = { helpers: listHelpers(), mapping: mappingJsonSchema() };

/** What is offered where `|` stands, and the text it takes the place of. */
function offered(text: string): {
  readonly labels: readonly string[];
  readonly typed: string;
  apply: unknown[];
} {
  const pos = text.indexOf('|');
  const doc = text.replace('|', '');
  const context = new CompletionContext(EditorState.create({ doc }), pos, true);
  const known = { vocabulary: () => vocabulary, payload: () => undefined, headers: () => ({}) };
  const result = complete(context, { ...known, fileName: 'github.yaml' });
  const options = result?.options ?? [];
  return {
    labels: options.map(({ label }) => label),
    typed: doc.slice(result?.from ?? pos, pos),
    apply: options.map((option) => option.apply),
  };
}

const OPERATORS = ['===', 'in', 'and', 'var'];

test('operators are offered after each brace of a condition, and alone on a line of one', () => {
  for (const text of [
    '- when: {|',
    '- when: { "|',
    '  when: {"===|',
    "- when: { and: [{ '|",
    '- when:\n    and:\n      - {i|',
    '- when:\n    a|',
  ]) {
    expect(offered(text).labels, text).toEqual(expect.arrayContaining(OPERATORS));
  }
  expect(offered('  when: {"===|').typed).toBe('===');
});

test('an operator that is no word comes with quotes, unless they are there', () => {
  const { labels, apply } = offered('- when: { |');
  expect(apply[labels.indexOf('===')]).toBe("'==='");
  expect(apply[labels.indexOf('and')]).toBe('and');
  expect(offered('- when: { "|').apply).toContain('===');
});

test('elsewhere there are keys and their values', () => {
  expect(offered('- acti|').labels).toContain('action');
  expect(offered('- action: |').labels).toEqual(expect.arrayContaining(['wake', 'agent']));
  expect(offered('- match: { pa|').labels).not.toContain('===');
});
