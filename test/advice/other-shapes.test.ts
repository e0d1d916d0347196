/** Values and keys of another shape than the one that is wanted: the hint says what to write, and its edit is taken. */
import { expect, test } from 'vitest';
import { z } from 'zod';
import { advise } from '../../src/advice/advice.ts';
import { validate } from '../../src/document/document.ts';
import { applyEdits, parseDocument } from '../../src/document/facts.ts';
import { said } from '../support/said.ts';

const match = z.strictObject({ path: z.string().optional(), when: z.unknown().optional() });
const schema = z.strictObject({
  id: z.string().optional(),
  text: z.string().optional(),
  match: match.optional(),
  headers: z.record(z.string(), z.string()).optional(),
  files: z.array(z.union([z.string(), z.strictObject({ file: z.string() })])).optional(),
  far: z.strictObject({ deep: z.strictObject({ key: z.string() }).optional() }).optional(),
});

function check(text: string) {
  const { document } = parseDocument({ file: 'a.yaml', text }, 'yaml');
  if (document === undefined) throw new Error(text);
  return advise(validate(document.root, schema).diagnostics);
}

test.each([
  ['match:\n  path:a\n', 'a space is missing behind the colon: write path: a'],
  ['match: [{ path: a }]\n', 'write it without [ ]'],
  ['headers: [{ name: X-A, value: b }, { X-C: d }]\n', 'write headers: {X-A: "b", X-C: "d"}'],
  ['headers: [A=b, "C: d"]\n', 'write headers: {A: "b", C: "d"}'],
  ['headers: a=b&c=d\n', 'write headers: {a: "b", c: "d"}'],
  ['headers: { A: true }\n', 'put it in quotes'],
  ['files: { file: x }\n', 'put it in [ ]'],
  ['text: {name}\n', "put it in quotes: text: '{name}'"],
])('%j is mended', (text, hint) => {
  const found = check(text);
  expect(found.map((one) => said(one.hint))).toEqual([hint]);
  const fixed = applyEdits(
    text,
    found.flatMap(({ edit }) => (edit === undefined ? [] : [edit])),
  );
  expect([fixed, check(fixed)]).toEqual([fixed, []]);
});

test.each([
  ['match:\n  - path: a\n', 'it is one object and no list: remove the dash before path'],
  ['files:\n  file: x\n', /^a list begins with a dash/],
  [
    'text: [one of two, and the other]\n',
    'it is one text of several lines: write\ntext: |\n  one of two\n  and the other',
  ],
  ['text: [a, b]\n', 'it is one text: write text: a, or another one of them'],
])('%j is told what to write', (text, hint) => {
  expect(check(text).map((one) => said(one.hint))).toEqual([
    typeof hint === 'string' ? hint : expect.stringMatching(hint),
  ]);
});
