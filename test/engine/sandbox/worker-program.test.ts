import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import {
  buildProgram,
  workerProgram,
  type Program,
} from '../../../src/engine/sandbox/host/worker-program.ts';

const dir = mkdtempSync(path.join(tmpdir(), 'sluice-program-'));
afterAll(() => rmSync(dir, { recursive: true }));

describe('the program of a worker', () => {
  test('is made of worker, isolate and the hashes they use, and of nothing else', async () => {
    const { inputs, text } = await buildProgram();
    const allowed =
      /^src\/engine\/sandbox\/(?:isolate|worker)\/|^src\/engine\/sandbox\/(?:frames|names)\.ts$|^node_modules\/@noble\/hashes\//;
    expect(Object.keys(inputs).filter((file) => !allowed.test(file))).toEqual([]);
    expect(Object.keys(inputs)).toContain('src/engine/sandbox/isolate/url.ts');
    const imports = [...text.matchAll(/^import .* from "(.*)";$/gm)].map((match) => match[1]);
    expect(new Set(imports)).toEqual(new Set(['node:fs', 'sluice:isolated-vm']));
  });

  test('is taken from the cache while all its files are the same, and made anew when one differs', async () => {
    const file = path.join(dir, 'program.json');
    const built = await workerProgram(file);
    const kept = JSON.parse(readFileSync(file, 'utf8')) as Program;
    writeFileSync(file, JSON.stringify({ ...kept, text: 'kept' }));
    expect(await workerProgram(file)).toBe('kept');
    const inputs = { ...kept.inputs, 'src/engine/sandbox/isolate/url.ts': 'another' };
    writeFileSync(file, JSON.stringify({ ...kept, text: 'kept', inputs }));
    expect(await workerProgram(file)).toBe(built);
    expect(JSON.parse(readFileSync(file, 'utf8'))).toEqual(kept);
  });

  test('is made anew where the cache is damaged, and where none can be written', async () => {
    const file = path.join(dir, 'damaged.json');
    writeFileSync(file, '{"inputs":');
    const built = await workerProgram(path.join(file, 'no-folder', 'program.json'));
    expect(await workerProgram(file)).toBe(built);
  });
});
