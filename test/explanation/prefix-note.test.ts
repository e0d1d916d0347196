/** A session key that begins with none of the allowed prefixes. */
import { expect, test } from 'vitest';
import { prefixNote } from '../../src/explanation/prefix-note.ts';
import { parseDocument } from '../../src/document/facts.ts';
import { settingsWith } from '../support/hook-fixture.ts';
import { printSentence } from '../../src/finding.ts';

const KEY = { code: 'invalid_field', field: 'sessionKey' };
const STORED = { code: 'invalid_field', field: undefined };

function noteOf(more: string, error: Parameters<typeof prefixNote>[2] = KEY): string | undefined {
  const text = 'hooks: {sessionKeys: {allowedPrefixes: ["hook:"]}}';
  const { document } = parseDocument({ file: 'sluice.yaml', text }, 'yaml');
  const { table } = settingsWith({ table: `- {id: m, match: {path: p}, messageTemplate: x, ${more}}` });
  const settings = { hooks: { sessionKeys: { allowedPrefixes: ['hook:'] } } };
  const config = { root: document?.root, settings } as unknown as Parameters<typeof prefixNote>[0];
  const told = prefixNote(config, table.mappings[0], error);
  return told && printSentence(told.text);
}

test('is told the key to write and its place', () => {
  expect(noteOf('sessionKey: "{{team}}:a"')).toMatch(
    /^keys of conversations must start with hook:.* of m does not: write sessionKey: 'hook:\{\{team\}\}:a' at mappings\.yaml:1:/,
  );
});

test('is told of a stored refusal where its key begins otherwise', () => {
  expect(noteOf('sessionKey: "a:{{team}}"', STORED)).toContain("write sessionKey: 'hook:a:{{team}}'");
});

test.each([
  ['its template has the prefix', 'sessionKey: "hook:{{team}}"', KEY],
  ['it has no key of its own', 'name: x', KEY],
  ['something else was refused', 'sessionKey: "{{team}}"', { code: 'invalid_field', field: 'to' }],
  ['nobody knows which field it was, and it may fit', 'sessionKey: "{{team}}"', STORED],
])('nothing is said where %s', (_, more, error) => {
  expect(noteOf(more, error)).toBeUndefined();
});
