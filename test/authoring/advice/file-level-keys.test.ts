/** Keys of a mapping beside `mappings:` are told the mappings they go into. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { advise } from '../../../src/authoring/advice/advice.ts';
import { type Finding } from '../../../src/base/document/document.ts';
import { loadMappings } from '../../../src/engine/mapping/mapping.ts';
import { said } from '../../support/said.ts';

async function check(text: string): Promise<readonly Finding[]> {
  const mappingsDir = await mkdtemp(join(tmpdir(), 'sluice-'));
  try {
    await writeFile(join(mappingsDir, 'a.yaml'), text);
    const { findings } = await loadMappings({ inline: [], mappingsDir, presets: [], cwd: mappingsDir });
    return advise(findings);
  } finally {
    await rm(mappingsDir, { recursive: true });
  }
}

const entry = (id: string, more = ''): string =>
  `  - id: ${id}\n    match: { path: linear, source: ${id} }\n${more}    messageTemplate: '{{title}}'\n`;
const TWO = `mappings:\n${entry('one')}${entry('two')}`;

test.each([
  [`otherwise: skip\n${TWO}`, 'move it into each mapping that it is for: otherwise is a key of a mapping'],
  [`verify:\n  scheme: linear\n  secrets: ['\${A}']\n${TWO}`, 'move it into each mapping'],
  [`instructions: |\n  Sum it up.\n\n  In one line.\n${TWO}`, 'move it into each mapping'],
])('a file of %j is told where mappings go', async (text, hint) => {
  const [found, ...others] = await check(text);
  expect(others).toEqual([]);
  expect(said(found?.hint)).toContain(hint);
});

test.each([
  [
    `id: linear\n${TWO.replace('id: one', 'name: a').replace('id: two', 'name: b')}`,
    'move it into each mapping that it is for',
  ],
  [`colour: red\n${TWO}`, 'remove it; the keys here are: mappings'],
  [
    `verify: { scheme: github, secrets: ['\${A}'] }\nmappings:\n  - messageTemplate: a\n`,
    'verify is a key of a mapping',
  ],
])('a file of %j is told where its keys belong', async (text, hint) => {
  const [found] = await check(text);
  expect(said(found?.hint)).toContain(hint);
  expect(found?.edit).toBeUndefined();
});
