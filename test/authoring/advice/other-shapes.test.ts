/** Values and keys of another shape than the one that is wanted: the hint says what to write, and its edit is taken. */
import { expect, test } from 'vitest';
import { z } from 'zod';
import { advise } from '../../../src/authoring/advice/advice.ts';
import { validate } from '../../../src/base/document/document.ts';
import { applyEdits, parseDocument } from '../../../src/base/document/facts.ts';
import { said } from '../../support/said.ts';

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
  return advise(validate(document.root, schema).findings);
}

test.each([
  ['match:\n  path:a\n', 'write path: a, with a space behind the colon'],
  ['match: [{ path: a }]\n', 'write it without [ ]'],
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
  ['match:\n  - path: a\n', 'remove the dash before path: it is one object and no list'],
  ['files:\n  file: x\n', /^write "- " before the first key/],
])('%j is told what to write', (text, hint) => {
  expect(check(text).map((one) => said(one.hint))).toEqual([
    typeof hint === 'string' ? hint : expect.stringMatching(hint),
  ]);
});
