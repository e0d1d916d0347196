/** The table of `npm run prove` in the README is the script's own, and no claim in it has failed. */
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';

test('the README shows the last proof, with every claim held', () => {
  const readme = readFileSync('README.md', 'utf8');
  const script = readFileSync('test/prove/prove.ts', 'utf8');
  const [, section = ''] =
    /<!-- proof: written by `npm run prove -- --write` -->\n([^]*?)<!-- end of proof -->/.exec(readme) ?? [];
  const rows = [...section.matchAll(/^\| (.+?) +\| .+ \| (\S+) +\|$/gm)].slice(2);
  expect(rows.map(([, claim]) => claim)).toEqual(
    [...script.matchAll(/^ {4}claim: '(.+)',$/gm)]
      .map(([, claim]) => claim)
      .toSorted((a = '', b = '') => section.indexOf(a) - section.indexOf(b)),
  );
  expect(new Set(rows.map(([, , result]) => result))).toEqual(new Set(['held']));
  expect(section).toMatch(/^\d{4}-\d\d-\d\d, Node 24\.[\d.]+, \d+ cores, \d+ s in all:$/m);
});
