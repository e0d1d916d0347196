import { mkdtemp, rm, writeFile, mkdir } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { loadGeneration } from '../../src/generation/generation.ts';
import { Sandbox } from '../../src/sandbox/sandbox.ts';

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sluice-'));
  await mkdir(join(folder, 'mappings'));
  const config =
    'hooks: {enabled: true, token: a-hook-token-0123456789}\ngateway: {runner: {kind: forward, url: "http://127.0.0.1:9/hooks", token: a-token-of-theirs-0123}}\n';
  await writeFile(join(folder, 'sluice.yaml'), config);
});
afterAll(() => rm(folder, { recursive: true }));

/** The kinds of what advice was given to look at; undefined where it was not asked. */
async function asked(mapping: string, isServing: boolean): Promise<readonly string[] | undefined> {
  await writeFile(join(folder, 'mappings/a.yaml'), mapping);
  const sandbox = new Sandbox({ workers: 1, spare: 0 });
  try {
    let kinds: readonly string[] | undefined;
    await loadGeneration(join(folder, 'sluice.yaml'), {
      env: {},
      needSecrets: false,
      isServing,
      sandbox,
      advise: (findings, subjects) => {
        kinds = subjects.map(({ kind }) => kind);
        return findings;
      },
    });
    return kinds;
  } finally {
    await sandbox.stop();
  }
}

const RIGHT = 'id: a\nmatch: {path: a}\nmessageTemplate: "{{text}}"\ndeliver: false\n';

test('a service without a finding does not ask advice; check does', async () => {
  expect(await asked(RIGHT, true)).toBeUndefined();
  expect(await asked(RIGHT, false)).toContain('mapping');
});

test('a service with a finding has all looked at', async () => {
  expect(await asked(`${RIGHT}wakeMode: never\n`, true)).toContain('mapping');
});
