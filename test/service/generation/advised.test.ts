import { mkdtemp, rm, writeFile, mkdir } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { advise } from '../../../src/authoring/advice/advice.ts';
import { createLogger } from '../../../src/base/telemetry/telemetry.ts';
import { loadGeneration, openLiveGeneration } from '../../../src/service/generation/generation.ts';
import { said } from '../../support/said.ts';
import { Sandbox } from '../../../src/engine/sandbox/sandbox.ts';

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

test('transforms that no generation has are let go of', async () => {
  const log = createLogger({ destination: { write: () => true } });
  const released: number[] = [];
  let loaded = 0;
  const loadTransforms = async () => {
    const mine = (loaded += 1);
    const none = { findings: [], hashes: new Map(), code: new Map(), files: [] };
    return { ...none, release: () => void released.push(mine) };
  };
  const fake = { loadTransforms } as unknown as Sandbox;
  await writeFile(join(folder, 'mappings/a.yaml'), RIGHT);
  const live = await openLiveGeneration({ configFile: join(folder, 'sluice.yaml'), env: {}, log }, fake);
  expect(await live.reload()).toMatchObject({ kind: 'unchanged' });
  await writeFile(join(folder, 'mappings/a.yaml'), `${RIGHT}unknown: key\n`);
  expect(await live.reload()).toMatchObject({ kind: 'rejected' });
  expect([loaded, released]).toEqual([3, [2, 3]]);
});

test.each([
  [
    'brackets in a path',
    '[',
    (text: string) => `[{"id": "a", "match": {"path": "${text}"}, "messageTemplate": "x"}]`,
  ],
  [
    'parentheses in a path',
    '(',
    (text: string) => `[{"id": "a", "match": {"path": "${text}"}, "messageTemplate": "x"}]`,
  ],
  [
    'pipes in a path',
    '(|',
    (text: string) => `[{"id": "a", "match": {"path": "${text}"}, "messageTemplate": "x"}]`,
  ],
  [
    'slashes in a path',
    '/',
    (text: string) => `[{"id": "a", "match": {"path": "a${text}b"}, "messageTemplate": "x"}]`,
  ],
  [
    'question marks in a text',
    '?',
    (text: string) => `[{"id": "a", "match": {"path": "a"}, "model": "${text}", "messageTemplate": "x"}]`,
  ],
  [
    'brackets in a template',
    '[',
    (text: string) => `[{"id": "a", "match": {"path": "a"}, "messageTemplate": "{{${text}}}"}]`,
  ],
  [
    'blanks in forEach',
    ' ',
    (text: string) => `[{"id": "a", "match": {"path": "a"}, "forEach": "a${text}b", "messageTemplate": "x"}]`,
  ],
])(
  '%s: what takes twice as long to write takes about twice as long to check',
  async (_what, unit, fileOf) => {
    const sandbox = new Sandbox({ workers: 1, spare: 0 });
    const cpuMs = async (length: number): Promise<number> => {
      await writeFile(join(folder, 'mappings/a.yaml'), fileOf(unit.repeat(length / unit.length)));
      const before = process.cpuUsage();
      await loadGeneration(join(folder, 'sluice.yaml'), { env: {}, needSecrets: false, sandbox, advise });
      const { user, system } = process.cpuUsage(before);
      return (user + system) / 1000;
    };
    await cpuMs(1_000);
    const short = await cpuMs(20_000);
    // Eight times the length: linear work is eight times as much, quadratic work 64 times.
    expect(await cpuMs(160_000)).toBeLessThan(30 * (short + 5));
    await sandbox.stop();
  },
);

test('lists of included files that include lists come to an end', async () => {
  const root = await mkdtemp(join(tmpdir(), 'sluice-'));
  const list = (level: number): string =>
    `{"$include": [${Array.from({ length: 10 }, () => `"./${level}.json5"`).join(', ')}]}`;
  for (let level = 1; level <= 9; level += 1)
    await writeFile(join(root, `${level}.json5`), level === 9 ? '{}' : list(level + 1));
  await writeFile(join(root, 'openclaw.json'), list(1));
  const sandbox = new Sandbox({ workers: 1, spare: 0 });
  const loaded = await loadGeneration(join(root, 'openclaw.json'), {
    env: { HOME: root },
    needSecrets: false,
    sandbox,
  });
  expect(loaded.findings.map(({ message }) => said(message)).join()).toContain('more than 256 files in all');
  await sandbox.stop();
  await rm(root, { recursive: true });
});
