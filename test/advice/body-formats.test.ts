/** What is said of a body of another format than that of its path. */
import { expect, test } from 'vitest';
import { parseDocument } from '../../src/document/facts.ts';
import { compileMappings } from '../../src/mapping/compile.ts';
import { formatNote } from '../../src/advice/body-formats.ts';
import { printSentence } from '../../src/finding.ts';

function noteOf(found: 'json' | 'form', entries: readonly object[]): string | undefined {
  const text = JSON.stringify(entries);
  const { document } = parseDocument({ file: 'a.json', text }, 'json');
  const values = entries.flatMap((_, index) =>
    document === undefined ? [] : [{ value: document.root.at([index]), dialect: 'sluice' as const }],
  );
  const note = formatNote('a', found, compileMappings(values, {}).table?.mappings ?? []);
  return note && printSentence(note);
}

const entry = (id: string, more: object = {}): object => ({
  id,
  match: { path: 'a', source: id },
  messageTemplate: 'x',
  ...more,
});

test.each([
  [
    'json',
    [entry('one', { bodyFormat: 'form' })],
    /stands in one \(a\.json.*write bodyFormat: json there only/,
  ],
  [
    'json',
    [entry('one', { bodyFormat: 'form' }), entry('two')],
    /of one \(.*holds for the whole path a, and so for two .* in one write match\.path: a-one in place of a, and let/,
  ],
  [
    'json',
    [entry('one', { bodyFormat: 'form' }), entry('two', { verify: { scheme: 'github', secrets: ['${A}'] } })],
    /match\.path: a-one in place of a, with the same verify, and let/,
  ],
  ['form', [entry('one')], undefined],
  [
    'form',
    [entry('one'), entry('two')],
    /holds for all mappings of the path a: one .* and two .*match: \{path: a-form\}, with bodyFormat: form/,
  ],
  ['form', [], undefined],
] as const)('%s came to %j', (found, entries, note) => {
  if (note === undefined) expect(noteOf(found, entries)).toBeUndefined();
  else expect(noteOf(found, entries)).toMatch(note);
});
