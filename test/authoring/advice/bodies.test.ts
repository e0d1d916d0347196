/** What is said of a body of another format than that of its path, and of one that is no JSON. */
import { expect, test } from 'vitest';
import { parseDocument } from '../../../src/base/document/facts.ts';
import { compileMappings } from '../../../src/engine/mapping/compile.ts';
import { formatNote } from '../../../src/authoring/advice/body-formats.ts';
import { printSentence } from '../../../src/base/finding.ts';
import { findJsonSlip, sayJsonSlip } from '../../../src/authoring/advice/json-bodies.ts';
import { findJsonError } from '../../../src/base/payload/json-error.ts';

function noteOf(found: 'json' | 'form', entries: readonly object[]): string | undefined {
  const text = JSON.stringify(entries);
  const { document } = parseDocument({ file: 'a.json', text }, 'json');
  const values = entries.flatMap((_, index) =>
    document === undefined ? [] : [{ value: document.root.at([index]), behaviours: {} }],
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
    /stands in one \(a\.json.*write bodyFormat: json there only .*otherwise these need a mapping with a path of their own/,
  ],
  [
    'json',
    [entry('one', { bodyFormat: 'form' }), entry('two')],
    /of one \(.*holds for the whole path a, and so for two .* write match\.path: a-one in one, in place of a, and let/,
  ],
  [
    'json',
    [entry('one', { bodyFormat: 'form' }), entry('two', { verify: { scheme: 'github', secrets: ['${A}'] } })],
    /match\.path: a-one in one, in place of a, with the same verify, and let/,
  ],
  ['form', [entry('one')], undefined],
  ['form', [entry('one'), entry('two')], undefined],
  ['form', [], undefined],
] as const)('%s came to %j', (found, entries, note) => {
  if (note === undefined) expect(noteOf(found, entries)).toBeUndefined();
  else expect(noteOf(found, entries)).toMatch(note);
});

/* Of a body that is no JSON: what the sender did most likely, without a word of it. */
const hintFor = (text: string, field?: string): string | undefined => {
  const found = findJsonError(text);
  const slip = found && findJsonSlip(found.facts);
  return slip && printSentence(sayJsonSlip(slip, field));
};

test.each([
  ['', /^the body ends too early$/],
  ['{"a":1', /^the body ends too early$/],
  ['{"a":1,}', /^remove the comma before the closing bracket$/],
  ['[1,]', /^remove the comma before the closing bracket$/],
  ["{'a':1}", /^single quotes are how/],
  ["{'a': 'my secret', 'b': True}", /^this is how Python/],
  ["[{'a': None,}]", /\(in Home Assistant \{\{ … \| to_json \}\}\), json\.dumps\(…\)/],
  ['{"a":True}', /^this is how Python/],
  ['{"a"=>1}', /^this is how Ruby prints a hash/],
  ['{:a=>1}', /hash\.to_json/],
  ["{ a: 'x' }", /send JSON\.stringify\(…\)/],
  ['[object Object]', /send JSON\.stringify\(…\)/],
  ['{a=1, b=2}', /JsonOutput\.toJson\(map\)/],
  ['{"a":1 "b":2}', /^a comma is missing before it$/],
  ['{"a":unavailable}', /^only numbers, true, false and null stand/],
  ['{"a":2026-11-20}', /put them around the text/],
  ['{"a":$VALUE}', /a variable of the sender was not filled in/],
  ['{"a":,"b":1}', /the sender filled in nothing/],
  ['{"a":1, // x\n"b":2}', /JSON has no comments/],
  ['{"a":1}\n{"a":2}', /these are several values one after the other.*bodyFormat: text takes them/],
  ['{"a":NaN}', /JSON has no NaN .*send null/],
  ['{"a":[1,-Infinity]}', /JSON has no NaN .*send null/],
  ['{"a":NaNa}', /put them around the text/],
  ["'{a:", /cmd of Windows/],
  ['{"a":{{ states }}}', /^a template of the sender was not filled in$/],
  ['{a:1}', /-d '\{"key": "value"\}'/],
  ['{"a":"x\ny"}', /^in JSON it is written \\n; .* jq -n --arg NAME/],
  ['"a\\x"', /^a backslash of a text is written/],
])('says what is wrong with the body %j', (text, hint) => {
  expect(hintFor(text)).toMatch(hint);
});

test.each(['a=1', '[1 2]', '[1}', '{"a" 1}', '01', '{} x'])('a body %j could be anything', (text) => {
  expect(hintFor(text)).toBeUndefined();
});

test('the field whose text it is stands in the line to paste, where it may be told', () => {
  expect(hintFor('{"log":"x\ny"}', 'log')).toContain(`jq -n --arg log "$VALUE" '{log: $log}'`);
});
