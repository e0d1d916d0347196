import { describe, expect, test } from 'vitest';
import { buildProgram } from '../../../src/engine/sandbox/host/worker-program.ts';

describe('the program of a worker', () => {
  test('is made of worker, isolate and the libraries they use, and of nothing else', async () => {
    const { files, text } = await buildProgram();
    const allowed =
      /^src\/engine\/sandbox\/(?:isolate|worker)\/|^src\/engine\/sandbox\/(?:frames|names)\.ts$|^node_modules\/(?:@noble\/hashes|whatwg-url-minimum)\//;
    expect(files.filter((file) => !allowed.test(file))).toEqual([]);
    expect(files).toContain('src/engine/sandbox/isolate/buffer.ts');
    const imports = [...text.matchAll(/^import .* from "(.*)";$/gm)].map((match) => match[1]);
    expect(new Set(imports)).toEqual(new Set(['node:fs', 'sluice:isolated-vm']));
  });
});
