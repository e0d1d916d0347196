import { globSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { readPage, sectionOf } from '../support/docs.ts';

/** Names of environment variables that the source reads by a literal name, wherever the environment comes from. */
function variablesRead(): readonly string[] {
  const names = globSync('src/**/*.ts').flatMap((file) =>
    [...readFileSync(file, 'utf8').matchAll(/\benv(?:\?\.)?(?:\[['"]|\.)([A-Z][A-Z_]+)\b/g)].map(
      ([, name = '']) => name,
    ),
  );
  return [...new Set(names)].toSorted();
}

test('every environment variable that the source reads is documented, and no other', () => {
  const section = sectionOf(readPage('docs/command-line.md'), '## Environment variables');
  const documented = [...section.matchAll(/^\| `([A-Z_]+)` /gm)].map(([, name = '']) => name);
  expect(variablesRead()).toContain('SLUICE_DEBUG');
  expect(documented.toSorted()).toEqual(variablesRead());
});
