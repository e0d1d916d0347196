/** What is said of a body that is no JSON. */
import { expect, test } from 'vitest';
import { printSentence } from '../../../src/base/finding.ts';
import { findJsonSlip, sayJsonSlip } from '../../../src/authoring/advice/json-bodies.ts';
import { findJsonError } from '../../../src/base/payload/json-error.ts';

/* Of a body that is no JSON: what the sender did most likely, without a word of it. */
const hintFor = (text: string, field?: string): string | undefined => {
  const found = findJsonError(text);
  const slip = found && findJsonSlip(found.facts);
  const said = slip && sayJsonSlip(slip, field);
  return said && printSentence(said);
};

test.each([
  ['', /^the body ends too early$/],
  ['{"a":1', /^the body ends too early$/],
  ['{"a":1,}', /^remove the comma before the closing bracket$/],
  ['[1,]', /^remove the comma before the closing bracket$/],
  ["{'a':1}", /^this is how a program prints/],
  ["[{'a': None,}]", /^this is how a program prints/],
  ['{"a":True}', /^this is how a program prints/],
  ['{:a=>1}', /^this is how a program prints/],
  ["{ a: 'x' }", /JSON\.stringify\(…\)/],
  ['[object Object]', /JSON\.stringify\(…\)/],
  ['{a=1, b=2}', /^this is how a program prints/],
  ['{"a":1 "b":2}', /^a comma is missing before it$/],
  ['{"a":unavailable}', /^only numbers, true, false and null stand/],
  ['{"a":2026-11-20}', /put them around the text/],
  ['{"a":1}\n{"a":2}', /these are several values one after the other.*bodyFormat: text takes them/],
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
