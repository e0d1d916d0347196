/** `sluice demo` as a process of its own: what the README shows of it, and that nothing of it stays. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { globSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { expect, onTestFinished, test } from 'vitest';
import { builtMain } from '../../support/built-program.ts';
import { START_ENV, waitFor } from '../../support/cli-service.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

const README = new URL('../../../README.md', import.meta.url);
const BLOCK = /(?<=<!-- demo: written by its test -->\n)[^]*?(?=<!-- end of demo -->)/;
const LONG = { timeout: 400_000 };

function play() {
  const folder = temporaryFolder();
  const child = spawn(process.execPath, [builtMain(), 'demo'], { env: { ...START_ENV, TMPDIR: folder } });
  onTestFinished(() => void child.kill('SIGKILL'));
  const said = { out: '', err: '' };
  child.stdout.on('data', (chunk) => (said.out += String(chunk)));
  child.stderr.on('data', (chunk) => (said.err += String(chunk)));
  const ended = once(child, 'close').then(([code]) => code as number | null);
  return { child, said, ended, folder };
}

/** Processes of a demo, by the folder that is in their environment. */
const processesOf = (folder: string, word = ''): readonly number[] =>
  globSync('/proc/[0-9]*/environ').flatMap((file) => {
    try {
      const isOne = readFileSync(file, 'utf8').includes(`TMPDIR=${folder}`);
      const line = readFileSync(file.replace('environ', 'cmdline'), 'utf8');
      return isOne && line.includes(word) ? [Number(file.split('/')[2])] : [];
    } catch {
      // It has ended, or is another user's.
      return [];
    }
  });

/** Its files are gone as it ends; what its killed services had started is killed with them, and ends a moment later. */
async function expectNothingOf(folder: string): Promise<void> {
  expect(readdirSync(folder)).toEqual([]);
  await expect.poll(() => processesOf(folder)).toEqual([]);
}

/** Without what differs from run to run. */
const alike = (text: string): string =>
  text
    .replaceAll(/[\da-f]{8}-[\da-f-]{27}/g, 'ID')
    .replaceAll(/127\.0\.0\.1:\d+/g, 'ADDRESS')
    .replaceAll(/\d+ s\b/g, 'N s');

test('the README shows what the demo prints, and nothing of the demo stays', LONG, async () => {
  const { said, ended, folder } = play();
  expect([await ended, said.err]).toEqual([0, '']);
  await expectNothingOf(folder);
  const page = readFileSync(README, 'utf8');
  const block = `\n\`\`\`console\n${said.out}\`\`\`\n\n`;
  if (process.env['UPDATE_DEMO'] === '1')
    writeFileSync(
      README,
      page.replace(BLOCK, () => block),
    );
  else expect(alike(BLOCK.exec(page)?.[0] ?? '')).toBe(alike(block));
});

test.each([
  ['Ctrl-C ends it', 'SIGINT', 'interrupted; nothing of the demo is left', ''],
  ['a terminal that is closed at the first program ends it', 'SIGHUP', 'the terminal was closed', ''],
  ['a service that is gone ends it', 'SIGKILL', 'sluice serve failed', 'serve'],
] as const)('%s, and nothing stays', LONG, async (_, signal, why, word) => {
  const { child, said, ended, folder } = play();
  const isFirst = (): boolean => processesOf(folder, '\0add\0').length > 0;
  const isServed = (): boolean => said.out.includes('octocat');
  await waitFor(() => (signal === 'SIGHUP' ? isFirst() : isServed()) || undefined);
  const victims = word === '' ? [child.pid ?? 0] : processesOf(folder, word);
  for (const pid of victims) process.kill(pid, signal);
  expect([await ended, said.err]).toEqual([3, expect.stringContaining(why)]);
  await expectNothingOf(folder);
});
