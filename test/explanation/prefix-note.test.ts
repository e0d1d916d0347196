/** A session key that begins with none of the allowed prefixes. */
import { expect, test } from 'vitest';
import { prefixNote } from '../../src/explanation/prefix-note.ts';
import { parseDocument } from '../../src/document/document.ts';
import { settingsWith } from '../support/hook-fixture.ts';

const DETAIL = 'sessionKey must start with one of the allowed prefixes: hook:';

function noteOf(more: string, detail = DETAIL): string | undefined {
  const text = 'hooks: {sessionKeys: {allowedPrefixes: ["hook:"]}}';
  const { document } = parseDocument({ file: 'sluice.yaml', text }, 'yaml');
  const { table } = settingsWith({ table: `- {id: m, match: {path: p}, messageTemplate: x, ${more}}` });
  const settings = { hooks: { sessionKeys: { allowedPrefixes: ['hook:'] } } };
  const config = { root: document?.root, settings } as unknown as Parameters<typeof prefixNote>[0];
  return prefixNote(config, table.mappings[0], detail)?.text;
}

test('is told the key to write and its place', () => {
  expect(noteOf('sessionKey: "{{team}}:a"')).toMatch(
    /^keys of conversations must start with hook:.* of m does not: write sessionKey: 'hook:\{\{team\}\}:a' at mappings\.yaml:1:/,
  );
});

test.each([
  ['its template has the prefix', 'sessionKey: "hook:{{team}}"', DETAIL],
  ['it has no key of its own', 'name: x', DETAIL],
  ['something else was refused', 'sessionKey: "{{team}}"', 'to must be a text'],
])('nothing is said where %s', (_, more, detail) => {
  expect(noteOf(more, detail)).toBeUndefined();
});
