/** What a language server takes to judge an edit in a large project: 200 mappings in 20 files, with three samples each. */
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openProject } from '../../../src/authoring/workbench/workbench.ts';
import type { Part } from '../../support/parts.ts';
import { median } from './figures.ts';

const FILES = 20;
const MAPPINGS = 10;
const SAMPLES = 3;
const EDITS = 31;

export const editorPart: Part = {
  name: 'editor',
  run: async (progress) => {
    const folder = await mkdtemp(join(tmpdir(), 'sluice-bench-'));
    const project = openProject(join(folder, 'sluice.yaml'), {});
    try {
      await writeProject(folder);
      const texts = new Map<string, string>();
      const open = { texts, parsed: new Map() };
      const judge = async (isFresh: boolean): Promise<{ readonly ms: number; readonly found: number }> => {
        const startedAt = performance.now();
        let found = 0;
        for await (const { findings } of project.load(open, isFresh)) found = findings.length;
        return { ms: performance.now() - startedAt, found };
      };
      const first = await judge(true);
      const file = join(folder, 'mappings', 'p07.yaml');
      const text = await readFile(file, 'utf8');
      const edits: number[] = [];
      for (let edit = 0; edit < EDITS; edit += 1) {
        texts.set(file, edit % 2 === 0 ? text.replace('{{order.number}}', '{{order.numbr}}') : text);
        const { ms, found } = await judge(false);
        // The slip is found, and gone with the next edit; else the figure would be worthless.
        if (found !== first.found + (edit % 2 === 0 ? 1 : 0))
          throw new Error(`${found} findings after ${edit} edits`);
        edits.push(ms);
      }
      progress(`${EDITS} edits`);
      const own = median(edits);
      return [
        {
          what: `${FILES * MAPPINGS} mappings with ${SAMPLES} samples each, all judged`,
          figure: `${first.ms.toFixed(0)} ms`,
        },
        {
          what: 'an edit in one of their files',
          figure: `${own.toFixed(0)} ms`,
          ratio: { value: own / first.ms, better: 'lower' },
        },
      ];
    } finally {
      await project.close();
      await rm(folder, { recursive: true, force: true });
    }
  },
};

async function writeProject(folder: string): Promise<void> {
  for (const name of ['mappings', 'samples']) await mkdir(join(folder, name));
  await writeFile(
    join(folder, 'sluice.yaml'),
    'hooks: { enabled: true }\ngateway: { runners: { default: { kind: echo } } }\n',
  );
  for (let file = 0; file < FILES; file += 1) {
    const path = `p${String(file).padStart(2, '0')}`;
    const mappings = Array.from({ length: MAPPINGS }, (_, at) => mapping(path, at));
    await writeFile(join(folder, 'mappings', `${path}.yaml`), mappings.join(''));
    await mkdir(join(folder, 'samples', path));
    for (let at = 0; at < MAPPINGS * SAMPLES; at += 1) {
      const body = {
        kind: `k${at % MAPPINGS}`,
        order: { id: at, number: at, name: 'Ada', lines: [{ sku: 'a' }] },
      };
      await writeFile(join(folder, 'samples', path, `${at}.json`), JSON.stringify(body));
    }
  }
}

const mapping = (path: string, at: number): string => `- id: ${path}-${at}
  match: { path: ${path}, when: { '===': [{ var: kind }, k${at}] } }
  dedupe: { key: '{{kind}}-{{order.id}}' }
  messageTemplate: 'Order {{order.number}} of {{order.name}}'
`;
