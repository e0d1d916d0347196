/** The examples and the script of the skill, run as an agent runs them: in a project with git, with the real program. */
import { execFile, execFileSync } from 'node:child_process';
import { copyFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { builtMain } from '../support/built-program.ts';
import { type Bench, openBench, START_ENV } from '../support/cli-service.ts';
import { codeBlocks, readPage } from '../support/docs.ts';
import { startProgramHere } from '../support/program-here.ts';

const CONFIG = `
hooks: {enabled: true, token: a-hook-token-0123456789}
channels: {slack: {botToken: "\${SLACK_TOKEN}"}}
`;

/** The block of a page in that language. */
const blockOf = (page: string, language: string): string =>
  codeBlocks(readPage(`skills/sluice/${page}`)).find((block) => block.language === language)?.text ?? '';

const git = (cwd: string, ...args: string[]): string =>
  execFileSync('git', ['-c', 'user.name=a', '-c', 'user.email=a@example.org', '-C', cwd, ...args], {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'ignore'],
  });

/** A project with the examples of the skill in it, committed. */
async function openProject(): Promise<Bench> {
  const bench = openBench({
    'sluice.yaml': CONFIG,
    'mappings/github.yaml': blockOf('references/mappings.md', 'yaml'),
    'test/golden/github/issue.request.yaml': blockOf('references/cases-and-transforms.md', 'yaml'),
    'transforms/total.ts': blockOf('references/cases-and-transforms.md', 'ts'),
  });
  mkdirSync(join(bench.folder, 'test/golden/github/payloads'));
  copyFileSync(
    join(import.meta.dirname, '../golden/github/payloads/issue-opened.json'),
    join(bench.folder, 'test/golden/github/payloads/issue.json'),
  );
  const skill = await bench.run(['init', '--skill']);
  expect(skill.out).toContain('.agents/skills/sluice/scripts/loop.sh');
  return bench;
}

/** Runs the script as the skill says. */
async function loop(
  { folder }: Bench,
  sluice: string,
  ...args: string[]
): Promise<{ readonly code: number; readonly out: string }> {
  const script = join(folder, '.agents/skills/sluice/scripts/loop.sh');
  const options = { cwd: folder, env: { ...START_ENV, SLUICE: sluice }, timeout: 60_000 };
  return new Promise((done) => {
    execFile(script, args, options, (error, out, err) =>
      done({ code: Number(error?.code ?? 0), out: out + err }),
    );
  });
}

test('the examples become a run, the script ends with 0, and with 1 for each thing it looks for', async () => {
  const bench = await openProject();
  const explained = await bench.run(['explain', 'test/golden/github/issue.request.yaml', '--json']);
  expect(explained.exitCode).toBe(0);
  const { evaluations } = JSON.parse(explained.out) as {
    evaluations: readonly { outcome: string; mapping?: { id: string } }[];
  };
  expect(JSON.stringify(evaluations)).toContain('issue-opened');
  expect(await bench.run(['test'])).toMatchObject({ exitCode: 0 });
  const file = join(bench.folder, 'mappings/github.yaml');
  const before = readFileSync(file, 'utf8');
  git(bench.folder, 'init', '--initial-branch=main');
  git(bench.folder, 'add', '.');
  git(bench.folder, 'commit', '-m', 'base');
  expect(await loop(bench, `${process.execPath} ${builtMain()}`)).toMatchObject({ code: 0 });
  const here = await startProgramHere();

  // A recorded request that comes out otherwise.
  writeFileSync(file, before.replace('truncate issue.body 2000', 'truncate issue.body 20'));
  expect((await bench.run(['test', '--update'])).exitCode).toBe(0);
  expect(await loop(bench, here, 'main')).toMatchObject({
    code: 1,
    out: expect.stringContaining('1 of 1 recorded') as string,
  });
  // A case that does not hold.
  git(bench.folder, 'commit', '-am', 'with the new expectation');
  writeFileSync(file, before);
  expect(await loop(bench, here)).toMatchObject({
    code: 1,
    out: expect.stringContaining('1 failed') as string,
  });
  // A file with an error.
  writeFileSync(file, before.replace('messageTemplate', 'messageTemplat'));
  expect(await loop(bench, here)).toMatchObject({
    code: 1,
    out: expect.stringContaining('UNKNOWN_KEY') as string,
  });
});

test('the transform of the skill runs as the skill says', async () => {
  const bench = await openProject();
  bench.put('test/golden/shop/order.request.yaml', 'path: shop\nbody: {items: [{price: 70}, {price: 40}]}\n');
  bench.put('test/golden/shop/small.request.yaml', 'path: shop\nbody: {items: []}\n');
  const run = async (name: string): Promise<unknown> => {
    const args = [
      'transform',
      'run',
      'transforms/total.ts',
      '--request',
      `test/golden/shop/${name}.request.yaml`,
    ];
    const { out } = await bench.run([...args, '--json']);
    return (JSON.parse(out) as { reply: { result?: unknown; value?: unknown } }).reply;
  };
  expect(JSON.stringify(await run('order'))).toContain('Order of 110');
  expect(JSON.stringify(await run('small'))).toContain('null');
  bench.put('mappings/shop.yaml', 'id: shop\nmatch: {path: shop}\ntransform: total.ts\n');
  const { out } = await bench.run(['check', '--json']);
  const { findings } = JSON.parse(out) as { findings: readonly { code: string }[] };
  expect(findings.map(({ code }) => code)).toEqual(['ECHO_RUNNER']);
});

test('a sender that is known, and a payload of one that is not, become mappings and cases', async () => {
  const bench = openBench({ 'sluice.yaml': CONFIG, 'sample.json': '{"id": "e1", "title": "It is down"}' });
  expect(await bench.run(['add', 'stripe'])).toMatchObject({ exitCode: 0 });
  expect(await bench.run(['add', 'pager', '--from', 'sample.json'])).toMatchObject({ exitCode: 0 });
  expect(await bench.run(['check'])).toMatchObject({ exitCode: 0 });
  const { out, exitCode } = await bench.run(['test', '--reporter', 'json']);
  expect([exitCode, out]).toEqual([0, expect.stringContaining('pager/') as string]);
});
