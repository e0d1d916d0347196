import { spawnSync } from 'node:child_process';
import { globSync } from 'node:fs';
import { cp, mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { cli } from '../../support/cli-terminal.ts';
import { listIn } from '../../support/output-check.ts';

const TSC = join(import.meta.dirname, '../../../node_modules/typescript/bin/tsc');

let folder: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sluice-init-'));
});

afterEach(() => rm(folder, { recursive: true, force: true }));

test('what init writes checks without errors, and its golden case becomes an agent run', async () => {
  expect(await cli(['init', 'new'], { cwd: folder })).toMatchObject({ exitCode: 0 });
  const cwd = join(folder, 'new');
  const check = await cli(['check', '-c', join(cwd, 'sluice.yaml'), '--json'], { cwd });
  const findings = listIn<{ severity: string; code: string }>(check.out);
  expect(findings.filter((finding) => finding.severity === 'error')).toEqual([]);
  expect(await cli(['test', '-c', join(cwd, 'sluice.yaml')], { cwd })).toMatchObject({ exitCode: 0 });
  const expectation = await readFile(join(cwd, 'test/golden/hello/ada.expected.yaml'), 'utf8');
  expect(expectation).toContain('mapping: hello');
  expect(await readFile(join(cwd, 'test/golden/.gitattributes'), 'utf8')).toBe('* -text\n');
  expect(expectation).toContain('Ada says: Good morning');
});

const TRANSFORM = `import { defineTransform } from 'sluice';
import type { HelloPayload } from './hello.types.ts';

export default defineTransform<HelloPayload>(({ payload }) => ({ message: payload.text }));
`;

test('a transform gets the type of the payload, and a path that no sample has is an error of tsc', async () => {
  await cli(['init'], { cwd: folder });
  const types = await cli(['types', 'hello'], { cwd: folder });
  expect(await readFile(join(folder, 'transforms/hello.types.ts'), 'utf8')).toBe(types.out);
  await writeFile(join(folder, 'transforms/right.ts'), TRANSFORM);
  await writeFile(join(folder, 'transforms/wrong.ts'), TRANSFORM.replace('payload.text', 'payload.txet'));
  const args = [TSC, '-p', 'transforms'];
  const { stdout } = spawnSync(process.execPath, args, { cwd: folder, encoding: 'utf8' });
  expect(stdout).toMatch(/^transforms\/wrong\.ts\(4,83\): error TS2339: Property 'txet' does not exist.*\n$/);
});

test('a path to this installation is written nowhere, and the package of a project is named where there is one', async () => {
  await cli(['init', 'alone'], { cwd: folder });
  await mkdir(join(folder, 'own/node_modules/sluice'), { recursive: true });
  await cli(['init', 'own'], { cwd: folder });
  const texts = async (place: string): Promise<string> => {
    const files = globSync('**/*.{yaml,json}', { cwd: join(folder, place) }).toSorted();
    return (await Promise.all(files.map((file) => readFile(join(folder, place, file), 'utf8')))).join('\n');
  };
  const alone = await texts('alone');
  expect(alone).not.toMatch(/\.\.\/|schema\.json/);
  expect(alone).toContain('"./sluice.types.ts"');
  const own = await texts('own');
  expect([...own.matchAll(/\$schema=(\S+)/g)].map(([, path]) => path)).toEqual([
    '../node_modules/sluice/schemas/mapping.schema.json',
    'node_modules/sluice/schemas/sluice.schema.json',
    '../../../node_modules/sluice/schemas/request.schema.json',
  ]);
  expect(own).not.toContain('sluice.types.ts');
});

test('init ends with an answer, and with the one address', async () => {
  const { out, err } = await cli(['init'], { cwd: folder });
  expect(out).toMatch(/^202 \{"ok":true,"runId":"[\da-f-]{36}"/m);
  expect(err).toMatch(
    /one address; it is the same in "sluice dev" and in "sluice serve":\n {2}http:\/\/127\.0\.0\.1:8787\/hooks\/hello\n/,
  );
  // Nothing of the trial is in the store of the folder.
  expect(await readdir(join(folder, '.sluice'))).toEqual(['.gitignore', 'secrets']);
});

test('in a clone, which has no secrets, what doctor says to write makes them anew', async () => {
  await cli(['init', 'mine', '--sender', 'github'], { cwd: folder });
  const cwd = join(folder, 'their clone');
  const withoutState = (source: string): boolean => !source.endsWith('.sluice');
  await cp(join(folder, 'mine'), cwd, { recursive: true, filter: withoutState });
  for (const code of ['SECRET_FILE_UNREADABLE', 'VERIFY_SECRET']) {
    const said = await cli(['doctor'], { cwd });
    const [, found, command = ''] = /(\w+): [^]*\.sluice out[^]*(\(umask 077; [^)]*\))/.exec(said.out) ?? [];
    expect([found, spawnSync('sh', ['-c', command]).status]).toEqual([code, 0]);
  }
  const after = await cli(['doctor'], { cwd });
  expect([after.exitCode, after.out]).toEqual([0, expect.not.stringContaining('problem')]);
  expect((await stat(join(cwd, '.sluice/secrets/github'))).mode & 0o777).toBe(0o600);
  expect(await readFile(join(cwd, '.sluice/.gitignore'), 'utf8')).toBe('*\n');
});

/** A folder with stand-ins for all agents that can be asked for. */
async function agentsOnPath(): Promise<string> {
  const bin = join(folder, 'bin');
  await mkdir(bin);
  for (const name of AGENTS) await writeFile(join(bin, name), '#!/bin/sh\nexit 0\n', { mode: 0o755 });
  return bin;
}

const AGENTS = ['claude', 'codex', 'gemini', 'opencode'];
const NONE = 'none yet';

test('in a terminal three things are asked, each with "none yet"; an agent that is not here is not offered', async () => {
  const asked: string[] = [];
  const choose = async (env: NodeJS.ProcessEnv, name: string): Promise<void> => {
    const answers = [NONE, NONE, NONE];
    const run = await cli(['init', name], { cwd: folder, env, answers, onAsk: (text) => asked.push(text) });
    expect(run.exitCode).toBe(0);
  };
  await choose({ PATH: '' }, 'a');
  expect(asked).toHaveLength(3);
  expect(asked[0]).toMatch(/agent.* \(none yet\)$/);
  for (const question of asked) expect(question).toContain(NONE);
  await choose({ PATH: await agentsOnPath() }, 'b');
  expect(asked[3]).toContain(AGENTS.join(', '));
  asked.length = 0;
  const onAsk = (text: string): unknown => asked.push(text);
  expect(await cli(['init', 'c', '--agent', 'claude'], { cwd: folder, answers: [], onAsk })).toMatchObject({
    exitCode: 0,
  });
  expect(asked).toEqual([]);
});

test('init with a sender that is not known names those that are, and writes nothing', async () => {
  const { err, exitCode } = await cli(['init', '--sender', 'nope'], { cwd: folder });
  expect([err, exitCode]).toEqual([
    expect.stringMatching(/no sender "nope".* github .*nothing was written/),
    2,
  ]);
  expect(await readdir(folder)).toEqual([]);
});

test('init overwrites nothing', async () => {
  await cli(['init'], { cwd: folder });
  expect(await cli(['init'], { cwd: folder })).toMatchObject({ exitCode: 1 });
});

const written = (root: string): readonly string[] =>
  globSync('.*/skills/sluice/**/*.*', { cwd: root }).toSorted();
const filesAt = (place: string): readonly string[] =>
  ['SKILL.md', 'references/cases-and-transforms.md', 'references/mappings.md', 'scripts/loop.sh'].map(
    (file) => join(place, 'skills/sluice', file),
  );

test.each([
  { flags: [], places: ['.agents', '.claude'] },
  { flags: ['--agent', 'claude'], places: ['.claude'] },
  { flags: ['--agent', 'codex'], places: ['.agents'] },
  { flags: ['--agent', 'gemini'], places: ['.agents'] },
  { flags: ['--agent', 'opencode'], places: ['.agents'] },
])('init --skill $flags writes the skill into $places', async ({ flags, places }) => {
  expect(await cli(['init', '--skill', ...flags], { cwd: folder })).toMatchObject({ exitCode: 0 });
  expect(written(folder)).toEqual(places.flatMap(filesAt));
  for (const place of places) {
    const at = join(folder, place, 'skills/sluice');
    expect(await readFile(join(at, 'SKILL.md'), 'utf8')).toBe(
      await readFile(join(import.meta.dirname, '../../../skills/sluice/SKILL.md'), 'utf8'),
    );
    expect((await stat(join(at, 'scripts/loop.sh'))).mode & 0o100).toBe(0o100);
  }
});

test('init --skill beside a configuration writes nothing else, and leaves a skill as it is', async () => {
  await writeFile(join(folder, 'sluice.yaml'), 'hooks: {enabled: true}\n');
  await mkdir(join(folder, '.claude/skills/sluice'), { recursive: true });
  await writeFile(join(folder, '.claude/skills/sluice/SKILL.md'), 'mine');
  const run = await cli(['init', '--skill'], { cwd: folder });
  expect(run).toMatchObject({ exitCode: 0 });
  expect(run.err).toContain('.claude/skills/sluice exists already');
  expect(await readdir(folder)).toEqual(['.agents', '.claude', 'sluice.yaml']);
  expect(written(folder)).toEqual([...filesAt('.agents'), '.claude/skills/sluice/SKILL.md']);
  expect(await readFile(join(folder, '.claude/skills/sluice/SKILL.md'), 'utf8')).toBe('mine');
  expect(await cli(['init', '--skill'], { cwd: folder })).toMatchObject({ exitCode: 1, out: '' });
});
