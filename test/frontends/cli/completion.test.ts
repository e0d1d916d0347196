/** Completion, asked by the shells themselves, where they are installed; and the colours of a terminal. */
import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { hasColors } from '../../../src/base/telemetry/facts.ts';
import { cli } from '../../support/cli-terminal.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

async function scriptOf(shell: string): Promise<string> {
  const folder = temporaryFolder();
  const { out, exitCode } = await cli(['completion', shell], { cwd: folder });
  expect(exitCode).toBe(0);
  const file = join(folder, 'script');
  writeFileSync(file, out);
  return file;
}

/** Command lines up to the TAB, and words that come, or do not. */
const CASES: readonly { readonly line: string; readonly has: readonly string[]; readonly not: string }[] = [
  { line: 'sluice ', has: ['serve', 'queue', 'audit', '--help'], not: 'front' },
  { line: 'sluice queue ', has: ['list', 'retry', 'pause'], not: 'serve' },
  { line: 'sluice queue retry --d', has: ['--dry-run'], not: '--all' },
  { line: 'sluice serve --port 1 --role ', has: ['front', 'worker', 'all'], not: '--host' },
  { line: 'sluice webhooks mail ', has: ['setup', 'status'], not: 'serve' },
];

test.for(CASES)('bash completes "$line"', async ({ line, has, not }) => {
  const words = line.split(' ').map((word) => `'${word}'`);
  const ask = `source '${await scriptOf('bash')}'; COMP_WORDS=(${words.join(' ')}); COMP_CWORD=${words.length - 1}; _sluice; printf '%s\\n' "\${COMPREPLY[@]}"`;
  const { stdout, stderr } = spawnSync('bash', ['--norc', '-c', ask], { encoding: 'utf8', timeout: 60_000 });
  expect(stderr).toBe('');
  expect(stdout.split('\n')).toEqual(expect.arrayContaining([...has]));
  expect(stdout.split('\n')).not.toContain(not);
});

test.for(CASES)('fish completes "$line"', async ({ line, has, not }, { skip }) => {
  const ask = `source '${await scriptOf('fish')}'; complete -C '${line}'`;
  const { error, stdout } = spawnSync('fish', ['--no-config', '-c', ask], {
    encoding: 'utf8',
    timeout: 60_000,
  });
  if (error !== undefined) skip('fish is not installed');
  const words = stdout.split('\n').map((each) => each.split('\t')[0]);
  expect(words).toEqual(expect.arrayContaining([...has]));
  expect(words).not.toContain(not);
});

test('zsh takes its script', async ({ skip }) => {
  const { error, status } = spawnSync('zsh', ['-n', await scriptOf('zsh')], { timeout: 60_000 });
  if (error !== undefined) skip('zsh is not installed');
  expect(status).toBe(0);
});

test('another shell is refused, and the known ones are named', async () => {
  const { err, exitCode } = await cli(['completion', 'tcsh'], { cwd: tmpdir() });
  expect([exitCode, err]).toEqual([2, expect.stringContaining('bash, zsh or fish')]);
});

test.for([
  [{}, true, true],
  [{}, false, false],
  [{ NO_COLOR: '1' }, true, false],
  [{ NO_COLOR: '' }, true, true],
  [{ TERM: 'dumb' }, true, false],
  [{ FORCE_COLOR: '1' }, false, true],
  [{ FORCE_COLOR: '' }, false, true],
  [{ FORCE_COLOR: '0' }, true, false],
  [{ FORCE_COLOR: '1', NO_COLOR: '1', TERM: 'dumb' }, false, true],
] as const)('with %o, and a terminal: %s, colours: %s', ([env, isTerminal, expected]) => {
  expect(hasColors(env, isTerminal)).toBe(expected);
});
